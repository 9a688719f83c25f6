"""Vendors, their applications with the profiles of these, and API clients."""

import logging
from collections.abc import Sequence
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, ProtectedError, Q, QuerySet
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.core.data_stores.models import DataStore, Tenant
from edfi_api.core.data_stores.stores import visible_to
from edfi_api.core.queries.listing import Field, FieldType
from edfi_api.core.security.clients import (
    create_application,
    remove_application,
    remove_client,
    rotate_secret,
    set_approved,
    set_external_identity,
    store_client,
)
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.issuers import issuers
from edfi_api.core.security.models import ApiClient, ApiClientDataStore, Application, ExternalIdentity, Vendor
from edfi_api.core.security.profiles.loading import assign_profiles
from edfi_api.core.security.profiles.models import Profile, ProfileAssignment
from edfi_api.core.served import current_surface
from edfi_api.features.management_api import answers, problems, serializers, texts
from edfi_api.features.management_api.bodies import int32
from edfi_api.features.management_api.listing import BY_NAME, EXACT, Listing, rows_of
from edfi_api.features.management_api.views import CollectionViewSet, Refusals, assign
from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.model.profiles.json_files import canonical_json

_log = logging.getLogger(__name__)
_References = tuple[list[DataStore], list[Profile]]


def _integers(text: str) -> Sequence[int]:
    return [int32(each.strip()) for each in text.split(",")]


_IDS = Field("ids", "pk__in", FieldType(_integers, texts.NO_IDS))
_PREFIX = Field("namespacePrefixes", "namespace_prefixes__contains", FieldType(lambda text: [EXACT.read(text)]))


def applications_of(tenant: Tenant | None) -> QuerySet[Application]:
    """The applications of a tenant, with all that their serializer needs."""
    profiles = ProfileAssignment.objects.filter(application=OuterRef("pk")).order_by("profile_id")
    stores = ApiClientDataStore.objects.filter(api_client__application=OuterRef("pk")).order_by("data_store_id")
    return Application.objects.filter(vendor__tenant=tenant).annotate(
        data_store_ids=ArraySubquery(stores.distinct().values("data_store_id")),
        profile_ids=ArraySubquery(profiles.values("profile_id")),
        enabled=~Exists(ApiClient.objects.filter(application=OuterRef("pk"), is_active=False)),
    )


class VendorViewSet(CollectionViewSet):
    """Vendors with their namespace prefixes."""

    noun = "vendor"
    # Whether a POST of a vendor that exists changes it, and is answered with 200.
    post_changes_existing = True
    serializer_class = serializers.VendorSerializer
    action_serializers = {
        "update": serializers.VendorChangeSerializer,
        "applications": serializers.ApplicationSerializer,
    }
    listing = Listing(
        ("pk", "name", "contact_name", "contact_email"), ("pk", "name", _PREFIX, "contact_name", "contact_email")
    )
    refusals = {"vendor_once_per_tenant": ("Name", texts.VENDOR_TAKEN)}

    def get_queryset(self) -> QuerySet[Vendor]:
        return Vendor.objects.filter(tenant=self.tenant)

    def add(self, serializer: Any, values: dict[str, Any]) -> Response:
        if self.post_changes_existing:
            row, is_new = Vendor.objects.update_or_create(tenant=self.tenant, name=values.pop("name"), defaults=values)
        else:
            row, is_new = Vendor.objects.create(tenant=self.tenant, **values), True
        return self.created(row, status=201 if is_new else 200, members=",".join(serializer.members))

    def change(self, row: Vendor, serializer: Any, values: dict[str, Any]) -> None:
        row.save(update_fields=assign(row, values))

    def remove(self, row: Vendor) -> None:
        """Delete the vendor, with its applications and their clients."""
        # Locked, so that one that a concurrent request moves to another vendor stays.
        applications = list(Application.objects.select_for_update().filter(vendor=row).order_by("pk"))
        for application in applications:
            self.audit("application removed", id=application.pk)
            remove_application(application, by=self.by)
        row.delete()

    @action(detail=True, methods=["get"])
    def applications(self, request: Request, id: str) -> Response:
        """List the applications of a vendor, by name."""
        rows = applications_of(self.tenant).filter(vendor=self.found(id)).order_by("name", "pk")
        return Response(self.get_serializer(rows, many=True).data)


