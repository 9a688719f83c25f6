"""Where answers differ from those of Ed-Fi's older server, the ODS/API, and which of its ways
`MEADOWLARK_COMPATIBILITY=ods` follows.

The code consults this table (`OdsCompatibility.EMPTY_COLLECTIONS.applies`), and
`meadowlark/docs/reference/ods-compatibility.md` is made from it (`make docs`). What the setting changes is on the
outside of the API: documents are stored in the same way with and without it, so it can be changed at any time. Code
that every request runs consults it once, when views and representations are made.
"""

from dataclasses import dataclass
from enum import Enum, StrEnum

from edfi_api.common.conf import api_settings


class OdsArea(StrEnum):
    """The headings of the page."""

    ADDRESSES = "Addresses and ids"
    WRITING = "What is written"
    READING = "What is read"
    QUERIES = "Queries"
    CHANGES = "Changes"
    PROBLEMS = "Problems"
    DOCUMENTATION = "Discovery and OpenAPI"
    SECURITY = "Authorization"


@dataclass(frozen=True, slots=True)
class OdsWay:
    """A way of the ODS/API that is followed: `what` it does, what is done `otherwise`, `where` in `edfi_api/` the table
    is consulted, and the `reason`. `setting` has it alone, if there is one of its own."""

    area: OdsArea
    what: str
    otherwise: str
    where: tuple[str, ...]
    reason: str
    setting: str = "COMPATIBILITY"


