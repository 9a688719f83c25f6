"""Tables, in CSV or XLSX → documents, written by an API client. See meadowlark/docs/operate/tables.md.

`reading` makes rows of a file, `template` says which column is which member, `mapping` makes documents of rows, and
`loading` writes them as the client would. `jobs` are the loads that users of the admin start.
"""
