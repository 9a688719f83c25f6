"""Dismissing a result: the form, the filter of the list, and what a page tells of it."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from edfi_api.common.logs import audit
from edfi_api.features.validation.models import ValidationDismissal, ValidationResult
from edfi_api.web.admin_kit.list_filters import ResolutionFilter
from edfi_api.web.admin_kit.store_choice import address_with_store, shown_in
from edfi_api.web.admin_kit.timestamps import written_timestamp

_DISMISSED = "dismissed"
_RESULT = "admin:validation_validationresult_change"
_ADD = "validation.add_validationdismissal"
# Who accepts a violation looks at it again within a year.
_LONGEST = timedelta(days=366)


class DismissalForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """Why a result is no problem, and until when."""

    class Meta:
        model = ValidationDismissal
        fields = ["reason", "until"]
        widgets = {"until": forms.DateInput(attrs={"type": "date"}), "reason": forms.Textarea(attrs={"rows": 3})}

    def clean_until(self) -> Any:
        until, today = self.cleaned_data["until"], timezone.localdate()
        if not today <= until <= today + _LONGEST:
            raise ValidationError(f"The day must be between {today} and {today + _LONGEST}.")
        return until


class ResultStateFilter(ResolutionFilter):
    """Open results are those that nobody has dismissed."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        first, *others = super().lookups(request, model_admin)
        return [first, (_DISMISSED, _DISMISSED), *others]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.chosen not in {_DISMISSED, "open"}:
            return super().queryset(request, queryset)
        is_dismissed = Exists(current(queryset.db).filter(result_key=OuterRef("result_key")))
        found = queryset.filter(resolved_at=None)
        return found.filter(is_dismissed) if self.chosen == _DISMISSED else found.exclude(is_dismissed)


def current(using: str) -> QuerySet[ValidationDismissal]:
    """Dismissals whose last day is not over."""
    return ValidationDismissal.objects.using(using).filter(until__gte=timezone.localdate())


def summary(result: ValidationResult) -> str:
    """The dismissals of a violation, the latest first; a dash without any."""
    found = ValidationDismissal.objects.using(result._state.db).filter(result_key=result.result_key)
    lines = [
        f"until {each.until} by {each.username}, {written_timestamp(each.dismissed_at)}: {each.reason}"
        for each in found.order_by("-id")[:10]
    ]
    return "; ".join(lines) or "-"


def dismiss_page(request: HttpRequest, site: AdminSite, row: int) -> HttpResponse:
    """GET shows the form, POST stores the dismissal. Raises PermissionDenied."""
    if not request.user.has_perms([_ADD, "validation.view_validationresult"]):
        raise PermissionDenied
    using = shown_in(request).using
    result = get_object_or_404(ValidationResult.objects.using(using).select_related("rule"), pk=row)
    form = DismissalForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        dismissal = form.save(commit=False)
        dismissal.result_key, dismissal.username = result.result_key, request.user.get_username()
        dismissal.save(using=using)
        audit.administered("validation result dismissed", by=request.user.get_username(), result=result.pk)
        messages.success(request, f"The result is dismissed until {dismissal.until}.")
        return HttpResponseRedirect(reverse(_RESULT, args=[row]))
    context = {
        **site.each_context(request),
        "title": "Dismiss a result",
        "subtitle": str(result.rule),
        "result": result,
        "form": form,
        "form_address": address_with_store(request),
    }
    return TemplateResponse(request, "admin/validation/validationresult/dismiss.html", context)


def may_dismiss(request: HttpRequest) -> bool:
    """Whether the user may."""
    return bool(request.user.has_perm(_ADD))
