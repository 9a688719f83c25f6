"""Events in the order of their versions, to consumers, each at least once.

A *log* (`log.py`) has events: `documents.py` that of documents, and a capability above this package its own, which the
setting CHANGE_LOGS names, as validation does for its results. A *consumer* reads a log, and its position in it is
stored. What it does with the events is a *delivery* (`delivery.py`): a sink gets them in batches, a
handler is called for each, and what it refuses too often is a dead letter. All deliveries of a process wait together
for more.

Another consumer needs a subclass of `Delivery`, which gets batches of events after its position, and a command that
hands it to `deliver_once` or `deliver_for_ever`; `stream_changes` is an example. Another log needs a class with the
members of `Log`, in CHANGE_LOGS, whose events take their versions by `next_change_version()`.
"""
