"""The databases EdFi_Admin and EdFi_Security of an ODS/API → what they say, as values; nothing is written here."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg.conninfo import make_conninfo

from edfi_api.core.data_stores.databases import alias_of, allowed_destination
from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.data_stores.stores import set_connection
from edfi_api.core.security.claim_names import action_named, claim_of
from edfi_api.core.security.claims.model import ByAction, Claims, ClaimSetValue, ResourceClaimValue
from edfi_api.features.loading.provisioning import create_from_template, fill, provision
from edfi_api.features.ods_import.ods_source import OdsSource, SourceUnusable

_INSTANCES_OF_CLIENTS = "dbo.apiclientodsinstances"


@dataclass(frozen=True)
class OdsClient:
    """A client of an application; `secret` is its hash or, if not `is_hashed`, the secret itself.

    `organizations` are those that its tokens have; `creator_token` marks the documents that it creates, `tokens` are
    those of documents that it may work with.
    """

    id: int
    key: str
    secret: str = field(repr=False)
    is_hashed: bool
    name: str
    is_approved: bool
    organizations: frozenset[int]
    instances: frozenset[int]
    creator_token: int | None
    tokens: frozenset[int]


@dataclass(frozen=True)
class OdsApplication:
    id: int
    name: str
    claim_set: str
    operational_context: str
    organizations: frozenset[int]
    profiles: tuple[str, ...]
    clients: tuple[OdsClient, ...]


@dataclass(frozen=True)
class OdsVendor:
    id: int
    name: str
    prefixes: tuple[str, ...]
    applications: tuple[OdsApplication, ...]


@dataclass(frozen=True)
class OdsInstance:
    """A database of documents, with its context in addresses; `derivatives` are its replicas and snapshots."""

    id: int
    name: str
    type: str
    context: Mapping[str, str]
    derivatives: tuple[str, ...]


@dataclass(frozen=True)
class Administration:
    """`profiles` are their definitions in XML by name; `orphaned` are clients that belong to no application. Without
    `names_instances`, a database of an earlier version, it does not say which instances a client uses."""

    vendors: tuple[OdsVendor, ...]
    profiles: Mapping[str, str]
    instances: tuple[OdsInstance, ...]
    orphaned: tuple[str, ...]
    names_instances: bool


def administration(admin: OdsSource) -> Administration:
    """Return what the database EdFi_Admin has. Raises SourceUnusable."""
    return _AdminReader(admin).read()


class _AdminReader:
    def __init__(self, admin: OdsSource) -> None:
        self._admin = admin

    def read(self) -> Administration:
        clients = self._clients()
        applications = self._applications(clients)
        prefixes = self._grouped(
            "SELECT vendor_vendorid, namespaceprefix FROM dbo.vendornamespaceprefixes ORDER BY 1, 2"
        )
        vendors = tuple(
            OdsVendor(id_, name or f"Vendor {id_}", tuple(prefixes[id_]), tuple(applications[id_]))
            for id_, name in self._admin.rows("SELECT vendorid, vendorname FROM dbo.vendors ORDER BY 1")
        )
        profiles = "SELECT profilename, profiledefinition::text FROM dbo.profiles WHERE profiledefinition IS NOT NULL"
        orphaned = "SELECT key FROM dbo.apiclients WHERE application_applicationid IS NULL ORDER BY 1"
        return Administration(
            vendors,
            dict(self._admin.rows(profiles)),
            tuple(self._instances()),
            tuple(key for (key,) in self._admin.rows(orphaned)),
            _INSTANCES_OF_CLIENTS in self._admin.tables,
        )

    def _clients(self) -> dict[int, list[OdsClient]]:
        organizations = self._grouped(
            "SELECT c.apiclient_apiclientid, o.educationorganizationid"
            "  FROM dbo.apiclientapplicationeducationorganizations c"
            "  JOIN dbo.applicationeducationorganizations o"
            "    ON o.applicationeducationorganizationid = c.applicationedorg_applicationedorgid"
        )
        instances = self._of_later_versions(
            _INSTANCES_OF_CLIENTS, "SELECT apiclient_apiclientid, odsinstance_odsinstanceid FROM {}"
        )
        tokens = self._of_later_versions(
            "dbo.apiclientownershiptokens", "SELECT apiclient_apiclientid, ownershiptoken_ownershiptokenid FROM {}"
        )
        creator = "creatorownershiptokenid_ownershiptokenid"
        has_creators = creator in self._admin.tables.get("dbo.apiclients", ())
        found: dict[int, list[OdsClient]] = defaultdict(list)
        for application, id_, key, secret, is_hashed, name, is_approved, token in self._admin.rows(
            "SELECT application_applicationid, apiclientid, key, secret, secretishashed, name, isapproved,"
            f"      {creator if has_creators else 'NULL'}"
            "  FROM dbo.apiclients WHERE application_applicationid IS NOT NULL ORDER BY apiclientid"
        ):
            found[application].append(
                OdsClient(
                    id_,
                    key,
                    secret,
                    is_hashed,
                    name,
                    is_approved,
                    frozenset(organizations[id_]),
                    frozenset(instances[id_]),
                    token,
                    frozenset(tokens[id_]),
                )
            )
        return found

    def _applications(self, clients: Mapping[int, list[OdsClient]]) -> dict[int, list[OdsApplication]]:
        organizations = self._grouped(
            "SELECT application_applicationid, educationorganizationid FROM dbo.applicationeducationorganizations"
        )
        profiles = self._grouped(
            "SELECT a.application_applicationid, p.profilename"
            "  FROM dbo.profileapplications a JOIN dbo.profiles p ON p.profileid = a.profile_profileid ORDER BY 1, 2"
        )
        found: dict[int, list[OdsApplication]] = defaultdict(list)
        for vendor, id_, name, claim_set, context in self._admin.rows(
            "SELECT vendor_vendorid, applicationid, applicationname, claimsetname, operationalcontexturi"
            "  FROM dbo.applications ORDER BY applicationid"
        ):
            application = OdsApplication(
                id_,
                name or f"Application {id_}",
                claim_set or "",
                context,
                frozenset(organizations[id_]),
                tuple(profiles[id_]),
                tuple(clients.get(id_, ())),
            )
            found[vendor].append(application)
        return found

    def _instances(self) -> list[OdsInstance]:
        contexts = self._of_later_versions(
            "dbo.odsinstancecontexts", "SELECT odsinstance_odsinstanceid, ARRAY[contextkey, contextvalue] FROM {}"
        )
        derivatives = self._of_later_versions(
            "dbo.odsinstancederivatives", "SELECT odsinstance_odsinstanceid, derivativetype FROM {} ORDER BY 1, 2"
        )
        rows = self._admin.rows("SELECT odsinstanceid, name, instancetype FROM dbo.odsinstances ORDER BY 1")
        return [
            OdsInstance(id_, name, type_ or "", dict(contexts[id_]), tuple(derivatives[id_]))
            for id_, name, type_ in rows
        ]

    def _of_later_versions(self, table: str, query: str) -> dict[int, list[Any]]:
        """Return rows of a table that earlier versions of the ODS/API do not have."""
        return self._grouped(query.format(table)) if table in self._admin.tables else defaultdict(list)

    def _grouped(self, query: str) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = defaultdict(list)
        for key, value in self._admin.rows(query):
            found[key].append(value)
        return found


@dataclass(frozen=True)
class SecurityClaims:
    """The resource claims, by their URIs, and the claim sets of the database EdFi_Security, as `claims`.

    What of them cannot be said here are lines: `lost` are grants and default strategies, `left_out` is all else.
    """

    claims: Claims
    lost: list[str]
    left_out: list[str]


def security_claims(security: OdsSource) -> SecurityClaims:
    """Raises SourceUnusable, also if it has them in tables that are not known."""
    lost: list[str] = []
    left_out: list[str] = []
    of_defaults, of_grants = _statements(security)
    uris = dict(security.rows("SELECT c.resourceclaimid, c.claimname FROM dbo.resourceclaims c ORDER BY 1"))
    parents = dict(security.rows("SELECT resourceclaimid, parentresourceclaimid FROM dbo.resourceclaims"))
    sets = dict(security.rows("SELECT claimsetid, claimsetname FROM dbo.claimsets ORDER BY claimsetname"))
    defaults: dict[int, ByAction] = defaultdict(dict)
    for _, claim, action, strategies, rules in security.rows(of_defaults):
        if (known := action_named(action)) is None:
            lost.append(f"{action} of {claim_of(uris[claim])} by default: there is no such action")
        elif strategies:
            defaults[claim][known] = tuple(strategies)
        if rules:
            left_out.append(f"the set of validation rules {rules}")
    resource_claims = {uri: ResourceClaimValue(uris.get(parents[id_]), defaults[id_]) for id_, uri in uris.items()}
    claim_sets = {name: ClaimSetValue("", {}) for name in sets.values()}
    for claim_set, claim, action, strategies, rules in security.rows(of_grants):
        if (known := action_named(action)) is None:
            lost.append(f"{sets[claim_set]}: {action} of {claim_of(uris[claim])}: there is no such action")
        else:
            claim_sets[sets[claim_set]].grants.setdefault(uris[claim], {})[known] = tuple(strategies or ())
        if rules:
            left_out.append(f"the set of validation rules {rules}")
    return SecurityClaims(Claims(resource_claims, claim_sets), lost, left_out)


# A claim set (0 for the defaults), a resource claim, an action, the strategies in the order in which they were given,
# and a set of validation rules.
_DEFAULTS = """
SELECT 0, a.resourceclaimid, c.actionname,
       (SELECT array_agg(s.authorizationstrategyname ORDER BY o.resourceclaimactionauthorizationstrategyid)
          FROM dbo.resourceclaimactionauthorizationstrategies o
          JOIN dbo.authorizationstrategies s ON s.authorizationstrategyid = o.authorizationstrategyid
         WHERE o.resourceclaimactionid = a.resourceclaimactionid), a.validationrulesetname
  FROM dbo.resourceclaimactions a JOIN dbo.actions c ON c.actionid = a.actionid
