"""Metrics of rules that each process counts."""

from prometheus_client import Counter, Histogram

SECONDS = Histogram(
    "meadowlark_write_rule_seconds",
    "How long rules of writes took, for each document.",
    ["rule"],
    buckets=(0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1),
)
FINDINGS = Counter("meadowlark_write_rule_findings", "What rules of writes found.", ["rule", "severity"])
FAILURES = Counter(
    "meadowlark_write_rule_failures",
    "Documents that a rule could not check: it raised an error, or exceeded its look-ups or its time.",
    ["rule", "reason"],
)
