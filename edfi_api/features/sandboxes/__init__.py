"""Sandboxes for vendors: a data store of its own with a client, made, reset and dropped as one.

`creating` does that, with the copied and filled `databases`. `request_files` runs the example requests of
`meadowlark/docs/use/requests/` against one.
"""
