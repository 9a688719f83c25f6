"""Pulling: what has changed at another API is written here as by an API client, window by window of its versions.

`reading` reads the remote API, `client_writer` writes batches with the rights of the client, `key_changes` and
`pulled_changes` take over changes of keys and deletes, by keys that `tracked_keys` reads, `outcomes` keeps what is
refused, and `pulling` puts them together.
"""