"""
_GRANTS = """
SELECT a.claimsetid, a.resourceclaimid, c.actionname,
       (SELECT array_agg(s.authorizationstrategyname
                         ORDER BY o.claimsetresourceclaimactionauthorizationstrategyoverrideid)
          FROM dbo.claimsetresourceclaimactionauthorizationstrategyoverrides o
          JOIN dbo.authorizationstrategies s ON s.authorizationstrategyid = o.authorizationstrategyid
         WHERE o.claimsetresourceclaimactionid = a.claimsetresourceclaimactionid), a.validationrulesetnameoverride
  FROM dbo.claimsetresourceclaimactions a JOIN dbo.actions c ON c.actionid = a.actionid
"""


# The query for databases of earlier versions, which have one strategy at most for each action.
_EARLIER_DEFAULTS = """
SELECT 0, m.resourceclaim_resourceclaimid, c.actionname,
       array_remove(ARRAY[s.authorizationstrategyname], NULL), m.validationrulesetname
  FROM dbo.resourceclaimauthorizationmetadatas m JOIN dbo.actions c ON c.actionid = m.action_actionid
  LEFT JOIN dbo.authorizationstrategies s ON s.authorizationstrategyid = m.authorizationstrategy_authorizationstrategyid
"""
_EARLIER_GRANTS = """
SELECT g.claimset_claimsetid, g.resourceclaim_resourceclaimid, c.actionname,
       array_remove(ARRAY[s.authorizationstrategyname], NULL), g.validationrulesetnameoverride
  FROM dbo.claimsetresourceclaims g JOIN dbo.actions c ON c.actionid = g.action_actionid
  LEFT JOIN dbo.authorizationstrategies s
    ON s.authorizationstrategyid = g.authorizationstrategyoverride_authorizationstrategyid
