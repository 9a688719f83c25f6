"""The layers of the packages, and the order of packages within a layer."""

from tests.architecture.source import is_within

# Layers, top first, with their modules. An import goes down, or stays in its layer.
LAYERS: dict[str, tuple[str, ...]] = {
    "Serving and operation": (
        "meadowlark",
        "descriptors",
        "edfi_api.admin",
        "edfi_api.apps",
        "edfi_api.management",
        "edfi_api.operation",
        # Where Django looks for the admin of an app, its commands, URLs and system checks.
        "edfi_api.analysis.sql_views.admin",
        "edfi_api.analysis.sql_views.management",
        "edfi_api.changes.change_queries.admin",
        "edfi_api.changes.change_queries.admin_filters",
        "edfi_api.changes.change_queries.admin_key_search",
        "edfi_api.changes.change_queries.management",
        "edfi_api.changes.change_stream.admin",
        "edfi_api.changes.change_stream.management",
        "edfi_api.data_stores.admin",
        "edfi_api.data_stores.management",
        "edfi_api.management_api.apps",
        "edfi_api.management_api.management",
        "edfi_api.profiles.admin",
        "edfi_api.profiles.apps",
        "edfi_api.profiles.checks",
        "edfi_api.profiles.management",
        "edfi_api.refusals.admin",
        "edfi_api.refusals.admin_filters",
        "edfi_api.refusals.admin_pages",
        "edfi_api.refusals.management",
        "edfi_api.security.admin",
        "edfi_api.security.apps",
        "edfi_api.security.checks",
        "edfi_api.security.management",
        "edfi_api.security.oauth.urls",
        "edfi_api.validation.admin",
        "edfi_api.validation.admin_overview",
        "edfi_api.validation.management",
    ),
    "HTTP API": ("edfi_api.api", "edfi_api.management_api"),
    "Validation": ("edfi_api.validation",),
    "SQL views": ("edfi_api.analysis",),
    "Loading and export": ("edfi_api.loading",),
    "Ledger of refusals": ("edfi_api.refusals",),
    "Changes": ("edfi_api.changes",),
    "Errors": ("edfi_api.problem_details",),
    "Authentication and authorization": ("edfi_api.security", "edfi_api.profiles"),
    "Queries": ("edfi_api.listing", "edfi_api.queries"),
    "Served surface": ("edfi_api.compilation", "edfi_api.compiling", "edfi_api.startup"),
    "Data stores": ("edfi_api.data_stores",),
    "Storage": ("edfi_api.storage", "edfi_api.models", "edfi_api.migrations"),
    "Documents": ("edfi_api.documents",),
    "Identities and references": ("references",),
    "Model and surface": ("edfi_api.model",),
    "Foundations": (
        "edfi_api.addresses",
        "edfi_api.version",
        "edfi_api.conf",
        "edfi_api.logs",
        "edfi_api.memory",
        "edfi_api.request_body",
        "edfi_api.setting",
        "edfi_api.settings_table",
    ),
}

# Packages of one layer that have an order, top first: an import goes down, or stays in its package.
ORDERED_PACKAGES: tuple[tuple[str, ...], ...] = (
    ("edfi_api.api.batch", "edfi_api.api.viewsets"),
    ("edfi_api.api.change_queries", "edfi_api.api.viewsets"),
    ("edfi_api.api.history", "edfi_api.api.viewsets"),
    ("edfi_api.api.relations", "edfi_api.api.viewsets"),
    ("edfi_api.api.submissions", "edfi_api.api.viewsets"),
    ("edfi_api.api.metadata", "edfi_api.api.viewsets"),
    ("edfi_api.management_api", "edfi_api.api"),
    ("edfi_api.loading.json_lines", "edfi_api.loading.interchange", "edfi_api.loading.bulk"),
    ("edfi_api.loading.interchange", "edfi_api.loading.mapping"),
    ("edfi_api.changes.change_stream", "edfi_api.changes.change_queries"),
    ("edfi_api.listing", "edfi_api.queries"),
    ("edfi_api.profiles", "edfi_api.security"),
    ("edfi_api.storage.store", "edfi_api.storage.driver"),
    ("edfi_api.model.examples", "edfi_api.model.surface"),
    ("edfi_api.model.profiles", "edfi_api.model.surface"),
    ("edfi_api.model.xsd", "edfi_api.model.surface", "edfi_api.model.metaed"),
    ("edfi_api.model.apischema", "edfi_api.model.surface"),
    ("edfi_api.logs.audit", "edfi_api.logs.log_lines"),
)


def layer_of(module: str) -> int | None:
    """The number of the layer, from the top: that of the longest name in LAYERS that contains the module."""
    found = [
        (len(name), number) for number, names in enumerate(LAYERS.values()) for name in names if is_within(module, name)
    ]
    return max(found)[1] if found else None


def position_in(packages: tuple[str, ...], module: str) -> int | None:
    """The position of the package that contains the module, if any; none for an app's commands and admin, which are in
    a layer above the app."""
    found = [
        (len(name), position)
        for position, name in enumerate(packages)
        if is_within(module, name) and layer_of(module) == layer_of(name)
    ]
    return max(found)[1] if found else None
