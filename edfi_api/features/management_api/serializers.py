"""The items of version 3 and the bodies of its requests, as Ed-Fi's Configuration Service has them.

A serializer reads the body of a POST and of a PUT, and represents rows. `answers.py` has the other answers.
"""

import re
from datetime import datetime
from typing import Any, NoReturn

from django.core.exceptions import ValidationError
from rest_framework import serializers
from rest_framework.fields import SkipField, empty

from edfi_api.core.data_stores.connection_strings import LONGEST, masked
from edfi_api.core.data_stores.models import DerivativeType, State
from edfi_api.core.data_stores.stores import check_segment
from edfi_api.core.security.claims.compile import all_defaults
from edfi_api.core.security.claims.exchange import exported
from edfi_api.core.security.claims.model import Claims, Grants
from edfi_api.core.security.models import ExternalIdentity
from edfi_api.core.security.profiles.models import Profile
from edfi_api.core.served import current_surface
from edfi_api.features.exchange.models import ConnectionState
from edfi_api.features.exchange.stored_connections import current_phase
from edfi_api.features.management_api import problems, texts
from edfi_api.features.management_api.bodies import (
    EMAIL,
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
    JsonObject,
    Long,
    Longs,
    Objects,
    Text,
    Texts,
    at_most,
    is_empty,
    is_not_positive,
    name_rules,
)
from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.model.profiles.definition import LONGEST_NAME, ProfileDefinition, UnreadableDefinition, is_profile_name
from edfi_api.model.profiles.json_files import read_canonical_json
from edfi_api.model.profiles.xml_files import NO_RESOURCE, NO_RESOURCE_NAME, read_xml, write_xml

LONGEST_PREFIX = 128
_LARGEST_DEFINITION = 2**20


# Vendors, applications and their clients


def prefixes(text: str | None) -> list[str]:
    """The namespace prefixes of a text, which are separated by commas."""
    return [each.strip() for each in (text or "").split(",") if each.strip()]


def _has_long_prefix(text: str | None) -> bool:
    return any(len(each) > LONGEST_PREFIX for each in prefixes(text))


class NamespacePrefixes(Text):
    """The prefixes of a vendor as one text."""

    def run_validation(self, data: Any = empty) -> Any:
        return prefixes(super().run_validation(data))

    def to_representation(self, value: Any) -> Any:
        return ",".join(value)


class VendorSerializer(ItemSerializer):
    """A vendor. A POST of a company that exists changes it."""

    example = {
        "company": "Lakeside SIS",
        "contactName": "Mae Ortiz",
        "contactEmailAddress": "mae@lakeside.example",
        "namespacePrefixes": "uri://lakeside.example",
    }

    company = Text(*name_rules(256), source="name")
    contact_name = Text(*name_rules(128))
    contact_email_address = Text(*name_rules(320, EMAIL), source="contact_email")
    namespace_prefixes = NamespacePrefixes(
        NOT_EMPTY, BodyRule(_has_long_prefix, texts.LONG_PREFIX.replace("{most}", str(LONGEST_PREFIX))), ONE_LINE
    )


class VendorChangeSerializer(VendorSerializer):
    """The body of a PUT, which may omit the contact."""

    contact_name = Text(at_most(128), ONE_LINE)
    contact_email_address = Text(EMAIL, at_most(320), ONE_LINE, source="contact_email")


