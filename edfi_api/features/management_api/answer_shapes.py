"""The shapes of answers that are no items of a collection, for the OpenAPI document: views name them by their actions.

Answers are made by the views; a test holds each of them against its shape.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec


@dataclass(frozen=True, slots=True)
class DescribedAnswer:
    """What a successful action answers: the status, and the type of the body, None for an empty one."""

    status: int
    body: Any = None


class _Shape(msgspec.Struct, rename="camel"):
    """A JSON object with the members in camel case."""


class Identified(_Shape):
    """The id of what was created."""

    id: int


class ApplicationCredentials(_Shape):
    """The key and the secret of an application's first client; the secret is shown this once."""

    id: int
    key: str
    secret: str


class ClientCredentials(_Shape):
    """The key and the secret of a client; the secret is shown this once."""

    id: int
    name: str
    key: str
    secret: str
    application_id: int


class CreatedItem(_Shape):
    """What was created, in words."""

    id: int
    status: int
    title: str


class RemovedItem(_Shape):
    """What was deleted, in words."""

    title: str


class ImportedClaimSet(_Shape):
    """The claim set, and what of the import could not be used."""

    id: int
    warnings: list[str]


class ProfileNotices(_Shape):
    """With `verbose=true`: what was noticed about the definition."""

    notices: list[str]


class ImportedClaims(_Shape):
    """What an import of claims has changed, and what it left out, in words."""

    changes: list[str]
    left_out: list[str]


class ReplacedClaims(_Shape):
    """Whether the claims were replaced, and the id by which this is seen."""

    success: bool
    reload_id: str


class ResourceClaimNode(_Shape):
    """A resource claim with those below it. `parentId` is 0 at the top."""

    id: int
    name: str
    parent_id: int
    parent_name: str | None
    # With an example, since generators of clients make endless ones of what contains itself.
    children: Annotated[list["ResourceClaimNode"], msgspec.Meta(extra_json_schema={"example": []})]


class NamedAction(_Shape):
    """An action by its name."""

    name: str


class ClaimActions(_Shape):
    """The actions of a resource claim that have default strategies."""

    resource_claim_id: int
    resource_name: str
    claim_name: str
    actions: list[NamedAction]


class StrategyOfAction(_Shape):
    """An authorization strategy by id and name."""

    auth_strategy_id: int
    auth_strategy_name: str


class ActionStrategies(_Shape):
    """The default strategies of an action."""

    action_id: int
    action_name: str
    authorization_strategies: list[StrategyOfAction]


class ClaimStrategies(_Shape):
    """The default strategies of a resource claim, by action."""

    resource_claim_id: int
    resource_name: str
    claim_name: str
    authorization_strategies_for_actions: list[ActionStrategies]


class ListedAction(_Shape):
    """An action with its URI."""

    id: int
    name: str
    uri: str


class ListedStrategy(_Shape):
    """An authorization strategy with the name that is shown."""

    id: int
    name: str
    display_name: str


class DataStoreStatus(_Shape):
    """What the database of a data store answers, and whether this process refuses its requests."""

    id: int
    state: str
    answers: bool
    pending_migrations: int | None
    size: int | None
    reason: str | None
    breaker: str


class ConnectionOfTenant(_Shape):
    """Where the data of a tenant are, which is not shown."""

    host: str | None
    database: str | None


class ListedTenant(_Shape):
    """A tenant by its name."""

    tenant_name: str
    admin_connection_string: ConnectionOfTenant
    security_connection_string: ConnectionOfTenant
