"""The layers of the packages, and the order of packages within a layer."""

from tests.architecture.source import is_within

# Layers, top first, with their modules. An import goes down, or stays in its layer.
LAYERS: dict[str, tuple[str, ...]] = {
    "Serving and operation": ("meadowlark", "descriptors", "edfi_api.site"),
    "HTTP API": ("edfi_api.api", "edfi_api.features.management_api"),
    "Validation": ("edfi_api.features.validation",),
    "Exchange": ("edfi_api.features.exchange",),
    "Import from an ODS": ("edfi_api.features.ods_import",),
    "SQL views": ("edfi_api.features.sql_views",),
    "Loading and export": ("edfi_api.features.loading",),
    "Ledger of refusals": ("edfi_api.features.refusals",),
    "Changes": ("edfi_api.features.changes",),
    "Errors": ("edfi_api.web.problem_details", "edfi_api.web.problem_details.hints"),
    "Writes": ("edfi_api.core.writes.writing", "edfi_api.core.writes.rules"),
    "Authentication and authorization": ("edfi_api.core.security", "edfi_api.core.security.profiles"),
    "Queries": ("edfi_api.core.queries.listing", "edfi_api.core.queries"),
    "Served surface": ("edfi_api.core.compilation", "edfi_api.core.model_compiler", "edfi_api.core.startup"),
    "Data stores": ("edfi_api.core.data_stores",),
    "Storage": ("edfi_api.core.storage", "edfi_api.core.models", "edfi_api.core.migrations"),
    "Documents": ("edfi_api.core.documents",),
    "Identities and references": ("references",),
    "Model and surface": ("edfi_api.model",),
    "Foundations": (
        "edfi_api.common.addresses",
        "edfi_api.version",
        "edfi_api.common.conf",
        "edfi_api.common.logs",
        "edfi_api.common.marked",
        "edfi_api.common.memory",
        "edfi_api.common.ods_compatibility",
        "edfi_api.common.request_body",
        "edfi_api.common.settings_table",
        "edfi_api.common.wrong_bytes",
    ),
}

# Parts of a capability that are in another layer than its package, by the name of the module or package: where Django
# looks for the admin, the commands, the configuration and the system checks of an app, and what it offers over HTTP.
PARTS = {
    "admin": "Serving and operation",
    "apps": "Serving and operation",
    "checks": "Serving and operation",
    "management": "Serving and operation",
    "http": "HTTP API",
}

# Packages of one layer that have an order, top first: an import goes down, or stays in its package.
ORDERED_PACKAGES: tuple[tuple[str, ...], ...] = (
    ("edfi_api.web.batch", "edfi_api.web.viewsets"),
    ("edfi_api.features.changes.history", "edfi_api.web.viewsets"),
    ("edfi_api.web.relations", "edfi_api.web.viewsets"),
    ("edfi_api.web.metadata", "edfi_api.web.viewsets"),
    ("edfi_api.features.refusals.http", "edfi_api.web.viewsets"),
    ("edfi_api.features.validation.http", "edfi_api.features.changes.change_queries.http", "edfi_api.web.viewsets"),
    (
        "edfi_api.features.management_api.http",
        "edfi_api.features.management_api.v2",
        "edfi_api.features.management_api.v3",
        "edfi_api.api",
    ),
    ("edfi_api.features.management_api", "edfi_api.api"),
    (
        "edfi_api.features.loading.provisioning",
        "edfi_api.features.loading.json_lines",
        "edfi_api.features.loading.reports",
        "edfi_api.features.loading.bulk",
    ),
    (
        "edfi_api.features.loading.provisioning",
        "edfi_api.features.loading.interchange",
        "edfi_api.features.loading.reports",
    ),
    ("edfi_api.features.loading.interchange", "edfi_api.features.loading.reports", "edfi_api.features.loading.mapping"),
    ("edfi_api.features.changes.change_stream", "edfi_api.features.changes.change_queries"),
    ("edfi_api.core.queries.listing", "edfi_api.core.queries"),
    ("edfi_api.core.security.profiles", "edfi_api.core.security"),
    (
        "edfi_api.core.security.oauth",
        "edfi_api.core.security.requests",
        "edfi_api.core.security.federation",
        "edfi_api.core.security.claims",
        "edfi_api.core.security.policies",
        "edfi_api.core.security",
    ),
    ("edfi_api.core.storage", "edfi_api.core.storage.driver"),
    ("edfi_api.model.examples", "edfi_api.model.surface"),
    ("edfi_api.model.profiles", "edfi_api.model.surface"),
    ("edfi_api.model.xsd", "edfi_api.model.surface", "edfi_api.model.metaed"),
    ("edfi_api.model.apischema", "edfi_api.model.surface"),
    ("edfi_api.common.logs.audit", "edfi_api.common.logs.log_lines"),
)


def layer_of(module: str) -> int | None:
    """The number of the layer, from the top: that of the part in PARTS, or of the longest name in LAYERS, that contains
    the module."""
    part = next((part for part in module.split(".") if part in PARTS), None)
    if part is not None:
        return list(LAYERS).index(PARTS[part])
    found = [
        (len(name), number) for number, names in enumerate(LAYERS.values()) for name in names if is_within(module, name)
    ]
    return max(found)[1] if found else None


def position_in(packages: tuple[str, ...], module: str) -> int | None:
    """The position of the package that contains the module, if any; none for a part that is in another layer."""
    found = [
        (len(name), position)
        for position, name in enumerate(packages)
        if is_within(module, name) and layer_of(module) == layer_of(name)
    ]
    return max(found)[1] if found else None