class ApplicationSerializer(ItemSerializer):
    """An application with its claim set, organizations, data stores and profiles."""

    example = {
        "applicationName": "Roster",
        "vendorId": 1,
        "claimSetName": "EdFiSandbox",
        "educationOrganizationIds": [255901],
    }

    application_name = Text(*name_rules(256), source="name")
    claim_set_name = Text(*name_rules(256, NO_BLANKS))
    vendor_id = Integer(NOT_EMPTY, POSITIVE)
    education_organization_ids = Longs(of_items=(POSITIVE,))
    data_store_ids = Integers(of_items=(POSITIVE,))
    profile_ids = Integers(of_items=(POSITIVE,))
    enabled = Boolean(read_only=True)

    def refuse_missing(self, vendor: object, stores: list[int], profiles: list[int], claim_set: str) -> None:
        """Raise RequestRefused if the vendor, or data stores or profiles with these ids, do not exist. The claim set
        may come later."""
        if vendor is None:
            raise problems.unresolved_reference(texts.NO_REFERENCE.format(name="VendorId"))
        if stores or profiles:
            raise problems.unresolved_reference(texts.NO_STORE if stores else texts.NO_PROFILE)


class ApplicationChangeSerializer(ApplicationSerializer):
    """The body of a PUT, which has to have the names."""

    id_rules = (POSITIVE,)

    application_name = Text(*name_rules(256), source="name", required=True)
    claim_set_name = Text(*name_rules(256, NO_BLANKS), required=True)


def _check_identity(value: dict[str, Any] | None) -> None:
    if not value:
        return
    if set(value) != {"issuer", "value"} or not all(
        isinstance(each, str) and "\0" not in each for each in value.values()
    ):
        raise serializers.ValidationError(texts.HALF_IDENTITY.format(name="External Identity"))
    try:
        ExternalIdentity(**value).full_clean(exclude={"api_client"}, validate_constraints=False)
    except ValidationError as error:
        found = {name.title(): messages for name, messages in error.message_dict.items()}
        raise serializers.ValidationError(found) from None


class _ExternalIdentityMember(JsonObject):
    """The name of the client at an identity provider. Without the member it stays what it is: programs for Ed-Fi's own
    server do not know it."""

    def get_attribute(self, instance: Any) -> Any:
        identity = super().get_attribute(instance)
        return identity and {"issuer": identity.issuer, "value": identity.value}

    def run_validation(self, data: Any = empty) -> Any:
        if data is empty:
            raise SkipField
        return super().run_validation(data)


class ApiClientSerializer(ItemSerializer):
    """A client of an application."""

    example = {"applicationId": 1, "name": "Roster of 2027", "isApproved": True, "dataStoreIds": [1]}
    id_rules = (BodyRule(is_not_positive, texts.ID_OF_CLIENT),)

    application_id = Integer(NOT_EMPTY, POSITIVE, required=True)
    client_id = Text(read_only=True)
    client_uuid = Text(read_only=True, source="uuid")
    name = Text(*name_rules(50), required=True)
    is_approved = Boolean(source="is_active", required=True)
    data_store_ids = Integers(BodyRule(lambda value: not value, texts.NO_STORES_OF_CLIENT), of_items=(POSITIVE,))
    external_identity = _ExternalIdentityMember(_check_identity)

    def refuse_missing(self, application: int | None, stores: list[int]) -> NoReturn:
        """Raise RequestRefused about an application, or else data stores, that do not exist."""
        text = texts.MISSING_STORES.format(ids=", ".join(map(str, stores)))
        if application is not None:
            text = texts.NO_APPLICATION.format(id=application)
        raise problems.unresolved_reference(text)


# Claims


_CLAIM_SET_NAME = (
    BodyRule(is_empty, texts.NO_CLAIM_SET_NAME),
    at_most(256, texts.LONG_CLAIM_SET_NAME),
    NO_BLANKS,
    ONE_LINE,
)


class ApplicationNames(Objects):
    """The applications of a claim set."""

    def to_representation(self, value: Any) -> Any:
        return [{"applicationName": each} for each in value]


class ClaimSetSerializer(ItemSerializer):
    """A claim set. Lists do not have its resource claims."""

    example = {"claimSetName": "Attendance"}

    claim_set_name = Text(*_CLAIM_SET_NAME, source="name", required=True)
    _is_system_reserved = Boolean(source="is_system_reserved", read_only=True)
    _applications = ApplicationNames(source="application_names", read_only=True)
    resource_claims = Objects(source="resource_claims_shown", read_only=True, is_optional=True)

    @staticmethod
    def represent_grants(grants: Grants, claims: Claims) -> list[dict[str, Any]]:
        """The resource claims, one after the other."""
        return exported(grants, claims, all_defaults())


