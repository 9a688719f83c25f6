"""Hints about the path, the query string and the headers of a request."""

import re
from collections.abc import Collection, Iterator

from django.core.exceptions import DisallowedHost, RequestDataTooBig

from edfi_api.common import addresses
from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores import exceptions as data_stores
from edfi_api.core.documents import coercion, dates_and_times
from edfi_api.core.queries import exceptions as queries
from edfi_api.core.queries.operators import compared_field, operators_of
from edfi_api.core.queries.parameters import COMPARISONS_PARAMETER
from edfi_api.core.security import exceptions as security
from edfi_api.core.security.profiles import exceptions as profiles
from edfi_api.core.served import current_surface
from edfi_api.model.surface.query_fields import ID_FIELD
from edfi_api.model.surface.resource import QueryField, QueryType, Resource, Surface
from edfi_api.web.problem_details import http_exceptions as viewsets
from edfi_api.web.problem_details.hints.attempted_request import (
    LONGEST_URI,
    LONGEST_VALUE,
    AttemptedRequest,
    cut,
    listed,
    shown,
)
from edfi_api.web.problem_details.hints.near_descriptors import near_names, readable_near_descriptors

_TOKEN = f"POST /{addresses.OAUTH} gives a token for key and secret"
_AS_BEARER = "Send the member access_token of its answer in the header Authorization: Bearer TOKEN."
_BASIC = f"Basic credentials are for /{addresses.OAUTH} alone."
_SCHEME = re.compile(r"\s*([A-Za-z]{1,12})\s")
# The names of the parameters of a page in other APIs, in lower case.
_PARAMETERS = {
    **dict.fromkeys(("page", "pagenumber", "skip", "start", "top", "size", "per_page", "perpage", "count", "max"),
                    "Pages are requested by limit and offset, or by pageToken and pageSize."),
    **dict.fromkeys(("sort", "order", "order_by", "sortby", "$orderby"), "An order is requested by orderBy."),
    **dict.fromkeys(("select", "$select", "include", "expand"), "A part of the members is requested by fields."),
    **dict.fromkeys(("q", "query", "search", "filter", "$filter", "where"), "Documents are found by the fields below."),
    **dict.fromkeys(("access_token", "token", "key", "client_id", "api_key", "apikey"),
                    "A token is sent in the header Authorization: Bearer TOKEN, never in the address."),
}  # fmt: skip
_ADVICE = {
    "limit": "More documents come page by page: by offset, or by pageToken.",
    "pagesize": "More documents come page by page: the header Next-Page-Token has the next pageToken.",
    "offset": "Collections of any length are read by pageToken.",
    "pagetoken": "The first page needs none; each answer has the next one in the header Next-Page-Token.",
    "number": "It is the number of parts into which the collection is divided.",
    "totalcount": "The number of documents is in the header Total-Count.",
    COMPARISONS_PARAMETER: "A library that sends the name of a type, or an object, cannot write this parameter. Leave "
    "it out, and add field[operator]=value itself to the address.",
}
_EXAMPLES = {
    QueryType.NUMBER: "a number",
    QueryType.BOOLEAN: "true or false",
    QueryType.DATE: "a date like 2026-01-05",
    QueryType.DATE_TIME: "a date with a time, like 2026-01-05T08:15:00Z",
    QueryType.TIME: "a time of day like 08:15:00",
    QueryType.DESCRIPTOR: "the URI of a descriptor, with its # written as %23",
    QueryType.STRING: "a text without NUL",
}
_COMPOSITES = "composites"
_NO_COMPOSITES = (
    "There are no composites here. Request the resources themselves, such as "
    f"/{addresses.DATA}/ed-fi/studentSectionAssociations?schoolId=..., or what refers to a document: "
    f"/{addresses.RELATIONS}/ed-fi/students/ID."
)
_YEAR = re.compile(r"(?:19|20)\d\d")
# Addresses of other servers, by a segment of theirs.
_ELSEWHERE = {
    "token": f"A token is requested at POST /{addresses.OAUTH}.",
    "oauth": f"A token is requested at POST /{addresses.OAUTH}.",
    "authorize": f"A token is requested at POST /{addresses.OAUTH}.",
    "swagger": "The documentation of all resources is at /docs.",
    "openapi.json": f"The OpenAPI documents are listed at /{addresses.SPECIFICATIONS}.",
    "swagger.json": f"The OpenAPI documents are listed at /{addresses.SPECIFICATIONS}.",
    "dependencies": f"The order of dependencies is at /{addresses.DEPENDENCIES}.",
    "availablechangeversions": f"Change versions are at /{addresses.AVAILABLE_CHANGE_VERSIONS}.",
    "bulk": f"Many writes in one request go to POST /{addresses.BATCH}.",
}


