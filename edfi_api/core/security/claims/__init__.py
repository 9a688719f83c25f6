"""Claims: resource claims with default strategies, and claim sets that grant actions on them.

They have one form (`model`; its names are those of `security/claim_names.py`), with a translator for each outer one:
the database (`stored_claims`), files (`file`), one claim set as Ed-Fi's Configuration Service exports it (`exchange`),
and all claims as it has them uploaded (`upload`). `compile` turns them into what authorizes requests.
"""
