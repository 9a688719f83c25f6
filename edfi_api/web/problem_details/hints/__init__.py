"""Hints: what was sent, and what to do. The catalog names the function of a text that has hints.

They are for people, in a member of their own in a problem: at most ten, each cut to about a thousand characters. A hint
names only what the client has sent, what everyone may know (the names of resources, query fields and members), and
descriptors and keys of documents that the client may read. It names no member of a resource that the client sees
through a profile. See meadowlark/docs/reference/contract.md#hints.
"""
