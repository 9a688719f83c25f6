"""The part of the admin site that lets users in."""

from typing import Any, cast

from django.contrib import admin
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from edfi_api.common.conf import api_settings
from edfi_api.site.sign_in import provider_pages, second_factor, second_factor_pages, sessions


class SignInSite(admin.AdminSite):
    """Django's site, which also requires what the settings say about logging in. Otherwise its pages are Django's."""

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and sessions.is_sufficient(request)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return what every page has, and whether the user has a page of the second factor."""
        is_offered = bool(api_settings.SECOND_FACTOR) and not sessions.is_by_provider(request)
        return super().each_context(request) | {"second_factor_is_offered": is_offered}

    @property
    def login_template(self) -> str | None:  # type: ignore[override]  # Django's is an attribute.
        return "sign_in/login.html" if api_settings.SIGN_IN_ISSUER else None

    @property
    def logout_template(self) -> str:  # type: ignore[override]  # As above.
        return "sign_in/logged_out.html"

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if api_settings.SIGN_IN_ISSUER:
            extra_context = {
                "provider_name": api_settings.SIGN_IN_NAME,
                "password_login": api_settings.PASSWORD_LOGIN,
                "has_break_glass": bool(api_settings.BREAK_GLASS_USERS),
                **(extra_context or {}),
            }
        if request.method == "POST" and api_settings.SECOND_FACTOR:
            return self._password_login(request, extra_context or {})
        return super().login(request, extra_context)

    @method_decorator(never_cache)
    def _password_login(self, request: HttpRequest, extra_context: dict[str, Any]) -> HttpResponse:
        """Log in as Django does, but not yet a user who needs a second factor."""
        context = {
            **self.each_context(request),
            "title": "Log in",
            "subtitle": None,
            "app_path": request.get_full_path(),
            "username": request.user.get_username(),
            **extra_context,
        }
        if REDIRECT_FIELD_NAME not in request.GET and REDIRECT_FIELD_NAME not in request.POST:
            context[REDIRECT_FIELD_NAME] = reverse("admin:index", current_app=self.name)
        view = _FirstFactor.as_view(
            extra_context=context,
            authentication_form=self.login_form,
            template_name=self.login_template or "admin/login.html",
        )
        return cast(HttpResponse, view(request))

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        if not sessions.is_by_provider(request):
            return super().logout(request, extra_context)
        at_provider = {
            "provider_name": api_settings.SIGN_IN_NAME,
            "provider_logout": provider_pages.logout_url(request),
        }
        return super().logout(request, at_provider | (extra_context or {}))

    def get_urls(self) -> list[Any]:
        pages = second_factor_pages
        return [
            path("login/provider/", never_cache(provider_pages.start), name="provider_login"),
            path("login/provider/callback/", never_cache(provider_pages.callback), name="provider_callback"),
            path("login/code/", never_cache(pages.code_page), name="second_factor_code"),
            path("login/set-up/", never_cache(pages.set_up_page), name="second_factor_set_up"),
            path("second-factor/", self.admin_view(pages.own_page), name="second_factor"),
            *super().get_urls(),
        ]


class _FirstFactor(LoginView):
    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        user = form.get_user()
        if not second_factor.is_needed(user):
            return super().form_valid(form)
        sessions.begin(self.request, user, self.get_success_url())
        page = "second_factor_code" if second_factor.has_authenticator(user) else "second_factor_set_up"
        return HttpResponseRedirect(reverse(f"admin:{page}"))