def not_found(error: Exception, attempt: AttemptedRequest) -> Iterator[str]:
    if attempt.resource is not None:
        yield _missing_document(attempt, attempt.resource)
        return
    surface = attempt.surface or current_surface()
    segments = [segment for segment in attempt.path.split("/") if segment]
    is_data = attempt.surface is not None
    where = _misplaced(attempt.path, segments, surface) or _where(segments, surface, is_data)
    yield f"{attempt.method} {attempt.path[:200]} was sent. {where}"


def _misplaced(path: str, segments: list[str], surface: Surface) -> str:
    """Return what stands in the path that does not belong there; empty if nothing of the kind does."""
    if any(segment.lower() == _COMPOSITES for segment in segments):
        return _NO_COMPOSITES
    if "//" in path:
        return f"Two slashes follow each other; write {'/' + '/'.join(segments)[:200]}."
    if found := _without_year(segments, surface):
        year, right = found
        return (
            f"The addresses of this server have no school year {year} there; write /{'/'.join(right)[:200]}. "
            "GET / lists the addresses."
        )
    return ""


def _without_year(segments: list[str], surface: Surface) -> tuple[str, list[str]] | None:
    """A school year in the path, before the project, and the segments of the path without it; None if there is none."""
    data = next((place for place, segment in enumerate(segments) if segment.lower() == addresses.DATA), None)
    if data is None:
        return None
    # Tenants and contexts, which may be years, are before the data; other servers have other segments there.
    has_context = bool(api_settings.MULTI_TENANCY or api_settings.ROUTE_QUALIFIERS)
    begin, first = (0, data + 1) if has_context else (data, 0)
    year = next((place for place in range(first, len(segments)) if _YEAR.fullmatch(segments[place])), None)
    projects = {project.endpoint.lower() for project in surface.projects}
    if year is None or projects.isdisjoint(segment.lower() for segment in segments[year + 1 :]):
        return None
    return segments[year], [segment for place, segment in enumerate(segments) if place >= begin and place != year]


def _missing_document(attempt: AttemptedRequest, resource: Resource) -> str:
    return (
        f"No document of {resource.served_path} has the id in {attempt.path}: it was deleted, or is another server's. "
        f"{_by_key(resource)}"
    )


def _by_key(resource: Resource) -> str:
    """Return how a document is found by its key, by the names of query fields."""
    fields = [f"{field.name}=..." for field, _ in resource.key_fields]
    return f"GET {resource.served_path}?{'&'.join(fields[:6])} finds one by its key." if fields else ""


def _where(segments: list[str], surface: Surface, is_data: bool) -> str:
    """Say where what the segments may mean is."""
    projects = {project.endpoint.lower(): project.endpoint for project in surface.projects}
    position = next((place for place, segment in enumerate(segments) if segment.lower() in projects), None)
    if position is not None:
        return _in_project(segments, position, projects, surface, is_data)
    if not is_data:
        known = next((_ELSEWHERE[each.lower()] for each in reversed(segments) if each.lower() in _ELSEWHERE), None)
        resource = _called(segments[-1] if segments else "", surface)
        at = f"Its path is /{addresses.DATA}{resource.served_path}." if resource else ""
        return known or at or "GET / lists the addresses of this server, and /docs describes every resource."
    resource = _called(segments[0] if len(segments) == 1 else segments[1] if len(segments) > 1 else "", surface)
    path = resource.served_path if resource else "/ed-fi/students"
    return f"A path has the project first, one of {listed(projects.values())}, then the resource: {path}."


def _called(endpoint: str, surface: Surface) -> Resource | None:
    """The resource that this segment names, in whatever project."""
    wanted = endpoint.lower()
    return next((each for each in surface.resources if wanted in (each.endpoint.lower(), _singular(each))), None)


def _singular(resource: Resource) -> str:
    return resource.name.resource.lower()


def _in_project(segments: list[str], position: int, projects: dict[str, str], surface: Surface, is_data: bool) -> str:
    project = segments[position].lower()
    rest = segments[position + 1 :]
    if not rest:
        return f"Name a resource: /{projects[project]}/students. /docs lists all."
    resource = surface.by_endpoint.get((project, rest[0].lower()))
    if resource is not None:
        beginning = "" if is_data else f"/{addresses.DATA}"
        deletes = "deletes, keyChanges and partitions are behind the resource itself"
        return f"The path is {beginning}{resource.served_path}, or {beginning}{resource.served_path}/ID; {deletes}."
    return _near_resources(rest[0], project, surface)


