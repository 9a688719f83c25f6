"""Version 2 as Ed-Fi's Admin API 2 has it: a translation of the names and shapes of bodies, answers and paths. The
views are those of version 3, registered once more with these serializers and texts (`urls.py`).

The body of a PUT has no id. What else is another is said by attributes of the views.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from rest_framework import serializers
from rest_framework.fields import SkipField, empty
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.core.data_stores.connection_strings import LONGEST, MAIN, destination
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.data_stores.stores import tenant_named, visible_to
from edfi_api.core.security.claim_names import actions_in_order, claim_of, short_name
from edfi_api.core.security.claims.compile import all_defaults
from edfi_api.core.security.claims.exchange import by_lineage, objects
from edfi_api.core.security.claims.model import ByAction, Claims, Grants
from edfi_api.core.security.models import ClaimSet, ResourceClaim
from edfi_api.features.management_api import answers, clients, problems, texts
from edfi_api.features.management_api.bodies import (
    NO_BLANKS,
    NOT_EMPTY,
    ONE_LINE,
    POSITIVE,
    BodyField,
    BodyRule,
    BodySerializer,
    Boolean,
    Integer,
    Integers,
    ItemSerializer,
    Longs,
    Objects,
    Text,
    at_most,
    is_empty,
    name_rules,
)
from edfi_api.features.management_api.claim_sets import CONSTRAINTS, ClaimSetViewSet
from edfi_api.features.management_api.data_stores import ContextViewSet, DataStoreViewSet, DerivativeViewSet
from edfi_api.features.management_api.resource_claims import ACTION_IDS, STRATEGY_IDS, ResourceClaimTreeViewSet
from edfi_api.features.management_api.serializers import (
    DERIVATIVE_TYPE,
    LONGEST_PREFIX,
    ApplicationNames,
    ApplicationSerializer,
    ConnectionString,
    DerivativeSerializer,
    NamespacePrefixes,
    VendorSerializer,
    prefixes,
)
from edfi_api.features.management_api.vendors import (
    ApiClientViewSet,
    ApplicationViewSet,
    ProfileViewSet,
    VendorViewSet,
)
from edfi_api.features.management_api.views import ManagementViewSet


def _check_prefixes(value: str | None) -> None:
    if long := [each for each in prefixes(value) if len(each) > LONGEST_PREFIX]:
        raise serializers.ValidationError([texts.V2.LONG_PREFIX.format(prefix=each) for each in long])


class VendorSerializerV2(VendorSerializer):
    """A vendor, which needs no prefixes."""

    namespace_prefixes = NamespacePrefixes(_check_prefixes, ONE_LINE)


def _no_instances(numbers: Sequence[int | None]) -> list[str]:
    """The texts about data stores that do not exist."""
    return [texts.V2.NO_INSTANCE.format(id=each or 0) for each in numbers]


_HAS_ORGANIZATIONS = BodyRule(lambda value: not value, texts.V2.NO_ORGANIZATIONS)
_HAS_INSTANCES = BodyRule(lambda value: not value, texts.V2.NO_INSTANCES)


class ApplicationSerializerV2(ItemSerializer):
    """An application. `enabled` sets all clients."""

    example = {**ApplicationSerializer.example, "odsInstanceIds": [1]}

    application_name = Text(*name_rules(256), source="name")
    claim_set_name = Text(*name_rules(256, NO_BLANKS))
    education_organization_ids = Longs(_HAS_ORGANIZATIONS, of_items=(POSITIVE,))
    vendor_id = Integer(POSITIVE)
    profile_ids = Integers(of_items=(POSITIVE,))
    ods_instance_ids = Integers(_HAS_INSTANCES, of_items=(POSITIVE,), source="data_store_ids")
    enabled = Boolean(default=True)

    def refuse_missing(self, vendor: object, stores: list[int], profiles: list[int], claim_set: str) -> None:
        """Raise RequestRefused with all that the body refers to and that does not exist."""
        visible = ClaimSet.objects.filter(visible_to(self.context["view"].tenant), name__iexact=claim_set)
        errors = {
            "VendorId": [] if vendor else [texts.V2.NO_VENDOR],
            "ClaimSetName": [] if visible.exists() else [texts.V2.NO_CLAIM_SET],
            "OdsInstanceIds": _no_instances(stores),
            "ProfileIds": [texts.V2.NO_PROFILE.format(id=each) for each in profiles],
        }
        if any(errors.values()):
            raise problems.invalid_data({key: found for key, found in errors.items() if found})


class _Constant(BodyField):
    """A member that Admin API 2 has and this server has not."""

    def __init__(self, value: object, schema: Mapping[str, Any]) -> None:
        super().__init__(read_only=True)
        self.value, self.schema = value, schema  # type: ignore[misc]  # the schema of each

    def get_attribute(self, instance: Any) -> Any:
        return self.value


class _KeyStatus(Text):
    def to_representation(self, value: Any) -> str:
        return "Active" if value else "Inactive"


class ApiClientSerializerV2(ItemSerializer):
    """A client; there are no sandboxes."""

    example = {"name": "Roster of 2027", "isApproved": True, "applicationId": 1, "odsInstanceIds": [1]}

    key = Text(source="client_id", read_only=True)
    name = Text(*name_rules(50))
    is_approved = Boolean(source="is_active")
    use_sandbox = _Constant(False, {"type": "boolean"})
    sandbox_type = _Constant(0, {"type": "integer", "format": "int32"})
    application_id = Integer(NOT_EMPTY, POSITIVE)
    key_status = _KeyStatus(source="is_active", read_only=True)
    education_organization_ids = Longs(source="application.education_organization_ids", read_only=True)
    ods_instance_ids = Integers(_HAS_INSTANCES, of_items=(POSITIVE,), source="data_store_ids")

    def refuse_missing(self, application: int | None, stores: list[int]) -> NoReturn:
        """Raise RequestRefused about an application, or else data stores, that do not exist."""
        if application is not None:
            raise problems.invalid_data({"ApplicationId": [texts.V2.NO_APPLICATION]})
        raise problems.invalid_data({"OdsInstanceIds": _no_instances(stores)})


_CLAIM_SET_NAME = (NOT_EMPTY, at_most(255), NO_BLANKS, ONE_LINE)


class ClaimSetSerializerV2(ItemSerializer):
    """A claim set with its resource claims nested in each other."""

    example = {"name": "Attendance"}

    name = Text(*_CLAIM_SET_NAME)
    _is_system_reserved = Boolean(source="is_system_reserved", read_only=True)
    _applications = ApplicationNames(source="application_names", read_only=True)
    resource_claims = Objects(source="resource_claims_shown", read_only=True, is_optional=True)

    @staticmethod
    def represent_grants(grants: Grants, claims: Claims) -> list[dict[str, Any]]:
        """The granted claims, each below its parent if that is granted too."""
        ids = dict(ResourceClaim.objects.values_list("name", "pk"))
        defaults = all_defaults()
        roots: list[dict[str, Any]] = []
        by_name: dict[str, dict[str, Any]] = {}
        for name in by_lineage(grants, claims):
            parent = claims.resource_claims[name].parent
            inherited = grants.get(parent or "", {})
            by_name[name] = {
                "id": ids[name],
                "name": short_name(name),
                "actions": [{"name": action, "enabled": True} for action in actions_in_order(grants[name])],
                "_defaultAuthorizationStrategiesForCRUD": _strategies(defaults.get(name, {}), {}),
                "authorizationStrategyOverridesForCRUD": _strategies(grants[name], inherited),
                "children": [],
            }
            (by_name[parent]["children"] if parent in by_name else roots).append(by_name[name])
        return roots


def _strategies(by_action: ByAction, inherited: ByAction) -> list[dict[str, Any]]:
    return [
        {
            "actionId": ACTION_IDS[action],
            "actionName": action,
            "authorizationStrategies": [
                {
                    "authStrategyId": STRATEGY_IDS.get(name, 0),
                    "authStrategyName": name,
                    "isInheritedFromParent": name in inherited.get(action, ()),
                }
                for name in by_action[action]
            ],
        }
        for action in actions_in_order(by_action)
        if by_action[action]
    ]


class ClaimSetCopySerializerV2(BodySerializer):
    """The body of `POST claimSets/copy`."""

    example = {"originalId": 1, "name": "AttendanceOfLakeside"}

    original_id = Integer(NOT_EMPTY, POSITIVE)
    name = Text(*_CLAIM_SET_NAME)


class ClaimSetImportSerializerV2(BodySerializer):
    """The body of `POST claimSets/import`, with claims that are nested in each other."""

    example = {
        "name": "AttendanceOf2027",
        "resourceClaims": [{"name": "people", "actions": [{"name": "Read", "enabled": True}]}],
    }

    name = Text(*_CLAIM_SET_NAME)
    resource_claims = Objects()

    def flat(self, sent: list[dict[str, Any]], claims: Claims) -> list[dict[str, Any]]:
        """The nested claims one after the other, with the names that version 3 has for them."""
        return list(_flat(sent, claims, None))


def _flat(sent: Sequence[Mapping[str, Any]], claims: Claims, parent: str | None) -> Iterator[dict[str, Any]]:
    for each in sent:
        name = _full_name(str(each.get("name") or ""), claims, parent)
        yield {
            "claimname": name,
            "actions": each.get("actions"),
            "authorizationstrategyoverrides": each.get("authorizationstrategyoverridesforcrud"),
        }
        yield from _flat(objects(each, "children"), claims, name)


def _full_name(name: str, claims: Claims, parent: str | None) -> str:
    """Return the claim with the name, of several the one in `parent`."""
    if name in claims.resource_claims:
        return name
    short = claim_of(name).lower()
    found = [each for each in claims.resource_claims if short_name(each).lower() == short]
    inside = [each for each in found if claims.resource_claims[each].parent == parent]
    return next(iter([*inside, *found]), name)


def _is_no_connection(text: str | None) -> bool:
    if is_empty(text) or text is None or text == MAIN:
        return False
    try:
        destination(text)
    except ConnectionUnusable:
        return True
    return False


class _ConnectionString(ConnectionString):
    """A connection string, which is never shown."""

    def __init__(self, *rules: BodyRule) -> None:
        super().__init__(*rules, at_most(LONGEST), BodyRule(_is_no_connection, texts.V2.NO_CONNECTION), write_only=True)


class _KeptConnectionString(_ConnectionString):
    """The connection string in a PUT, which cannot remove it."""

    def run_validation(self, data: Any = empty) -> Any:
        value = super().run_validation(data)
        if not value:
            raise SkipField
        return value


class _Parts(Objects):
    """Contexts or derivatives of a data store, without connection strings."""

    def to_representation(self, value: Any) -> Any:
        return [
            {
                "odsInstanceId" if name == "dataStoreId" else name: part
                for name, part in each.items()
                if name != "connectionString"
            }
            for each in value
        ]


class OdsInstanceSerializer(ItemSerializer):
    """A data store."""

    example = {
        "name": "2027",
        "instanceType": "SchoolYear",
        "connectionString": "host=db.lakeside.example dbname=meadowlark_2027 user=meadowlark",
    }

    name = Text(*name_rules(100))
    instance_type = Text(*name_rules(50), source="type")
    connection_string = _ConnectionString(NOT_EMPTY)
    ods_instance_contexts = _Parts(source="contexts_shown", read_only=True)
    ods_instance_derivatives = _Parts(source="derivatives_shown", read_only=True)


class OdsInstanceChangeSerializer(OdsInstanceSerializer):
    """The body of a PUT, which keeps the connection string if it has none."""

    connection_string = _KeptConnectionString()


class ListedOdsInstanceSerializer(ItemSerializer):
    """A data store in a list."""

    name = Text()
    instance_type = Text(source="type")


class OdsInstanceContextSerializer(ItemSerializer):
    """A context of a data store."""

    example = {"odsInstanceId": 1, "contextKey": "schoolYear", "contextValue": "2027"}

    ods_instance_id = Integer(POSITIVE, source="data_store_id")
    context_key = Text(*name_rules(256), source="key")
    context_value = Text(*name_rules(256), source="value")

    def missing_store(self, number: int | None) -> problems.RequestRefused:
        """The refusal of a data store that does not exist."""
        return problems.invalid_data({"OdsInstanceId": _no_instances([number])})


class OdsInstanceDerivativeSerializer(ItemSerializer):
    """A derivative of a data store."""

    example = {
        "odsInstanceId": 1,
        "derivativeType": "ReadReplica",
        "connectionString": DerivativeSerializer.example["connectionString"],
    }
    missing_store = OdsInstanceContextSerializer.missing_store

    ods_instance_id = Integer(POSITIVE, source="data_store_id")
    derivative_type = Text(*DERIVATIVE_TYPE, source="type")
    connection_string = _ConnectionString(NOT_EMPTY)


class OdsInstanceDerivativeChangeSerializer(OdsInstanceDerivativeSerializer):
    """The body of a PUT."""

    connection_string = _ConnectionString()


class TenantListViewSet(ManagementViewSet):
    """Tenants by name, without the place of their data."""

    has_tenants = False
    lookup_url_kwarg = "name"
    action_answers = {"list": (200, answers.ListedTenant(many=True)), "retrieve": (200, answers.ListedTenant)}

    @classmethod
    def is_served(cls) -> bool:
        return clients.is_multi_tenant()

    def list(self, request: Request) -> Response:
        self._check()
        return Response([_described(tenant) for tenant in Tenant.objects.all()])

    def retrieve(self, request: Request, name: str) -> Response:
        self._check()
        found = tenant_named(name.replace("\0", ""))
        if found is None:
            raise self.missing(name)
        return Response(_described(found))

    def _check(self) -> None:
        if not self.is_served():
            raise problems.not_found()


def _described(tenant: Tenant) -> dict[str, Any]:
    nowhere = {"host": None, "database": None}
    return {
        "tenantName": tenant.name,
        "adminConnectionString": nowhere,
        "securityConnectionString": nowhere,
    }


# For each address the view of version 3, and its attributes that are others in version 2.
VIEWS: Mapping[str, tuple[type[ManagementViewSet], Mapping[str, Any]]] = {
    "vendors": (
        VendorViewSet,
        {
            "serializer_class": VendorSerializerV2,
            "action_serializers": {"applications": ApplicationSerializerV2},
            "post_changes_existing": False,
            "refusals": {"vendor_once_per_tenant": ("Company", texts.VENDOR_TAKEN)},
        },
    ),
    "applications": (
        ApplicationViewSet,
        {"serializer_class": ApplicationSerializerV2, "action_serializers": {}},
    ),
    "apiclients": (ApiClientViewSet, {"serializer_class": ApiClientSerializerV2, "is_found_by_key": False}),
    "profiles": (ProfileViewSet, {}),
    "claimSets": (
        ClaimSetViewSet,
        {
            "serializer_class": ClaimSetSerializerV2,
            "action_serializers": {
                **ClaimSetViewSet.action_serializers,
                "copy": ClaimSetCopySerializerV2,
                "import_": ClaimSetImportSerializerV2,
            },
            "is_kept_in_use": True,
            "refusals": dict.fromkeys(CONSTRAINTS, ("Name", texts.V2.CLAIM_SET_TAKEN)),
        },
    ),
    "odsInstances": (
        DataStoreViewSet,
        {
            "serializer_class": OdsInstanceSerializer,
            "action_serializers": {
                "list": ListedOdsInstanceSerializer,
                "update": OdsInstanceChangeSerializer,
                "applications": ApplicationSerializerV2,
            },
            "has_unique_names": True,
            "is_kept_in_use": True,
            "action_answers": {},
        },
    ),
    "odsInstanceContexts": (
        ContextViewSet,
        {
            "serializer_class": OdsInstanceContextSerializer,
            "refusals": {"context_once_per_qualifier": ("ContextKey", texts.V2.CONTEXT_TAKEN)},
        },
    ),
    "odsInstanceDerivatives": (
        DerivativeViewSet,
        {
            "serializer_class": OdsInstanceDerivativeSerializer,
            "action_serializers": {"update": OdsInstanceDerivativeChangeSerializer},
            "has_unique_types": True,
            "action_answers": {},
        },
    ),
    "resourceClaims": (ResourceClaimTreeViewSet, {}),
    "tenants": (TenantListViewSet, {}),
}
