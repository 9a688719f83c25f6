"""Push: the changes of documents, in the order of their commits, as requests to another Ed-Fi API.

`following.py` is a consumer of the change stream, which gets the changes in batches; `outbound_changes.py` makes of a
batch what has to be sent, `sender.py` sends it in an order that the remote API can accept, several requests at a time,
by `target.py`. What it has accepted and refused is in a row for each document (`sent_documents.py`), so that a process
that is killed repeats something, and loses nothing; refusals are in the ledger, too (`sent_refusals.py`), and are
tried again when what they lacked has been accepted. `readable.py` limits everything to what the client of the
connection may read, and `following.py` begins with all of it.
"""