def _near_resources(endpoint: str, project: str, surface: Surface) -> str:
    own = [each for each in surface.resources if each.project_endpoint.lower() == project]
    for abstract in surface.abstract_resources:
        if endpoint.lower() in (abstract.name.resource.lower(), f"{abstract.name.resource.lower()}s"):
            kinds = [surface.by_name[name].served_path for name in abstract.subclasses if name in surface.by_name]
            return f"{abstract.name.resource} is abstract; its kinds are {listed(kinds)}."
    exact = [each.served_path for each in own if _singular(each) == endpoint.lower()]
    near = exact or [f"/{own[0].project_endpoint}/{name}" for name in near_names(endpoint, [e.endpoint for e in own])]
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    other = _called(endpoint, surface)
    elsewhere = f"It is in another project: {other.served_path}. " if other and not near else ""
    return f"{meant}{elsewhere}The project {project} has no resource {shown(endpoint)}; /docs lists all."


def is_malformed_host(error: DisallowedHost) -> bool:
    """Return whether no server can have the host; Django says so in words alone."""
    return "RFC 1034" in str(error)


def disallowed_host(error: DisallowedHost, attempt: AttemptedRequest) -> Iterator[str]:
    is_forwarded = api_settings.BEHIND_PROXY and "HTTP_X_FORWARDED_HOST" in attempt.meta
    header, variable = ("X-Forwarded-Host", "HTTP_X_FORWARDED_HOST") if is_forwarded else ("Host", "HTTP_HOST")
    sent = f"{header}: {attempt.meta.get(variable, '')[:100]} was sent."
    if is_malformed_host(error):
        yield (
            f"{sent} A host name has letters, digits, hyphens and dots, and no underscore. Address the server by "
            "another name, or let the proxy in front of it send one."
        )
    else:
        yield f"{sent} The operator of the server names the hosts by which it answers in MEADOWLARK_ALLOWED_HOSTS."


def no_snapshot(error: Exception, attempt: AttemptedRequest) -> Iterator[str]:
    yield (
        "The header Use-Snapshot: true was sent, and there is no snapshot. Without the header the answer is from the "
        "data as they are now, while others write them. Snapshots are of data stores: an operator adds them by "
        "manage.py add_data_store_derivative."
    )


def snapshot_read_only(error: data_stores.SnapshotReadOnly, attempt: AttemptedRequest) -> Iterator[str]:
    yield "The header Use-Snapshot: true was sent. Leave it out of requests that write."


def invalid_document_id(error: viewsets.InvalidDocumentId, attempt: AttemptedRequest) -> Iterator[str]:
    if not error.segment:
        yield f"Two slashes follow each other in {attempt.path[:200]}; write {attempt.path.rstrip('/')[:200]}."
        return
    by_key = "" if attempt.resource is None else f" {_by_key(attempt.resource)}"
    yield (
        f"{shown(error.segment)} was sent as the id. Ids are UUIDs, which the server gives: in Location, and in the "
        f"member id.{by_key}"
    )


def method_not_allowed(error: viewsets.MethodNotAllowed, attempt: AttemptedRequest) -> Iterator[str]:
    instead = " A document is changed as a whole: GET it, change it, and PUT it." if error.method == "PATCH" else ""
    yield f"{error.method} {attempt.path} was sent; this address takes {listed(error.allowed)}.{instead}"


def unsupported_media_type(error: viewsets.UnsupportedMediaType, attempt: AttemptedRequest) -> Iterator[str]:
    sent = attempt.meta.get("CONTENT_TYPE", "")[:100]
    yield f"Content-Type: {sent} was sent. Send JSON, with Content-Type: application/json."


def unknown_query_field(error: queries.UnknownQueryField, attempt: AttemptedRequest) -> Iterator[str]:
    name = error.name[:100]
    advice = _PARAMETERS.get(name.lower()) or _operators(name, error.known, attempt.resource)
    if advice:
        yield f"{name} was sent. {advice}"
    near = near_names(name, error.known) or near_names(re.split(r"[.\[_$]", name)[-1], error.known)
    if near and not advice:
        yield f"{name} was sent. Did you mean {' or '.join(near)}?"
    elif error.known:
        yield f"{'' if advice else f'{name} was sent. '}The fields are {listed(error.known, 20)}."


def _operators(name: str, known: Collection[str], resource: Resource | None) -> str:
    """The operators of the known field in `lastSurname.like` or `lastSurname>`; empty if there is none."""
    fields = {each.name: each for each in resource.query_fields if each.name in known} if resource else {}
    compared = compared_field(name, fields)
    operators = operators_of(fields[compared]) if compared else ()
    if not operators:
        return ""
    meant = re.split(r"[\W_]+", name.strip("])}"))[-1].lower()
    example = meant if meant in operators else operators[0]
    return f"Operators are written like {compared}[{example}]=...; those of {compared} are {listed(operators)}."