class OdsCompatibility(Enum):
    """Ways of the ODS/API that are followed with `MEADOWLARK_COMPATIBILITY=ods`."""

    UNKNOWN_PARAMETERS = OdsWay(
        OdsArea.QUERIES,
        "an unknown query parameter is ignored, unless it is spelt like a member of the resource or its comparison; at "
        "`/deletes` and `/keyChanges`, which have no filters, all others are",
        "it is refused with 400",
        ("core/queries/parameters.py", "web/batch/sent_batch.py"),
        "programs add parameters of their own to every request; a misspelt filter would return everything",
        setting="IGNORE_UNKNOWN_PARAMETERS",
    )
    EMPTY_WINDOWS = OdsWay(
        OdsArea.CHANGES,
        "nothing is in a window whose `minChangeVersion` is above its `maxChangeVersion`",
        "it is refused with 400, unless it is above by one",
        ("features/changes/change_queries/windows.py",),
        "a client that asks for what is new on a quiet day adds one to the last version",
    )
    IDENTIFICATION_CODES = OdsWay(
        OdsArea.QUERIES,
        "members of identification codes are query fields (`?identificationCode=...`); several match in one item",
        "they are unknown parameters",
        ("core/queries/query_by_example.py", "web/metadata/paths.py"),
        "programs find schools, staff and courses by the codes of other systems",
    )
    UPSERT_ASKS_UPDATE = OdsWay(
        OdsArea.SECURITY,
        "a POST whose document exists is authorized as Update",
        "it is authorized as Create, as by the DMS",
        ("core/security/claims/validation.py", "core/security/requests/authorization.py"),
        "a client that may create people cannot overwrite those that it may not read",
        setting="UPSERT_ASKS_UPDATE",
    )
    PUT_WITHOUT_ID = OdsWay(
        OdsArea.WRITING,
        "the body of a PUT may come without `id`",
        "it needs the `id` of its path",
        ("web/viewsets/resource_viewset.py",),
        "the API Publisher sends changed keys so",
        setting="PUT_WITHOUT_ID",
    )
    MEMBERS_IN_ANY_CASE = OdsWay(
        OdsArea.WRITING,
        "members of bodies, and headers of CSV, are read in any case (`StudentUniqueId`), and stored in that of the "
        "resource; two spellings of one member are refused",
        "one that differs from a member of the resource in case only is refused with 400, which names both",
        (
            "features/loading/bulk/preparation.py",
            "features/loading/cells.py",
            "web/batch/natural_keys.py",
            "web/batch/singles.py",
            "web/viewsets/requests.py",
        ),
        "serializers of vendors and generated clients write names with a capital",
        setting="MEMBERS_IN_ANY_CASE",
    )
    NAMES = OdsWay(
        OdsArea.READING,
        "members and endpoints have names of their own, `ferryBoatReference`, `tankInformation`, by rules that the "
        "contract lists; those of Ed-Fi's compiler are read, too",
        "they have those of Ed-Fi's compiler: `ferryBoatBoatReference`, `tankInformations`",
        ("core/served.py",),
        "code is written against them; the bundled standard 6.1 has four such names, all others are of extensions",
    )
    CAPITAL_CHANGE_VERSIONS = OdsWay(
        OdsArea.CHANGES,
        "the available change versions are there as `OldestChangeVersion` and `NewestChangeVersion`, too",
        "they are there as `oldestChangeVersion` and `newestChangeVersion` alone",
        ("features/changes/change_queries/views.py",),
        "clients of versions before 7 read the names with a capital",
    )
    EMPTY_PROBLEM_MEMBERS = OdsWay(
        OdsArea.PROBLEMS,
        "`errors` and `validationErrors` are left out if they are empty",
        "they are there",
        ("web/problem_details/problem.py",),
        "clients, lightbeam among them, show the one that is there",
        setting="OMIT_EMPTY_PROBLEM_MEMBERS",
    )
    PLAIN_NAMESPACE_PREFIXES = OdsWay(
        OdsArea.SECURITY,
        "a namespace prefix covers every namespace that begins with it, `uri://education.example.evil` among those of "
        "`uri://education.example`",
        "it ends where a segment ends; one that ends with a delimiter covers all that begin with it",
        ("core/security/names.py",),
        "vendors may have prefixes that are parts of segments; a prefix should not cover the namespaces of others",
        setting="PLAIN_NAMESPACE_PREFIXES",
    )
    RELATIONSHIPS_FOR_CHANGES = OdsWay(
        OdsArea.SECURITY,
        "ReadChanges is also granted by the relationship strategies of documents, which look at present associations",
        "it is granted by those that include deleted associations; the others are answered with 500, as by the DMS",
        ("core/security/strategies/table.py",),
        "the published claims of finance and of student health name them",
    )

    PROBLEM_TEXTS = OdsWay(
        OdsArea.PROBLEMS,
        "types and texts of problems are those of the ODS/API, where they differ: `FirstName is required.`, "
        "`data-conflict:non-unique-identity`, a descriptor that does not exist by its path and as it was sent, 404 for "
        "what is no id",
        "those of Ed-Fi's Data Management Service",
        ("web/problem_details/catalog/ods.py",),
        "clients compare them",
    )
    PROBLEM_MEDIA_TYPE = OdsWay(
        OdsArea.PROBLEMS,
        "most problems are `application/json`; `application/problem+json` are those of requests that came to no "
        "resource (401, 404 of a path, 405, 406, 415)",
        "all are `application/problem+json`",
        ("web/problem_details/catalog/ods.py",),
        "libraries that read `application/json` only",
    )

    BODIES = OdsWay(
        OdsArea.WRITING,
        "numbers and booleans are accepted for texts; markup in texts, decimals beyond the bounds of the model, 0 in a "
        "key and 0001-01-01 in a required date are refused; decimals are rounded to the places of the model; `[{}]` "
        "lacks members; an empty list is none at any depth; `20210801`, a date with another time than midnight of UTC, "
        "and a time with fractions or AM and PM are refused, with a hint that says what to write",
        "texts are texts; decimals with more places are refused; an empty list, and one of empty objects, is none at "
        "the root; the rest is accepted",
        ("web/viewsets/router.py",),
        "clients send what they have read, with its empty lists; their tests expect what the ODS/API refuses",
    )
    IDS = OdsWay(
        OdsArea.ADDRESSES,
        "`Location` has the id in 32 digits; so do the results of batches and relations",
        "with hyphens, as the Data Management Service",
        ("web/viewsets/ods_representation.py",),
        "clients keep these ids, compare them and join on them",
    )
    METHODS_OF_ITEMS = OdsWay(
        OdsArea.ADDRESSES,
        "a method that an item does not have is refused with 405, whatever the id",
        "400 for what is no id",
        ("web/viewsets/ods_representation.py",),
        "Ed-Fi's suites send POST to an item",
    )
    PUT_WITH_ANOTHER_ID = OdsWay(
        OdsArea.WRITING,
        "the `id` in the body of a PUT is ignored",
        "400 if it is not that of the path",
        ("web/viewsets/ods_representation.py",),
        "programs send a document under another address as they have read it",
    )
    PAGING = OdsWay(
        OdsArea.QUERIES,
        "`limit=` without a value is the default, `limit=0` goes with a page token, what is no number or boolean is "
        "`data-validation-failed` under the name of the parameter",
        "400 `parameter-validation-failed` for all three",
        ("web/viewsets/ods_representation.py",),
        "some clients add empty parameters to every request",
    )
    COMPLETE_DOCUMENTS = OdsWay(
        OdsArea.READING,
        "a document has every collection, `[]` where there is none, at every depth; ids in `id`, `href`, changes have "
        "32 digits; `_lastModifiedDate` has microseconds; decimals have a decimal place: `67.0`",
        "empty collections are absent, ids have hyphens, dates of change are in whole seconds, `67`",
        (
            "features/changes/change_queries/views.py",
            "web/metadata/openapi.py",
            "web/viewsets/ods_representation.py",
        ),
        "clients iterate over collections without asking, and notice changes by their dates",
    )
    REPEATED_PARAMETERS = OdsWay(
        OdsArea.QUERIES,
        "of a repeated parameter the first counts; `comparisons`, which the ODS/API does not have, may be repeated",
        "the last counts",
        ("web/viewsets/ods_representation.py",),
        "the same request finds the same documents",
    )
    PARAMETER_TYPES = OdsWay(
        OdsArea.QUERIES,
        "`?id=` with something else than an id, a descriptor without `#` and a change version that is too large are "
        "refused with 400; one below 0 is before all others",
        "nothing is found; a change version has to be a whole number from 0",
        ("core/queries/query_by_example.py", "features/changes/change_queries/windows.py"),
        "an empty answer would be taken for a fact",
    )
    OPENAPI = OdsWay(
        OdsArea.DOCUMENTATION,
        "`/metadata` is the list of OpenAPI documents, with `All`, the resources and descriptors together; operations "
        "are named `deleteStudentById`; items of inherited collections have one schema, "
        "`edFi_educationOrganizationAddress`; unknown metadata is a problem; `/composites`, of which there are none, "
        "needs a token",
        "`/metadata` is an object, as of the Data Management Service, `deleteStudentsById`, one for each subclass, "
        "`edFi_schoolAddress`, and a text",
        (
            "web/metadata/components.py",
            "web/metadata/discovery.py",
            "web/metadata/paths.py",
            "web/metadata/urls.py",
        ),
        "Ed-Fi's SDK generator reads the list, and code is written against what it generates",
    )
    TOKENS = OdsWay(
        OdsArea.SECURITY,
        "other methods and media types at the token endpoint are problems, 405 and 415; `token_info` without a token "
        "is 401 without a body",
        "errors of OAuth, as all others there (RFC 6749)",
        ("core/security/oauth/views.py",),
        "Ed-Fi's suites expect them",
    )
    CORRELATION = OdsWay(
        OdsArea.PROBLEMS,
        "the correlation id is also taken from the header `correlation-id`, else from the parameter `correlationId`",
        "from the header of `MEADOWLARK_CORRELATION_HEADER` only",
        ("common/logs/correlation.py",),
        "clients and Ed-Fi's suites hand it over so",
    )

    def __init__(self, way: OdsWay) -> None:
        # Plain attributes: `value` of an enumeration takes three times as long.
        self._setting = way.setting
        self._wanted = "ods" if way.setting == "COMPATIBILITY" else True

    @property
    def applies(self) -> bool:
        """Whether the API does so."""
        return bool(getattr(api_settings, self._setting) == self._wanted)


