"""The management API: vendors, applications, clients, claim sets, profiles and data stores over HTTP.

See meadowlark/docs/operate/management-api.md.
"""
