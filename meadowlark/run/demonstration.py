"""What `make run` makes once, so that the first request that it prints is answered: a client, and what it needs.

A server with tenants or route qualifiers answers only clients with a data store. Where there is none, one in the
admin database is made; where there are tenants, they are the operator's, and commands are printed instead.
"""

import json
import secrets
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import date
from io import StringIO
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connection

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.connection_strings import MAIN
from edfi_api.features.loading.demo_district import SchoolYear
from edfi_api.model.examples import Bodies, Body
from edfi_api.model.surface.bundled_descriptors import bundled_values
from edfi_api.model.surface.resource import ResourceName
from meadowlark.run.demo_clients import READER, DemoVendor

if TYPE_CHECKING:
    from edfi_api.core.security.models import ApiClient

NAME = "demo"
_HIGH_SCHOOL = {"schoolId": 770_000_004}
_FORGOTTEN = {"studentUniqueId": "91001"}
_UNKNOWN = {"studentUniqueId": "91002"}
_OWN_WORDS = "uri://finch-rosters.example.org/AttendanceEventCategoryDescriptor#Skipped"
_SCHOOL_YEAR = "2026"
_OTHER_VALUE = "1"


@dataclass
class Client:
    """A client of the API, or of the management API. The secret is known only if the client has just been made.
    `missing` are the arguments of the commands that make a client which does not exist."""

    name: str
    key: str
    secret: str | None
    # The segments before `/data`; for a management client the path of a first request.
    address: str = ""
    is_for_management: bool = False
    missing: list[list[str]] = field(default_factory=list)
    # Clients of a new district that are to send documents, once there is a server.
    vendors: list[DemoVendor] = field(default_factory=list)


@dataclass
class _Place:
    """The place of the client's documents: the tenant, the values of the route qualifiers in the order of addresses,
    and the data store, if it exists.
    """

    tenant: str | None
    values: list[str]
    data_store: int | None

    @property
    def address(self) -> str:
        return "".join(f"/{segment}" for segment in [self.tenant, *self.values] if segment)

    def named(self, name: str) -> str:
        """The name of the client: those of several contexts have different ones."""
        return " ".join([name, *self.values])

    @property
    def of_tenant(self) -> list[str]:
        return ["--tenant", self.tenant] if self.tenant else []

    @property
    def context(self) -> dict[str, str]:
        return dict(zip(api_settings.ROUTE_QUALIFIERS, self.values, strict=True))


@dataclass(frozen=True)
class NewDistrict:
    """A district of so many students, as it is on this day."""

    students: int
    today: date


def make_client(name: str, claim_set: str, district: NewDistrict | None) -> dict[str, Any]:
    """The members of the `Client` of this server. A new one finds the district."""
    if api_settings.MANAGEMENT_ONLY:
        return asdict(_management_client(name))
    if api_settings.has_main_store:
        return asdict(_made_client(name, claim_set, _Place(None, [], None), district))
    tenant = _tenant()
    if tenant is None and api_settings.MULTI_TENANCY:
        call_command("create_tenant", NAME, stdout=sys.stderr)
        tenant = NAME
    place = _place(tenant)
    if tenant not in (None, NAME):
        return asdict(_printed_client(name, claim_set, place))
    if place.data_store is None:
        place.data_store = _store_in_admin_database(place)
    return asdict(_made_client(name, claim_set, place, district))


def make_administrator(name: str) -> dict[str, str | None]:
    """Make the administrator, and return its name and password; without the password if the user exists already."""
    users = get_user_model()
    if users.objects.filter(username=name).exists():
        return {"name": name, "password": None}
    password = secrets.token_urlsafe(12)
    users.objects.create_superuser(name, password=password)
    return {"name": name, "password": password}


