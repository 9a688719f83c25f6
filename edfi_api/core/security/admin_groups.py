"""The groups of admin users that `migrate` makes once.

- `operator` runs the server: clients, claim sets, data stores, and what consumes changes. Sees no document, only the
  names of the organizations that clients have.
- `steward` looks after the data: documents, refusals with their natural keys, results of validation.
- `auditor` sees who may do what, and changes nothing. Sees no document.

None of them manages users, which would allow them to become superusers.

Migrations call these functions, rather than a receiver of `post_migrate`: a group that was changed, renamed or deleted
stays so. What a version adds, groups get that still have all that the version before gave them, and nothing else.
"""

from collections.abc import Iterator, Mapping

from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission
from django.db.models import Q

_VIEW = ("view",)
_DELETE = ("view", "delete")
_CHANGE = ("view", "change")
_ALL = ("view", "add", "change", "delete")

# Actions by model, as `app label.model`.
Permissions = Mapping[str, tuple[str, ...]]
GROUPS: dict[str, Permissions] = {
    "operator": {
        "change_queries.changeconsumer": _DELETE,
        "change_stream.deadletter": _DELETE,
        "data_stores.datastore": _ALL,
        "data_stores.datastorecontext": _ALL,
        "data_stores.datastorederivative": _ALL,
        "data_stores.tenant": _ALL,
        "descriptors.descriptor": _VIEW,
        "exchange.connection": _ALL,
        "oauth2_provider.accesstoken": _DELETE,
        "profiles.profile": _ALL,
        "questions.questionprofile": _ALL,
        # Readers of questions are switched off, never deleted.
        "questions.questionreader": ("view", "add", "change"),
        "refusals.causefollowup": ("add",),
        "refusals.refusal": _VIEW,
        # Clients are disabled, never deleted.
        "security.apiclient": ("view", "add", "change"),
        "security.apiclientdatastore": _ALL,
        "security.application": _ALL,
        "security.claimset": _ALL,
        "security.defaultstrategies": _ALL,
        "security.grant": _ALL,
        "security.overridingstrategies": _ALL,
        "security.resourceclaim": _ALL,
        "security.vendor": _ALL,
        "sql_views.sqlreader": _ALL,
        "validation.validationrule": _VIEW,
        "validation.validationrun": _VIEW,
    },
    "steward": {
        "change_queries.changeconsumer": _VIEW,
        "change_queries.deleteddocument": _VIEW,
        "change_stream.deadletter": _DELETE,
        "descriptors.descriptor": _VIEW,
        # Adding and changing are what restoring a document requires; the admin has no form of documents.
        "edfi_api.document": _ALL,
        "profiles.profile": _VIEW,
        "questions.question": _VIEW,
        "refusals.causefollowup": ("add",),
        "refusals.refusal": ("view", "view_keys"),
        "security.apiclient": _VIEW,
        "security.application": _VIEW,
        "security.vendor": _VIEW,
        "tables.tableload": ("import",),
        "validation.rulefollowup": ("add",),
        "validation.validationdismissal": ("view", "add"),
        "validation.validationresult": _VIEW,
        "validation.validationrule": _CHANGE,
        "validation.validationrun": _VIEW,
    },
    "auditor": {
        "auth.group": _VIEW,
        "auth.user": _VIEW,
        "change_queries.changeconsumer": _VIEW,
        "change_stream.deadletter": _VIEW,
        "data_stores.datastore": _VIEW,
        "data_stores.datastorecontext": _VIEW,
        "data_stores.datastorederivative": _VIEW,
        "data_stores.tenant": _VIEW,
        "descriptors.descriptor": _VIEW,
        "exchange.connection": _VIEW,
        "oauth2_provider.accesstoken": _VIEW,
        "profiles.profile": _VIEW,
        "questions.questionprofile": _VIEW,
        "questions.questionreader": _VIEW,
        "refusals.refusal": _VIEW,
        "security.apiclient": _VIEW,
        "security.apiclientdatastore": _VIEW,
        "security.application": _VIEW,
        "security.claimset": _VIEW,
        "security.defaultstrategies": _VIEW,
        "security.grant": _VIEW,
        "security.overridingstrategies": _VIEW,
        "security.resourceclaim": _VIEW,
        "security.vendor": _VIEW,
        "sign_in.adminidentity": _VIEW,
        "sql_views.sqlreader": _VIEW,
        "validation.validationrule": _VIEW,
        "validation.validationrun": _VIEW,
    },
}
# The models of which groups of 1.0.0 have no permissions.
_ADDED_IN_1_1 = {
    "operator": ("questions.questionprofile", "questions.questionreader", "refusals.causefollowup"),
    "steward": (
        "questions.question",
        "refusals.causefollowup",
        "tables.tableload",
        "validation.rulefollowup",
    ),
    "auditor": ("questions.questionprofile", "questions.questionreader"),
}
# Permissions whose names are not those of an action and a model.
_OTHER_CODENAMES = {("refusals", "view_keys"): "view_refusal_keys", ("tables", "import"): "import_table"}


def make_groups(using: str) -> None:
    """Make the groups that the database does not have; one of the same name stays as it is.

    Django makes permissions after the last migration, so those that are needed are made here.
    """
    missing = GROUPS.keys() - set(Group.objects.using(using).values_list("name", flat=True))
    for name in sorted(missing):
        _give(Group.objects.using(using).create(name=name), GROUPS[name], using)


def complete_groups(using: str) -> None:
    """Give the groups of 1.0.0 that no one has changed what 1.1 adds."""
    for group in Group.objects.using(using).filter(name__in=GROUPS):
        added = _ADDED_IN_1_1[group.name]
        before = {model: actions for model, actions in GROUPS[group.name].items() if model not in added}
        held = group.permissions.values_list("content_type__app_label", "codename")
        if set(held) == set(_codenames(before)):
            _give(group, GROUPS[group.name], using)


def _give(group: Group, permissions: Permissions, using: str) -> None:
    for label in {model.partition(".")[0] for model in permissions}:
        create_permissions(apps.get_app_config(label), verbosity=0, interactive=False, using=using)
    group.permissions.set(Permission.objects.using(using).filter(_any_of(_codenames(permissions))))


def _codenames(permissions: Permissions) -> Iterator[tuple[str, str]]:
    """App label and codename of each permission."""
    for model, actions in permissions.items():
        label, name = model.split(".")
        for action in actions:
            yield label, _OTHER_CODENAMES.get((label, action), f"{action}_{name}")


def _any_of(codenames: Iterator[tuple[str, str]]) -> Q:
    found = Q()
    for label, codename in codenames:
        found |= Q(content_type__app_label=label, codename=codename)
    return found
