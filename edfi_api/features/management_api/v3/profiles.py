"""`v3/profiles`: definitions in XML, kept as they are sent."""

import logging
from collections.abc import Iterator
from typing import Annotated, Any

from django.db.models import ProtectedError, QuerySet
from rest_framework.response import Response

from edfi_api.core.data_stores.tenants import visible_to
from edfi_api.core.queries.listing.fields import Field
from edfi_api.core.security.profiles.models import Profile
from edfi_api.core.startup import current_surface
from edfi_api.features.management_api import problems, texts
from edfi_api.features.management_api.answer_shapes import DescribedAnswer, ProfileNotices
from edfi_api.features.management_api.answers import write_transaction
from edfi_api.features.management_api.bodies import (
    BodyMember,
    BodyRule,
    Finding,
    Integer,
    ManagementBody,
    Text,
    at_most,
    is_empty,
    rule,
)
from edfi_api.features.management_api.collections import Collection
from edfi_api.features.management_api.listing import EXACT, NUMBER, Listing
from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.model.profiles.definition import LONGEST_NAME, ProfileDefinition, UnreadableDefinition, is_profile_name
from edfi_api.model.profiles.json_files import canonical_json, read_canonical_json
from edfi_api.model.profiles.xml_files import NO_RESOURCE, NO_RESOURCE_NAME, read_xml, write_xml

_LARGEST = 2**20
_TEXTS = {NO_RESOURCE: texts.NO_RESOURCE, NO_RESOURCE_NAME: texts.NO_RESOURCE_NAME}
_EXAMPLE = """<Profile name="Student-Names">
  <Resource name="Student">
    <ReadContentType memberSelection="IncludeOnly">
      <Property name="firstName"/>
      <Property name="lastSurname"/>
    </ReadContentType>
  </Resource>
</Profile>"""
_log = logging.getLogger(__name__)


def _is_odd_name(value: str | None) -> bool:
    return value is not None and not is_empty(value) and len(value) <= LONGEST_NAME and not is_profile_name(value)


def _findings(member: BodyMember, value: str | None) -> Iterator[Finding]:
    if is_empty(value) or value is None:
        yield member.key, texts.NO_DEFINITION
        return
    try:
        definition = definition_of(value)
    except UnreadableDefinition as error:
        found = [_TEXTS.get(finding.text, texts.INVALID_DEFINITION) for finding in error.findings]
        for text in dict.fromkeys(found or [texts.INVALID_DEFINITION]):
            yield member.key, text
        return
    for finding in ProfileChecker(current_surface()).check(definition).findings:
        if finding.is_idle_rule:
            yield member.key, finding.text


class ProfileBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST."""

    example = {"name": "Student-Names", "definition": _EXAMPLE}

    name: Annotated[
        Text,
        rule(is_empty, texts.NO_PROFILE_NAME),
        at_most(LONGEST_NAME, texts.LONG_PROFILE_NAME),
        rule(_is_odd_name, texts.ODD_PROFILE_NAME),
    ] = None
    definition: Annotated[Text, BodyRule(_findings)] = None


class ProfileChangeBody(ProfileBody, frozen=True, kw_only=True):
    """Of a PUT."""

    example = {"id": 1, **ProfileBody.example}

    id: Annotated[Integer, rule(lambda value: (value or 0) <= 0, texts.ID_OF_PROFILE)] = None


def definition_of(text: str) -> ProfileDefinition:
    """The only profile of a text. Raises UnreadableDefinition."""
    if len(text) > _LARGEST:
        raise UnreadableDefinition([])
    found = read_xml(text.encode())
    if len(found) != 1:
        raise UnreadableDefinition([])
    return found[0]


class Profiles(Collection):
    """Profiles. One that does not fit the served standard is stored, and closes what it names."""

    address = "profiles"
    noun = "profile"
    bodies = {"create": ProfileBody, "update": ProfileChangeBody}
    answers = {"create": DescribedAnswer(201, ProfileNotices)}
    listing = Listing(
        order={"id": "pk", "name": "name"}, filters=(Field("id", "pk", NUMBER), Field("name", "name", EXACT))
    )

    def rows(self) -> QuerySet[Profile]:
        return Profile.objects.filter(visible_to(self.tenant))

    def represent(self, row: Profile) -> dict[str, Any]:
        return {"id": row.pk, "name": row.name}

    def item(self, row: Profile) -> dict[str, Any]:
        return self.represent(row) | {"definition": row.sent or _as_xml(row)}

    def read(self, number: int | None = None) -> ProfileBody:
        body: ProfileBody = super().read(number)
        if definition_of(body.definition or "").name != body.name:
            raise problems.invalid_data({"Name": [texts.OTHER_PROFILE_NAME]})
        return body

    def add(self, body: ProfileBody) -> Response:
        """With `?verbose=true` what was found about the definition is answered too."""
        row = Profile(tenant=self.tenant)
        notices = self.store(row, body, texts.PROFILE_TAKEN.format(name=body.name))
        is_verbose = self.request.query_params.get("verbose", "").lower() == "true"
        return self.created(row, {"notices": notices} if is_verbose else None)

    def change(self, row: Profile, body: ProfileBody) -> None:
        self.refuse_shared(row)
        self.store(row, body, texts.PROFILE_TAKEN_BY_OTHER)

    def remove(self, row: Profile) -> None:
        self.refuse_shared(row)
        try:
            row.delete()
        except ProtectedError:
            raise problems.dependent_item(texts.PROFILE_IN_USE) from None

    def store(self, row: Profile, body: ProfileBody, taken: str) -> list[str]:
        """Store the profile; what was found about its definition, which is logged."""
        definition = definition_of(body.definition or "")
        row.name = body.name or ""
        row.definition = canonical_json(definition).decode()
        row.sent = body.definition or ""
        refusal = problems.invalid_data({"Name": [taken]})
        with write_transaction({"profile_once_per_tenant": refusal, "profile_name_is_not_shared": refusal}):
            row.save()
        return _notices(row.name, definition)

    def refuse_shared(self, row: Profile) -> None:
        """A tenant does not change what is shared by all."""
        if row.tenant_id != (self.tenant and self.tenant.pk):
            raise problems.bad_request(texts.SHARED_PROFILE)


def _as_xml(row: Profile) -> str:
    """The definition of a profile that was not sent in XML."""
    try:
        return write_xml([read_canonical_json(row.definition.encode())]).decode()
    except UnreadableDefinition:
        return row.definition


def _notices(name: str, definition: ProfileDefinition) -> list[str]:
    found = [finding.text for finding in ProfileChecker(current_surface()).check(definition).findings]
    for text in found:
        _log.warning("profile %s: %s", name, text)
    return found