def _tenant() -> str | None:
    """The tenant of the demonstration, or else the operator's first one."""
    from edfi_api.core.data_stores.models import Tenant  # noqa: PLC0415  Models need django.setup().

    if not api_settings.MULTI_TENANCY:
        return None
    names = list(Tenant.objects.values_list("name", flat=True))
    return NAME if NAME in names else next(iter(names), None)


def _place(tenant: str | None) -> _Place:
    """Return the place with the first data store of the tenant that has exactly the route qualifiers of this server."""
    from edfi_api.core.data_stores.models import DataStore  # noqa: PLC0415  Models need django.setup().

    qualifiers = [name.casefold() for name in api_settings.ROUTE_QUALIFIERS]
    for store in DataStore.objects.filter(tenant__name=tenant).prefetch_related("contexts"):
        context = {each.key.casefold(): each.value for each in store.contexts.all()}
        if context.keys() == set(qualifiers):
            return _Place(tenant, [context[name] for name in qualifiers], store.pk)
    return _Place(tenant, [_SCHOOL_YEAR if "year" in name else _OTHER_VALUE for name in qualifiers], None)


def _store_in_admin_database(place: _Place) -> int:
    """A data store of the documents in the admin database, which has been migrated; its id."""
    from edfi_api.core.data_stores.models import State, Tenant  # noqa: PLC0415  Models need django.setup().
    from edfi_api.core.data_stores.stores import create_data_store  # noqa: PLC0415  Likewise.
    from edfi_api.features.loading.provisioning import load_common_documents  # noqa: PLC0415  Likewise.

    load_common_documents(DEFAULT_DB_ALIAS)
    tenant = Tenant.objects.filter(name=place.tenant).first()
    store = create_data_store(NAME, context=place.context, connection=MAIN, tenant=tenant, state=State.ONLINE)
    return int(store.pk)


def _existing(name: str, place: _Place) -> "ApiClient | None":
    from edfi_api.core.security.models import ApiClient  # noqa: PLC0415  Models need django.setup().

    of_tenant = ApiClient.objects.filter(application__vendor__tenant__name=place.tenant)
    return of_tenant.filter(name=place.named(name)).order_by("pk").first()


def _made_client(name: str, claim_set: str, place: _Place, district: NewDistrict | None) -> Client:
    vendors = _make_district(district, place) if district and _existing(name, place) is None else []
    output = StringIO()
    options = ["--claim-set", claim_set, *place.of_tenant, "--if-exists", "keep", "--format", "json"]
    call_command("create_api_client", place.named(name), *options, stdout=output)
    client = _existing(name, place)
    if client and place.data_store is not None:
        client.data_stores.add(place.data_store)
    return Client(**json.loads(output.getvalue()), address=place.address, vendors=vendors)


def _printed_client(name: str, claim_set: str, place: _Place) -> Client:
    """The client that the operator makes with the printed commands, or has made so before."""
    from oauth2_provider.generators import generate_client_id  # noqa: PLC0415  It needs django.setup().

    if existing := _existing(name, place):
        return Client(existing.name, existing.client_id, None, place.address)
    key = generate_client_id()
    store = f"{place.tenant}/{NAME}" if place.data_store is None else str(place.data_store)
    create = ["create_api_client", place.named(name), "--claim-set", claim_set, *place.of_tenant]
    create += ["--data-store", store, "--key", key]
    missing = [create] if place.data_store is not None else [_provisioning(place), create]
    return Client(place.named(name), key, None, place.address, missing=missing)


def _provisioning(place: _Place) -> list[str]:
    context = ",".join(f"{name}={value}" for name, value in place.context.items())
    options = ["--context", context] if context else []
    return ["provision_data_store", NAME, "--url", MAIN, *place.of_tenant, *options]


def _management_client(name: str) -> Client:
    from edfi_api.features.management_api.clients import client_of_key, create  # noqa: PLC0415  Models need django.setup().
    from edfi_api.features.management_api.scopes import Scope  # noqa: PLC0415  Likewise.

    secret = None if client_of_key(name) else create(name, name, [Scope.FULL_ACCESS], by="command").secret
    # With tenants, all else needs one of them in a header.
    address = "/v3/tenants" if api_settings.MULTI_TENANCY else "/v3/claimSets"
    return Client(name, name, secret, address, is_for_management=True)