"""


def has_earlier_claims(security: OdsSource) -> bool:
    """Return whether the claims are in the tables of earlier versions. A later database may have both, and the earlier
    ones are no longer used."""
    return "dbo.claimsetresourceclaimactions" not in security.tables


def _statements(security: OdsSource) -> tuple[str, str]:
    if not has_earlier_claims(security):
        return _DEFAULTS, _GRANTS
    if "dbo.claimsetresourceclaims" not in security.tables:
        raise SourceUnusable(
            "it has neither dbo.claimsetresourceclaimactions nor dbo.claimsetresourceclaims, so it is no database"
            " EdFi_Security, or one of a version that is not known; load_claim_sets takes claim sets from a file"
        )
    return _EARLIER_DEFAULTS, _EARLIER_GRANTS


# PostgreSQL cuts names at 63 bytes.
_LONGEST_BEGINNING = 40


def provision_on_server(store: DataStore, address: str | None) -> None:
    """Give the data store a database on the server of this connection string, by default that of the admin database,
    unless it leads to one already; then it is online. Can be repeated.

    Raises ConnectionUnusable, ValidationError, NoStoreKey, DatabaseError.
    """
    if store.connection is None:
        set_connection(store, _connection_on_server(address or _control(), store))
    using = alias_of(read_table().stores[store.pk].primary)
    create_from_template(using, fill)
    provision(store, using)


def _connection_on_server(address: str, store: DataStore) -> str:
    """The connection string of a database of the same server, named after that one and the data store."""
    where = allowed_destination(address)
    beginning = re.sub(r"\W+", "_", f"{where.database}_{store.name}".lower(), flags=re.ASCII)[:_LONGEST_BEGINNING]
    given = {"host": where.host, "port": where.port, "user": where.user, "password": where.password, **where.options}
    return make_conninfo(dbname=f"{beginning}_{store.pk}", **{name: value for name, value in given.items() if value})


def _control() -> str:
    """The connection string of the admin database."""
    given = connections[DEFAULT_DB_ALIAS].get_connection_params()
    names = ("host", "port", "user", "password", "dbname", "sslmode", "target_session_attrs")
    return make_conninfo(**{name: given[name] for name in names if given.get(name)})