class ApplicationViewSet(CollectionViewSet):
    """Applications with their claim set, organizations, data stores and profiles."""

    noun = "application"
    serializer_class = serializers.ApplicationSerializer
    action_serializers = {"update": serializers.ApplicationChangeSerializer}
    action_answers = {
        "create": (201, answers.ApplicationCredentials),
        "reset_credential": (200, answers.ApplicationCredentials),
    }
    listing = Listing(("pk", "name", "vendor_id", "claim_set_name"), ("pk", _IDS, "name", "claim_set_name"))
    refusals = {"application_once_per_vendor": ("ApplicationName", texts.APPLICATION_TAKEN)}

    def get_queryset(self) -> QuerySet[Application]:
        return applications_of(self.tenant)

    def list(self, request: Request, **_: str) -> Response:
        if request.query_params.get("id") and request.query_params.get("ids"):
            raise problems.invalid_parameters([texts.ID_AND_IDS])
        return super().list(request)

    def add(self, serializer: Any, values: dict[str, Any]) -> Response:
        row = Application()
        stores, profiles = self._resolve(row, serializer, values)
        credentials = create_application(row, [store.pk for store in stores], by=self.by)
        self._assign_profiles(row, profiles)
        answer = self.created(row, _credentials(row, credentials), members=",".join(serializer.members))
        self._enable(row, values)
        return answer

    def change(self, row: Application, serializer: Any, values: dict[str, Any]) -> None:
        stores, profiles = self._resolve(row, serializer, values)
        row.save(update_fields=["vendor", "name", "claim_set_name", "education_organization_ids"])
        self._assign_profiles(row, profiles)
        if first := row.api_clients.order_by("pk").first():
            first.data_stores.set(stores)
        self._enable(row, values)

    def remove(self, row: Application) -> None:
        remove_application(row, by=self.by)

    @action(detail=True, methods=["put"], url_path="reset-credential")
    def reset_credential(self, request: Request, id: str) -> Response:
        """Make a new secret for the first client."""
        with self.write_transaction():
            row = self.found(id, for_update=True)
            client = row.api_clients.order_by("pk").first()
            if client is None:
                raise problems.not_found(texts.NOT_FOUND["apiClients"])
            return Response(_credentials(row, rotate_secret(client, by=self.by)))

    def _resolve(self, row: Application, serializer: Any, values: dict[str, Any]) -> _References:
        """Set the columns; return the data stores and profiles that the body refers to. Raises RequestRefused."""
        vendor: Any = Vendor.objects.filter(tenant=self.tenant, pk=values["vendor_id"] or 0).first()
        stores, no_stores = rows_of(DataStore, values["data_store_ids"], Q(tenant=self.tenant))
        profiles, no_profiles = rows_of(Profile, values["profile_ids"], visible_to(self.tenant))
        serializer.refuse_missing(vendor, no_stores, no_profiles, values["claim_set_name"])
        row.vendor, row.name, row.claim_set_name = vendor, values["name"], values["claim_set_name"]
        row.education_organization_ids = list(dict.fromkeys(values["education_organization_ids"]))
        return stores, profiles

    def _assign_profiles(self, row: Application, profiles: Sequence[Profile]) -> None:
        if profiles or ProfileAssignment.objects.filter(application=row).exists():
            assign_profiles(row, [profile.name for profile in profiles], by=self.by)

    def _enable(self, row: Application, values: dict[str, Any]) -> None:
        """Enable or disable all clients, if the body says so."""
        for client in row.api_clients.all() if "enabled" in values else ():
            set_approved(client, values["enabled"], by=self.by)


def _credentials(row: Application, credentials: Credentials) -> dict[str, Any]:
    return {"id": row.pk, "key": credentials.key, "secret": credentials.secret}


