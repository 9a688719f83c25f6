"""The pages of the admin by what people do there, and what the front page offers first.

Those who may see documents begin with data and its quality, all others with access and operation.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.urls import reverse

# Group → its pages in their order, by the labels of the models. Other pages are in the last group.
_GROUPS: dict[str, Sequence[str]] = {
    "Data": ("edfi_api.document", "descriptors.descriptor", "change_queries.deleteddocument"),
    "Quality": (
        "refusals.refusal",
        "validation.validationresult",
        "validation.validationrule",
        "validation.validationrun",
    ),
    "Access": (
        "security.vendor",
        "security.application",
        "security.apiclient",
        "security.claimset",
        "security.resourceclaim",
        "profiles.profile",
        "security.grant",
        "oauth2_provider.accesstoken",
        "auth.user",
        "auth.group",
        "sign_in.adminidentity",
    ),
    "Exchange": (
        "tables.tableload",
        "exchange.connection",
        "change_queries.changeconsumer",
        "change_stream.deadletter",
        "sql_views.sqlreader",
        "questions.questionreader",
        "questions.questionprofile",
        "questions.question",
    ),
    "Operation": ("data_stores.datastore", "data_stores.tenant"),
}
_LAST = "Operation"
_OF_STEWARDS = ("Data", "Quality", "Access", "Exchange", "Operation")
_OF_OPERATORS = ("Access", "Operation", "Exchange", "Quality", "Data")
_SEES_DATA = "edfi_api.view_document"


@dataclass(frozen=True, slots=True)
class Task:
    """Something that a user of these permissions does; `text` says what it is good for."""

    name: str
    text: str
    page: str
    permissions: tuple[str, ...]

    @property
    def address(self) -> str:
        return reverse(self.page)


_TASKS = (
    Task(
        "Refusals",
        "What clients sent and the server did not take, and why.",
        "admin:refusals_refusal_changelist",
        ("refusals.view_refusal", _SEES_DATA),
    ),
    Task(
        "Validation results",
        "What the rules found in documents that are stored.",
        "admin:validation_overview",
        ("validation.view_validationresult",),
    ),
    Task(
        "Deleted documents",
        "What was deleted, by whom, and how to bring it back.",
        "admin:change_queries_deleteddocument_changelist",
        ("change_queries.view_deleteddocument", _SEES_DATA),
    ),
    Task(
        "Give a vendor access",
        "Vendor, application and organizations on one page; then key and secret.",
        "admin:security_onboarding",
        ("security.add_vendor", "security.add_application", "security.add_apiclient"),
    ),
    Task(
        "API clients",
        "Who has a key, what it may do, and when it was used.",
        "admin:security_apiclient_changelist",
        ("security.view_apiclient",),
    ),
    Task(
        "Activity of clients",
        "What each client has sent, and when it was accepted last.",
        "admin:refusals_activity",
        ("refusals.view_refusal",),
    ),
)


def tasks(user: AbstractBaseUser | AnonymousUser) -> list[Task]:
    """What the user may do, in the order of the table."""
    return [task for task in _TASKS if user.has_perms(task.permissions)]  # type: ignore[union-attr]


def grouped(apps: Iterable[dict[str, Any]], user: AbstractBaseUser | AnonymousUser) -> list[dict[str, Any]]:
    """Django's list of apps with their models as one of groups, in the order of the user's work."""
    models = {each["model"]._meta.label_lower: each for app in apps for each in app["models"]}
    placed = {label for labels in _GROUPS.values() for label in labels}
    order = _OF_STEWARDS if user.has_perm(_SEES_DATA) else _OF_OPERATORS  # type: ignore[union-attr]
    groups = []
    for name in order:
        labels = [*_GROUPS[name], *(sorted(models.keys() - placed) if name == _LAST else ())]
        if found := [models[label] for label in labels if label in models]:
            groups.append(_group(name, found))
    return groups


def _group(name: str, models: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a group in the form of Django's templates, which need an address; the front page has an anchor for each
    group.
    """
    slug = name.lower()
    address = f"{reverse('admin:index')}#{slug}"
    return {"name": name, "app_label": slug, "app_url": address, "has_module_perms": True, "models": models}
