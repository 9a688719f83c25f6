"""The ledger of refused writes: what a client sent that was not accepted, why, and whether it was accepted later.

Requests only append to a queue in memory (`recorder`); a thread in the background works out entries (`entries`,
`occurrences`), writes them (`ledger`) and finds those that later writes have resolved (`later_writes`).
"""