def not_for_change_queries(error: queries.NotForChangeQueries, attempt: AttemptedRequest) -> Iterator[str]:
    yield (
        f"{error.name[:100]} was sent. deletes and keyChanges take minChangeVersion, maxChangeVersion, limit, offset "
        "and totalCount alone."
    )


def invalid_query_values(error: queries.InvalidQueryValues, attempt: AttemptedRequest) -> Iterator[str]:
    found = attempt.resource
    fields = {each.name.lower(): each for each in (*found.query_fields, *found.code_fields)} if found else {}
    as_sent = {name.lower(): name for name in attempt.query}
    for value in error.values:
        name = value.name or value.path.removeprefix("$.")
        field = fields.get(re.split(r"[.\[]", value.name.lower())[0])
        meant = dates_and_times.advice(value.value, field.type) if field and value.reason is None else ""
        expected = f" {meant or f'Expected is {_expected(field, value.value)}.'}" if field else ""
        shown = as_sent.get(name.lower(), name)
        yield f"{shown}={cut(value.value, LONGEST_URI)} was sent.{expected}{_near_values(value, field, attempt)}"


def _expected(field: QueryField, text: str) -> str:
    if field == ID_FIELD:
        return "a UUID"
    if field.type is QueryType.NUMBER and not isinstance(coercion.coerce_number(text), str):
        return "a whole number, not larger than the member can hold"
    return _EXAMPLES[field.type]


def _near_values(value: queries.InvalidQueryValue, field: QueryField | None, attempt: AttemptedRequest) -> str:
    if field is None or field.type is not QueryType.DESCRIPTOR or not value.descriptor or attempt.surface is None:
        return ""
    descriptor = next((each for each in attempt.surface.resources if each.name.resource == value.descriptor), None)
    near = readable_near_descriptors(value.value, descriptor, attempt) if descriptor else []
    return f" Did you mean {' or '.join(near)}?" if near else ""


def parameter_validation_failed(error: queries.ParameterValidationFailed, attempt: AttemptedRequest) -> Iterator[str]:
    messages = "".join(error.messages).lower().replace(" ", "")
    if "lessthanorequaltomaxchangeversion" in messages:
        yield "The window is empty: it ends before it begins. Without maxChangeVersion it ends with the newest version."
    for name, value in attempt.query.items():
        if name.lower() in messages:
            yield f"{name}={cut(value, LONGEST_VALUE)} was sent. {_ADVICE.get(name.lower(), '')}".rstrip()


def authentication_failed(error: security.AuthenticationFailed, attempt: AttemptedRequest) -> Iterator[str]:
    """Yield hints that never say what was sent: it may be a token, or a secret."""
    header = attempt.meta.get("HTTP_AUTHORIZATION", "")
    yield f"{_what_of(header)} {_TOKEN}. {_AS_BEARER}"


def _what_of(header: str) -> str:
    """Return what is wrong with the header. Words longer than those of schemes may be tokens, and are not repeated."""
    header = header.strip()
    if not header:
        return "The request has no header Authorization."
    if header.lower() == "bearer":
        return "Behind Bearer there is no token; a variable is perhaps empty."
    scheme = _SCHEME.match(header)
    if scheme is None:
        return "The header Authorization has no scheme: Bearer and a space come in front of the token."
    if scheme[1].lower() != "bearer":
        is_basic = scheme[1].lower() == "basic"
        return _BASIC if is_basic else f"The scheme {scheme[1]} was sent; it has to be Bearer."
    if re.search(r"[\"'{}<>\s]", header[len("bearer ") :].strip()):
        return "Behind Bearer only the token comes, without quotation marks, brackets or spaces."
    return (
        "The token was sent as it should be, but this server does not know it, or no longer: tokens expire, and are "
        "revoked with the secret of their client."
    )


def too_many_requests(error: security.TooManyRequests, attempt: AttemptedRequest) -> Iterator[str]:
    yield f"Wait {error.retry_after} seconds. One token serves all requests until it expires."


def request_data_too_big(error: RequestDataTooBig, attempt: AttemptedRequest) -> Iterator[str]:
    yield f"{attempt.meta.get('CONTENT_LENGTH', 'Too many')} bytes were sent. Send less in one request."


def unknown_profile(error: profiles.UnknownProfile, attempt: AttemptedRequest) -> Iterator[str]:
    if error.usable:
        yield f"There is no profile {shown(error.profile)}. {error.header} may name: {listed(error.usable)}."