class ApiClientViewSet(CollectionViewSet):
    """Clients of applications. The item of version 3 is found by its key, and changed by its number."""

    noun = "API client"
    is_found_by_key = True
    metadata_actions = frozenset({"list", "retrieve"})
    serializer_class = serializers.ApiClientSerializer
    action_answers = {"create": (201, answers.ClientCredentials), "reset_credential": (200, answers.ClientCredentials)}
    listing = Listing(("pk", "application_id", "name"), ("application_id",))
    refusals = {
        "client_once_per_application": ("Name", texts.CLIENT_NAME_TAKEN),
        "external_identity_of_one_client": ("ExternalIdentity", texts.IDENTITY_TAKEN),
    }

    def get_queryset(self) -> QuerySet[ApiClient]:
        stores = ApiClientDataStore.objects.filter(api_client=OuterRef("pk")).order_by("data_store_id")
        rows: QuerySet[ApiClient] = (
            ApiClient.objects.filter(application__vendor__tenant=self.tenant)
            .select_related("external_identity", "application")
            .annotate(data_store_ids=ArraySubquery(stores.values("data_store_id")))
        )
        return rows

    def retrieve(self, request: Request, id: str) -> Response:
        if not self.is_found_by_key:
            return super().retrieve(request, id)
        row = self.get_queryset().filter(client_id=id.replace("\0", "\ufffd")).first()
        if row is None:
            raise self.missing()
        return Response(self.item(row))

    def add(self, serializer: Any, values: dict[str, Any]) -> Response:
        application, stores = self._resolve(serializer, values)
        client = ApiClient(name=values["name"])
        credentials = store_client(client, application, self.by, self._identity(values))
        client.data_stores.set(stores)
        set_approved(client, values["is_active"], by=self.by)
        return self.created(client, _client_credentials(client, credentials), members=",".join(serializer.members))

    def change(self, row: ApiClient, serializer: Any, values: dict[str, Any]) -> None:
        row.application, stores = self._resolve(serializer, values)
        row.name = values["name"]
        row.save(update_fields=["application", "name", "updated"])
        if "external_identity" in values:
            set_external_identity(row, self._identity(values), self.by)
        row.data_stores.set(stores)
        set_approved(row, values["is_active"], by=self.by)

    def remove(self, row: ApiClient) -> None:
        remove_client(row, by=self.by)

    @action(detail=True, methods=["put"], url_path="reset-credential")
    def reset_credential(self, request: Request, id: str) -> Response:
        """Make a new secret."""
        with self.write_transaction():
            row = self.found(id, for_update=True)
            return Response(_client_credentials(row, rotate_secret(row, by=self.by)))

    def _identity(self, values: dict[str, Any]) -> ExternalIdentity | None:
        """The external identity of a body. Raises RequestRefused for an issuer of another tenant."""
        sent = values.get("external_identity")
        if not sent:
            return None
        tenant = issuers()[sent["issuer"]].tenant
        if tenant is not None and (self.tenant is None or tenant.casefold() != self.tenant.name.casefold()):
            raise problems.invalid_data({"ExternalIdentity.Issuer": [texts.ISSUER_OF_OTHERS]})
        return ExternalIdentity(**sent)

    def _resolve(self, serializer: Any, values: dict[str, Any]) -> tuple[Application, list[DataStore]]:
        """The application and the data stores. Raises RequestRefused."""
        of_tenant = Application.objects.select_related("vendor").filter(vendor__tenant=self.tenant)
        application: Any = of_tenant.filter(pk=values["application_id"] or 0).first()
        stores, missing_stores = rows_of(DataStore, values["data_store_ids"], Q(tenant=self.tenant))
        if application is None or missing_stores:
            serializer.refuse_missing(values["application_id"] if application is None else None, missing_stores)
        return application, stores


def _client_credentials(client: ApiClient, credentials: Credentials) -> dict[str, Any]:
    return {
        "id": client.pk,
        "applicationId": client.application_id,
        "name": client.name,
        "key": credentials.key,
        "secret": credentials.secret,
    }


class ProfileViewSet(CollectionViewSet):
    """Profiles. One that does not fit the served standard is stored, and closes what it names."""

    noun = "profile"
    serializer_class = serializers.ProfileSerializer
    action_serializers = {"list": serializers.ListedProfileSerializer}
    action_answers = {"create": (201, answers.ProfileNotices)}
    listing = BY_NAME

    @property
    def refusals(self) -> Refusals:  # type: ignore[override]
        text = texts.PROFILE_TAKEN if self.action == "create" else texts.PROFILE_TAKEN_BY_OTHER
        return dict.fromkeys(("profile_once_per_tenant", "profile_name_is_not_shared"), ("Name", text))

    def get_queryset(self) -> QuerySet[Profile]:
        return Profile.objects.filter(visible_to(self.tenant))

    def add(self, serializer: Any, values: dict[str, Any]) -> Response:
        """Add a profile. With `?verbose=true` the answer also has what was found about the definition."""
        row = Profile(tenant=self.tenant)
        notices = self._store(row, values)
        is_verbose = self.request.query_params.get("verbose", "").lower() == "true"
        return self.created(row, {"notices": notices} if is_verbose else None)

    def change(self, row: Profile, serializer: Any, values: dict[str, Any]) -> None:
        self._refuse_shared(row)
        self._store(row, values)

    def remove(self, row: Profile) -> None:
        self._refuse_shared(row)
        try:
            row.delete()
        except ProtectedError:
            raise problems.refused("dependent item", texts.PROFILE_IN_USE) from None

    def _store(self, row: Profile, values: dict[str, Any]) -> list[str]:
        """Store the profile; return what was found about its definition, which is logged."""
        definition = serializers.profile_definition(values["definition"])
        row.name, row.sent = values["name"], values["definition"]
        row.definition = canonical_json(definition).decode()
        row.save()
        notices = [finding.text for finding in ProfileChecker(current_surface()).check(definition).findings]
        for text in notices:
            _log.warning("profile %s: %s", row.name, text)
        return notices

    def _refuse_shared(self, row: Profile) -> None:
        """Refuse a tenant's change of what is shared by all."""
        if row.tenant_id != (self.tenant and self.tenant.pk):
            raise problems.bad_request(texts.SHARED_PROFILE)
