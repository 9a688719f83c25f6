"""`v3/profiles`: definitions in XML, kept as they are sent."""

import logging
from collections.abc import Iterator
from typing import Any, ClassVar

from django.db.models import ProtectedError, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.data_stores.tenants import visible_to
from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.model.profiles.definition import ProfileDefinition
from edfi_api.model.profiles.findings import UnreadableDefinition
from edfi_api.model.profiles.json_files import canonical_json, read_canonical_json
from edfi_api.model.profiles.names import LONGEST_NAME, is_profile_name
from edfi_api.model.profiles.xml_files import NO_RESOURCE, NO_RESOURCE_NAME, read_xml, write_xml
from edfi_api.profiles.models import Profile
from edfi_api.startup import current_surface

from .. import problems
from ..bodies import read_values
from ..collections import Collection, id_member
from ..constraints import written
from ..listing import Listing, exactly, number
from ..members import Finding, Member, Rule, Shape, at_most, is_empty, says

_LARGEST = 2**20
_INVALID = "Profile definition XML is invalid or does not match the XSD."
_OTHER_NAME = "Name must match the name attribute in the XML definition."
_TEXTS = {
    NO_RESOURCE: "Profile XML must contain at least one <Resource> element.",
    NO_RESOURCE_NAME: "All <Resource> elements must have a name attribute.",
}
_NAME_RULES = (
    says("Profile name is required.", is_empty),
    at_most(LONGEST_NAME, f"Profile name must be {LONGEST_NAME} characters or less."),
    says(
        "Profile name must consist of letters, digits, hyphens, and underscores.",
        lambda value: not is_empty(value) and len(value) <= LONGEST_NAME and not is_profile_name(value),
    ),
)
_log = logging.getLogger(__name__)


def _findings(member: Member, value: str | None) -> Iterator[Finding]:
    if is_empty(value) or value is None:
        yield member.key, "Profile definition is required."
        return
    try:
        definition_of(value)
    except UnreadableDefinition as error:
        texts = [_TEXTS.get(finding.text, _INVALID) for finding in error.findings] or [_INVALID]
        for text in dict.fromkeys(texts):
            yield member.key, text


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
    missing = "Profile {id} not found. It may have been recently deleted."
    shape: ClassVar[Shape] = (Member("name", rules=_NAME_RULES), Member("definition", rules=(Rule(_findings),)))
    shape_of_put: ClassVar[Shape] = (id_member("Profile Id must be greater than zero."), *shape)
    listing = Listing(order={"id": "pk", "name": "name"}, filters={"id": number("pk"), "name": exactly("name")})

    def rows(self) -> QuerySet[Profile]:
        return Profile.objects.filter(visible_to(self.tenant))

    def represent(self, row: Profile) -> dict[str, Any]:
        return {"id": row.pk, "name": row.name}

    def item(self, row: Profile) -> dict[str, Any]:
        return self.represent(row) | {"definition": row.sent or _as_xml(row)}

    def create(self, request: Request) -> Response:
        """With `?verbose=true` what was found about the definition is answered too."""
        values = _named_alike(read_values(request._request, self.shape))
        row = Profile(tenant=self.tenant)
        with self.written():
            self.store(row, values, f"Profile '{values['name']}' already exists.")
            notices = _notices(row.name, definition_of(values["definition"]))
            is_verbose = request.query_params.get("verbose", "").lower() == "true"
            return self.created(row, {"notices": notices} if is_verbose else None)

    def values_of_put(self, request: Request, number: int) -> dict[str, Any]:
        return _named_alike(super().values_of_put(request, number))

    def change(self, row: Profile, values: dict[str, Any]) -> None:
        self.refuse_shared(row)
        self.store(row, values, "A profile with this name already exists.")
        _notices(row.name, definition_of(values["definition"]))

    def remove(self, row: Profile) -> None:
        self.refuse_shared(row)
        try:
            row.delete()
        except ProtectedError:
            text = "Profile is assigned to applications and cannot be deleted."
            raise problems.dependent_item(text) from None

    def store(self, row: Profile, values: dict[str, Any], taken: str) -> None:
        row.name = values["name"]
        row.definition = canonical_json(definition_of(values["definition"])).decode()
        row.sent = values["definition"]
        refusal = problems.invalid_data({"Name": [taken]})
        with written({"profile_once_per_tenant": refusal, "profile_name_is_not_shared": refusal}):
            row.save()

    def refuse_shared(self, row: Profile) -> None:
        """A tenant does not change what is shared by all."""
        if row.tenant_id != (self.tenant and self.tenant.pk):
            raise problems.bad_request("The specified profile is shared by all tenants and cannot be changed.")


def _named_alike(values: dict[str, Any]) -> dict[str, Any]:
    if definition_of(values["definition"]).name != values["name"]:
        raise problems.invalid_data({"Name": [_OTHER_NAME]})
    return values


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