def _make_district(district: NewDistrict, place: _Place) -> list[DemoVendor]:
    """Load it, let rules look at it, and make views with a reader. Returns the vendors that are to write, once there
    is a server. Loading it again changes what clients have changed, and repeats nothing."""
    today = SchoolYear.of(district.today).today.isoformat()
    into = [] if place.data_store is None else ["--data-store", str(place.data_store)]
    with TemporaryDirectory() as folder:
        options = ["--students", str(district.students), "--today", today]
        call_command("generate_demo_district", "--output", folder, *options)
        output = StringIO()
        call_command("load_documents", folder, "--max-refused", "0", *into, stdout=output)
    sys.stderr.write(f"demo district: loaded {output.getvalue().splitlines()[-1]}\n")
    call_command("run_validation", "--today", today, *into, stdout=StringIO())
    call_command("create_sql_views", *_reader_options(), *into, stdout=StringIO())
    return list(_vendors(SchoolYear.of(district.today), place))


def has_reader() -> bool:
    """Return whether there is the role that reads the SQL views of the demonstration."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_roles WHERE rolname = %s", [READER])
        return cursor.fetchone() is not None


def _reader_options() -> list[str]:
    """Roles are common to all databases of a server, so one may be there that has no views yet."""
    return ["--reader" if has_reader() else "--create-reader", READER]


def _vendors(year: SchoolYear, place: _Place) -> Iterator[DemoVendor]:
    from edfi_api.core.served import current_surface  # noqa: PLC0415  It needs django.setup().

    bodies = Bodies(current_surface(), list(bundled_values(api_settings.data_standard)))
    for name, sent in _requests(bodies, year).items():
        output = StringIO()
        options = ["--vendor", name, "--claim-set", "EdFiSandbox", *place.of_tenant, "--if-exists", "new-secret"]
        call_command("create_api_client", place.named(name), *options, "--format", "json", stdout=output)
        client = _existing(name, place)
        if client and place.data_store is not None:
            client.data_stores.add(place.data_store)
        made = json.loads(output.getvalue())
        yield DemoVendor(name, made["key"], made["secret"], sent)


def _requests(bodies: Bodies, year: SchoolYear) -> dict[str, list[tuple[str, Body]]]:
    """Return what each vendor posts, completed by the model of the served standard, in this order."""
    drafts = _Drafts(bodies)
    entry = {"entryDate": year.labor_day.isoformat(), "entryGradeLevelDescriptor": "Ninth grade"}
    late = drafts.of("StudentSchoolAssociation", studentReference=_FORGOTTEN, schoolReference=_HIGH_SCHOOL, **entry)
    names = {"firstName": "Noor", "lastSurname": "Haddad", "birthDate": f"{year.year - 15}-10-04"}
    unknown = drafts.of("StudentSchoolAssociation", studentReference=_UNKNOWN, schoolReference=_HIGH_SCHOOL, **entry)
    path, skipped = drafts.of("StudentSchoolAttendanceEvent", eventDate=year.labor_day.isoformat())
    return {
        # The enrollment comes before its student, and again after it.
        "Lakeside SIS": [late, drafts.of("Student", **_FORGOTTEN, **names), late],
        "Finch Rosters": [unknown, (path, {**skipped, "attendanceEventCategoryDescriptor": _OWN_WORDS})],
    }


@dataclass(frozen=True)
class _Drafts:
    bodies: Bodies

    def of(self, name: str, **sparse: Any) -> tuple[str, Body]:
        surface = self.bodies.surface
        resource = surface.by_name[ResourceName(surface.core_project.name, name)]
        return resource.url_path, self.bodies.complete(resource, sparse, {})