class ClaimSetCopySerializer(BodySerializer):
    """The body of `POST claimSets/copy`."""

    example = {"originalId": 1, "claimSetName": "AttendanceOfLakeside"}

    original_id = Integer(NOT_EMPTY, POSITIVE)
    claim_set_name = Text(*name_rules(256, NO_BLANKS), source="name")


class ClaimSetImportSerializer(BodySerializer):
    """The body of `POST claimSets/import`."""

    example = {
        "claimSetName": "AttendanceOf2027",
        "resourceClaims": [
            {
                "claimName": "http://ed-fi.org/identity/claims/domains/people",
                "actions": [{"name": "Read", "enabled": True}],
            }
        ],
    }

    claim_set_name = Text(*_CLAIM_SET_NAME, source="name")
    resource_claims = Objects()

    def flat(self, sent: list[dict[str, Any]], claims: Claims) -> list[dict[str, Any]]:
        """The resource claims of a body, one after the other."""
        return sent


class ActionsSerializer(BodySerializer):
    """The body of a PUT of a grant."""

    example = {"resourceClaimActions": [{"name": "Create", "enabled": True}, {"name": "Read", "enabled": True}]}

    resource_claim_actions = Objects()


class GrantSerializer(BodySerializer):
    """The body of a POST of a grant."""

    example = {"resourceClaimId": 1, "resourceClaimActions": [{"name": "Read", "enabled": True}]}

    resource_claim_id = Integer(NOT_EMPTY, POSITIVE)
    resource_claim_actions = Objects()


class OverrideSerializer(BodySerializer):
    """The body of `POST …/overrideAuthorizationStrategy`."""

    example = {"actionName": "Read", "authorizationStrategies": ["NoFurtherAuthorizationRequired"]}

    action_name = Text(NOT_EMPTY)
    authorization_strategies = Texts()


class DefaultStrategiesMember(JsonObject):
    """The names of default strategies by action."""

    def to_internal_value(self, data: Any) -> Any:
        by_action = super().to_internal_value(data)
        if not all(
            isinstance(names, list) and all(isinstance(each, str) for each in names) for names in by_action.values()
        ):
            raise problems.invalid_json()
        return by_action


class ResourceClaimSerializer(ItemSerializer):
    """The body of a POST or PUT of a resource claim."""

    name = Text(*name_rules(255))
    parent_id = Integer()
    defaults = DefaultStrategiesMember()


# Profiles


_PROFILE_EXAMPLE = """<Profile name="Student-Names">
  <Resource name="Student">
    <ReadContentType memberSelection="IncludeOnly">
      <Property name="firstName"/>
      <Property name="lastSurname"/>
    </ReadContentType>
  </Resource>
</Profile>"""
_DEFINITION_TEXTS = {NO_RESOURCE: texts.NO_RESOURCE, NO_RESOURCE_NAME: texts.NO_RESOURCE_NAME}


def _is_odd_name(value: str | None) -> bool:
    return value is not None and not is_empty(value) and len(value) <= LONGEST_NAME and not is_profile_name(value)


def profile_definition(text: str) -> ProfileDefinition:
    """The only profile of a text. Raises UnreadableDefinition."""
    found = read_xml(text.encode()) if len(text) <= _LARGEST_DEFINITION else []
    if len(found) != 1:
        raise UnreadableDefinition([])
    return found[0]


