"""Metrics of tokens of other identity providers, which each process counts."""

from prometheus_client import Counter, Gauge

VALIDATIONS = Counter(
    "meadowlark_oidc_validations", "Tokens of an issuer that were validated; cached ones are not.", ["issuer"]
)
REFUSALS = Counter(
    "meadowlark_oidc_refusals", "Tokens of other identity providers that were refused.", ["issuer", "reason"]
)
# Of several processes the latest: each fetches keys of its own, and files of ended processes stay.
KEYS_FETCHED = Gauge(
    "meadowlark_oidc_keys_fetched_seconds",
    "When the keys of an issuer were fetched last, in seconds since 1970.",
    ["issuer"],
    multiprocess_mode="max",
)
