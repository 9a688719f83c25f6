"""Exchange with other Ed-Fi APIs: a connection pulls documents from one, or pushes documents to one.

`models` has the connections and where they are, `remote_api` is the remote API as a client sees it,
`resource_selection` says what of a connection passes and in which words.
"""