@dataclass(frozen=True, slots=True)
class OdsFault:
    """A way of the ODS/API that is not followed, and why."""

    area: OdsArea
    what: str
    here: str
    reason: str


NOT_FOLLOWED = (
    OdsFault(
        OdsArea.ADDRESSES,
        "`/data/ed-fi/…` without a version, `/metadata/specifications`, `/metadata/dependencies` and `/docs` are 404",
        "they are served in addition to the addresses of the ODS/API",
        "clients of the Data Management Service, and people, use them",
    ),
    OdsFault(
        OdsArea.QUERIES,
        "a filter without a value (`?firstName=`) is ignored, so that everything is found",
        "it finds what has this value",
        "a client whose variable is empty would take everything for what it asked for",
    ),
    OdsFault(
        OdsArea.PROBLEMS,
        "what a claim set lacks is named by claims of the ODS/API; parsers have their own messages",
        "by the name of the resource; messages of this server",
        "they are for people; type, status and member are the same",
    ),
    OdsFault(
        OdsArea.QUERIES,
        "a parameter that is spelt like a member of the resource, but is no query field, is ignored",
        "it is refused with 400, like operators of other APIs (`birthDate__gte`, `$filter`)",
        "everything would come back, as if all of it had been asked for",
    ),
    OdsFault(
        OdsArea.QUERIES,
        "descriptors can be found by the number that the database gave them (`?termDescriptorId=17`)",
        "it is refused with 400, as are such numbers of people and of other descriptors",
        "descriptors have no such number here; they are found by `namespace` and `codeValue`",
    ),
    OdsFault(
        OdsArea.QUERIES,
        "which members of collections are query fields is not published; seen were those of identification codes",
        "those of every collection at the root whose name ends with `identificationCodes`, that of alternative codes "
        "included; all others are refused with 400",
        "the published parameters of data standards 3.3, 4.0 and 5.2 are all offered, and members that are inherited",
    ),
    OdsFault(
        OdsArea.READING,
        "without a snapshot, `Use-Snapshot: true` with `limit=0` is answered with 200",
        "404, as with any other limit",
        "a client that asks so whether there is a snapshot would believe it",
    ),
    OdsFault(
        OdsArea.ADDRESSES,
        "HEAD is refused with 405",
        "it is answered as GET, without the body",
        "every server of HTTP has to answer it (RFC 9110, section 9.1), and load balancers use it",
    ),
    OdsFault(
        OdsArea.WRITING,
        "a NUL in a text, `null` as an item of a list and some other bodies are answered with 500",
        "they are refused with 400 and their path",
        "a client repeats what is answered with 500",
    ),
    OdsFault(
        OdsArea.WRITING,
        "comments, trailing commas and single quotes are accepted in JSON; of a repeated member the last counts",
        "400",
        "what other programs read in another way is ambiguous",
    ),
    OdsFault(
        OdsArea.WRITING,
        "descriptors that differ in case only are two",
        "they are one",
        "a reference finds either, so that the two cannot be distinguished",
    ),
    OdsFault(
        OdsArea.WRITING,
        "a namespace of a descriptor may contain `#`",
        "400",
        "two descriptors would have one URI",
    ),
    OdsFault(
        OdsArea.WRITING,
        "`If-Match` with the current quoted `ETag`, or with `*`, is refused with 412; `If-None-Match` is ignored",
        "conditions hold as in RFC 9110",
        "a condition that never holds protects nothing",
    ),
)
