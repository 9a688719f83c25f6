"""Answers that are no items of a collection, for the OpenAPI document: views name them by their actions.

Answers are made by the views; a test holds each of them against its shape.
"""

from typing import Any, ClassVar

from rest_framework import serializers

from edfi_api.features.management_api.bodies import BodyField, BodySerializer, Boolean, Integer, Long, Text, Texts


class AnswerSerializer(BodySerializer):
    """An answer, which has all of its members."""

    may_be_null: ClassVar[frozenset[str]] = frozenset()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        fields = super().get_fields()
        for name, each in fields.items():
            each.required, each.allow_null = True, name in self.may_be_null
        return fields


class ApplicationCredentials(AnswerSerializer):
    """The key and the secret of an application's first client; the secret is shown this once."""

    id = Integer()
    key = Text()
    secret = Text()


class ClientCredentials(AnswerSerializer):
    """The key and the secret of a client; the secret is shown this once."""

    id = Integer()
    name = Text()
    key = Text()
    secret = Text()
    application_id = Integer()


class Identified(AnswerSerializer):
    """The id of what was created."""

    id = Integer()


class CreatedItem(AnswerSerializer):
    """The answer about an item that was created, in words."""

    id = Integer()
    status = Integer()
    title = Text()


class RemovedItem(AnswerSerializer):
    """The answer about an item that was deleted, in words."""

    title = Text()


class ImportedClaimSet(AnswerSerializer):
    """The claim set, and what of the import could not be used."""

    id = Integer()
    warnings = Texts()


class ProfileNotices(AnswerSerializer):
    """Remarks about the definition of a profile, which is answered with `verbose=true`."""

    notices = Texts()


class ImportedClaims(AnswerSerializer):
    """The changes of an import of claims, and what it left out, in words."""

    changes = Texts()
    left_out = Texts()


class ReplacedClaims(AnswerSerializer):
    """The answer to claims that were replaced, with the id by which this is seen."""

    success = Boolean()
    reload_id = Text()


class _Children(BodyField):
    # With an example, since generators of clients make endless ones of what contains itself.
    schema = {"type": "array", "items": {"$ref": "#/components/schemas/ResourceClaimNode"}, "example": []}


class ResourceClaimNode(AnswerSerializer):
    """A resource claim with those below it. `parentId` is 0 at the top."""

    may_be_null = frozenset({"parentName"})

    id = Integer()
    name = Text()
    parent_id = Integer()
    parent_name = Text()
    children = _Children()


class NamedAction(AnswerSerializer):
    """An action by its name."""

    name = Text()


class ClaimActions(AnswerSerializer):
    """The actions of a resource claim that have default strategies."""

    resource_claim_id = Integer()
    resource_name = Text()
    claim_name = Text()
    actions = NamedAction(many=True)


class StrategyOfAction(AnswerSerializer):
    """An authorization strategy by id and name."""

    auth_strategy_id = Integer()
    auth_strategy_name = Text()


class ActionStrategies(AnswerSerializer):
    """The default strategies of an action."""

    action_id = Integer()
    action_name = Text()
    authorization_strategies = StrategyOfAction(many=True)


class ClaimStrategies(AnswerSerializer):
    """The default strategies of a resource claim, by action."""

    resource_claim_id = Integer()
    resource_name = Text()
    claim_name = Text()
    authorization_strategies_for_actions = ActionStrategies(many=True)


class ListedAction(AnswerSerializer):
    """An action with its URI."""

    id = Integer()
    name = Text()
    uri = Text()


class ListedStrategy(AnswerSerializer):
    """An authorization strategy with the name that is shown."""

    id = Integer()
    name = Text()
    display_name = Text()


class DataStoreStatus(AnswerSerializer):
    """The answer of a data store's database, and whether this process refuses its requests."""

    may_be_null = frozenset({"pendingMigrations", "size", "reason"})

    id = Integer()
    state = Text()
    answers = Boolean()
    pending_migrations = Integer()
    size = Long()
    reason = Text()
    breaker = Text()


class ConnectionOfTenant(AnswerSerializer):
    """The connection to the data of a tenant, which is not shown."""

    may_be_null = frozenset({"host", "database"})

    host = Text()
    database = Text()


class ListedTenant(AnswerSerializer):
    """A tenant by its name."""

    tenant_name = Text()
    admin_connection_string = ConnectionOfTenant()
    security_connection_string = ConnectionOfTenant()