def _check_definition(value: str | None) -> None:
    if is_empty(value) or value is None:
        raise serializers.ValidationError(texts.NO_DEFINITION)
    try:
        findings = ProfileChecker(current_surface()).check(profile_definition(value)).findings
    except UnreadableDefinition as error:
        found = [_DEFINITION_TEXTS.get(each.text, texts.INVALID_DEFINITION) for each in error.findings]
        raise serializers.ValidationError(list(dict.fromkeys(found or [texts.INVALID_DEFINITION]))) from None
    if idle := [each.text for each in findings if each.is_idle_rule]:
        raise serializers.ValidationError(idle)


class _Definition(Text):
    """The definition of a profile in XML, as it was sent, or made of its own form."""

    def get_attribute(self, instance: Profile) -> str:
        if instance.sent:
            return instance.sent
        try:
            return write_xml([read_canonical_json(instance.definition.encode())]).decode()
        except UnreadableDefinition:
            return instance.definition


class ProfileSerializer(ItemSerializer):
    """A profile with its definition."""

    example = {"name": "Student-Names", "definition": _PROFILE_EXAMPLE}
    id_rules = (BodyRule(is_not_positive, texts.ID_OF_PROFILE),)

    name = Text(
        BodyRule(is_empty, texts.NO_PROFILE_NAME),
        at_most(LONGEST_NAME, texts.LONG_PROFILE_NAME),
        BodyRule(_is_odd_name, texts.ODD_PROFILE_NAME),
    )
    definition = _Definition(_check_definition)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if profile_definition(attrs["definition"]).name != attrs["name"]:
            raise problems.invalid_data({"Name": [texts.OTHER_PROFILE_NAME]})
        return attrs


class ListedProfileSerializer(ItemSerializer):
    """A profile in a list."""

    name = Text()


# Data stores and tenants


class ConnectionString(Text):
    """A connection string, stored encrypted and shown without its password. One that comes back as shown stays."""

    def __init__(self, *rules: BodyRule, **options: Any) -> None:
        super().__init__(*rules, **{"source": "connection", "is_kept": True, **options})

    def to_representation(self, value: Any) -> Any:
        return masked(value)


def is_kept(encrypted: str | None, sent: str | None) -> bool:
    """Return whether a connection string that was sent is the stored one, masked as it was shown."""
    return encrypted is None if not sent else sent == masked(encrypted)


def check_segment_of(member: str, value: str) -> None:
    """Raise RequestRefused unless the value of this member can be a segment of addresses."""
    try:
        check_segment(value)
    except ValidationError as error:
        raise problems.invalid_data({member: error.messages}) from None


DERIVATIVE_TYPE = (
    BodyRule(is_empty, texts.NO_DERIVATIVE_TYPE),
    at_most(50, texts.LONG_DERIVATIVE_TYPE),
    BodyRule(lambda value: value not in DerivativeType.values, texts.UNKNOWN_DERIVATIVE_TYPE),
)


class DerivativeSerializer(ItemSerializer):
    """Another database with the data of a data store."""

    example = {
        "dataStoreId": 1,
        "derivativeType": "ReadReplica",
        "connectionString": "host=replica.lakeside.example dbname=meadowlark_2027 user=meadowlark",
    }
    id_rules = (BodyRule(is_not_positive, texts.ID_OF_CLIENT),)

    data_store_id = Integer(BodyRule(is_not_positive, texts.NO_STORE_ID))
    derivative_type = Text(*DERIVATIVE_TYPE, source="type")
    connection_string = ConnectionString(at_most(LONGEST, texts.LONG_CONNECTION))

    def missing_store(self, number: int | None) -> problems.RequestRefused:
        """The refusal of a data store that does not exist."""
        return problems.unresolved_reference(texts.NO_STORE_OF_DERIVATIVE)


class ContextSerializer(ItemSerializer):
    """The value of a qualifier that belongs to a data store."""

    example = {"dataStoreId": 1, "contextKey": "schoolYear", "contextValue": "2027"}

    data_store_id = Integer(NOT_EMPTY, POSITIVE)
    context_key = Text(*name_rules(256), source="key")
    context_value = Text(*name_rules(256), source="value")

    def missing_store(self, number: int | None) -> problems.RequestRefused:
        """The refusal of a data store that does not exist."""
        return problems.unresolved_reference(texts.NO_REFERENCE.format(name="DataStoreId"))


