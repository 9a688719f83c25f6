"""The storeys of the house, and the order of packages within a storey."""

from tests.whole.architecture.source import is_within

# Storeys from the bottom. An import goes to a storey before its own, or stays in it.
STOREYS: dict[str, tuple[str, ...]] = {
    "common": ("edfi_api.common", "edfi_api.version"),
    "references": ("references",),
    "model": ("edfi_api.model",),
    "core": ("edfi_api.core",),
    "web": ("edfi_api.web",),
    "features": ("edfi_api.features", "descriptors"),
    "site": ("edfi_api.site",),
    "meadowlark": ("meadowlark",),
}

# A capability imports no other one, but those of these pairs.
FEATURES_IMPORT = {
    "descriptors": {"loading"},
    "exchange": {"changes", "loading", "refusals"},
    "management_api": {"exchange"},
    "ods_import": {"loading", "sql_views"},
    "questions": {"sql_views"},
    "runs": {"refusals"},
    "sandboxes": {"loading"},
    "sql_views": {"changes"},
    "tables": {"loading"},
    "today": {"refusals", "validation"},
    "validation": {"changes"},
}

# Packages of one storey that have an order, bottom first: an import goes to one before its own, or stays in it.
ORDERED_PACKAGES: tuple[tuple[str, ...], ...] = (
    ("edfi_api.common.logs.printable", "edfi_api.common.logs.audit"),
    ("edfi_api.model.metaed", "edfi_api.model.surface", "edfi_api.model.xsd"),
    ("edfi_api.model.surface", "edfi_api.model.apischema"),
    ("edfi_api.model.surface", "edfi_api.model.profiles"),
    ("edfi_api.model.surface", "edfi_api.model.examples"),
    (
        "edfi_api.core.documents",
        "edfi_api.core.storage.driver",
        "edfi_api.core.storage",
        "edfi_api.core.data_stores",
        "edfi_api.core.queries",
        "edfi_api.core.security",
        "edfi_api.core.security.profiles",
        "edfi_api.core.writes.rules",
        "edfi_api.core.writes",
        "edfi_api.core.management",
    ),
    ("edfi_api.core.storage", "edfi_api.core.served"),
    ("edfi_api.core.queries", "edfi_api.core.queries.listing", "edfi_api.core.queries.csv_text"),
    (
        "edfi_api.core.security",
        "edfi_api.core.security.strategies",
        "edfi_api.core.security.claims",
        "edfi_api.core.security.federation",
        "edfi_api.core.security.requests",
        "edfi_api.core.security.oauth",
    ),
    ("edfi_api.web.problem_details", "edfi_api.web.viewsets", "edfi_api.web.batch"),
    ("edfi_api.web.viewsets", "edfi_api.web.relations"),
    ("edfi_api.web.viewsets", "edfi_api.web.metadata"),
    (
        "edfi_api.features.loading.mapping",
        "edfi_api.features.loading.reports",
        "edfi_api.features.loading.interchange",
        "edfi_api.features.loading.provisioning",
    ),
    (
        "edfi_api.features.loading.bulk",
        "edfi_api.features.loading.reports",
        "edfi_api.features.loading.cells",
        "edfi_api.features.loading.json_lines",
        "edfi_api.features.loading.provisioning",
    ),
    ("edfi_api.features.changes.change_queries", "edfi_api.features.changes.change_stream"),
    ("edfi_api.site.admin_site", "edfi_api.site.model_admins"),
)


def storey_of(module: str) -> int | None:
    """The number of the storey, from the bottom, that contains the module."""
    found = (number for number, names in enumerate(STOREYS.values()) for name in names if is_within(module, name))
    return next(found, None)


def feature_of(module: str) -> str | None:
    """The capability that a module belongs to, if it is one of `edfi_api.features` or `descriptors`."""
    parts = module.split(".")
    if parts[0] == "descriptors":
        return "descriptors"
    return parts[2] if parts[:2] == ["edfi_api", "features"] and len(parts) > 2 else None


def position_in(packages: tuple[str, ...], module: str) -> int | None:
    """The position of the package that contains the module, if any: the longest name counts. Commands, checks and apps
    of a package may import what lies behind it."""
    if {"management", "checks", "apps"} & set(module.split(".")):
        return None
    found = [(len(name), position) for position, name in enumerate(packages) if is_within(module, name)]
    return max(found)[1] if found else None