class _Derivatives(Objects):
    """The derivatives of a data store."""

    def to_representation(self, value: Any) -> Any:
        return [each | {"connectionString": masked(each["connectionString"])} for each in value]


class DataStoreSerializer(ItemSerializer):
    """A data store with its contexts and derivatives."""

    example = {
        "dataStoreType": "SchoolYear",
        "name": "2027",
        "connectionString": "host=db.lakeside.example dbname=meadowlark_2027 user=meadowlark",
    }

    data_store_type = Text(*name_rules(50), source="type")
    name = Text(*name_rules(256))
    connection_string = ConnectionString(at_most(LONGEST))
    data_store_contexts = Objects(source="contexts_shown", read_only=True)
    data_store_derivatives = _Derivatives(source="derivatives_shown", read_only=True)
    state = Text(read_only=True)
    tenant_id = Integer(read_only=True, is_optional=True)


class StateSerializer(BodySerializer):
    """The body of `PUT dataStores/{id}/state`."""

    example = {"state": State.READ_ONLY.value}

    state = Text(
        BodyRule(lambda value: value not in State.values, texts.UNKNOWN_STATE.format(states=", ".join(State.values)))
    )


class TenantSerializer(ItemSerializer):
    """A tenant."""

    example = {"name": "lakeside"}

    name = Text(
        NOT_EMPTY,
        at_most(256),
        BodyRule(lambda value: re.fullmatch(r"[A-Za-z0-9_-]+", value or "") is None, texts.ODD_TENANT_NAME),
    )


# Connections to other APIs


class ConnectionStateMember(BodyField):
    """The state that the workers of a connection have reported."""

    schema = {"type": "object", "nullable": True}

    def get_attribute(self, instance: Any) -> Any:
        state: ConnectionState | None = super().get_attribute(instance)
        return state and {
            "phase": str(current_phase(instance, state)),
            "since": _timestamp(state.since),
            "reportedAt": _timestamp(state.reported_at),
            "failure": state.failure,
            "position": state.position,
            "newest": state.newest,
            "caughtUpAt": _timestamp(state.caught_up_at),
            "accepted": state.accepted,
            "refused": state.refused,
        }


def _timestamp(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds").replace("+00:00", "Z")


class ConnectionSerializer(ItemSerializer):
    """A connection. What a request omits is as `add_connection` has it without the option, and a PUT without the secret
    keeps it."""

    example = {
        "name": "lakeside",
        "direction": "pull",
        "address": "https://api.lakeside.example/",
        "key": "key",
        "secret": "secret",
        "apiClientId": 1,
    }

    name = Text(*name_rules(256))
    direction = Text(NOT_EMPTY)
    address = Text(*name_rules(1000))
    token_address = Text()
    key = Text(*name_rules(256))
    secret = Text(NOT_EMPTY, write_only=True, is_kept=True)
    api_client_id = Integer(NOT_EMPTY, POSITIVE)
    data_store_id = Integer()
    scope = Long()
    school_year = Integer()
    read_profile = Text()
    write_profile = Text()
    selection = Text()
    resources = Texts()
    with_descriptors = Boolean(none=True)
    education_organization_ids = Longs(of_items=(POSITIVE,))
    descriptor_mapping = Text()
    requests_per_second = Integer()
    enabled = Boolean(source="is_enabled")
    state = ConnectionStateMember(read_only=True)

    @classmethod
    def key_of(cls, column: str) -> str:
        """The key in `validationErrors` of what is wrong with a column."""
        names = {"is_enabled": "Enabled", "api_client": "ApiClientId", "data_store": "DataStoreId"}
        return names.get(column) or "".join(word.title() for word in column.split("_"))
