"""What a client may not do whatever the document: 401, 403 and 429, and 500 if security is configured wrongly."""

from dataclasses import replace

from edfi_api.core.security import exceptions as security
from edfi_api.web.problem_details.catalog.data_stores import unavailable
from edfi_api.web.problem_details.catalog.registry import hinted, problem_of, quoted
from edfi_api.web.problem_details.hints import document_hints, request_hints
from edfi_api.web.problem_details.problem import Problem


@problem_of.register
@hinted(request_hints.authentication_failed)
def authentication_failed(error: security.AuthenticationFailed) -> Problem:
    return Problem(
        status=401,
        type="security:authentication",
        title="Authentication Failed",
        detail="The caller could not be authenticated.",
        validation_errors=None,
        errors=[error.reason],
        headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
    )


@problem_of.register
@hinted(request_hints.authentication_failed)
def token_refused(error: security.TokenRefused) -> Problem:
    """Return the problem of any other invalid token; only the logs have the cause."""
    issuer = {} if error.issuer is None else {"issuer": error.issuer}
    problem = authentication_failed(error)
    return replace(problem, audit_reason=error.cause, log_facts={"reason": error.cause, **issuer})


@problem_of.register
def identity_provider_away(error: security.IdentityProviderAway) -> Problem:
    return unavailable(error.retry_after, issuer=error.issuer)


@problem_of.register
def claim_set_not_found(error: security.ClaimSetNotFound) -> Problem:
    return Problem(
        status=401,
        type="unauthorized",
        title="Unauthorized",
        detail="The client's ClaimSet was not found.",
        validation_errors=None,
    )


@problem_of.register
def unusable_token(error: security.UnusableToken) -> Problem:
    return Problem(
        status=400,
        type="bad-request",
        title="Bad Request",
        detail="An invalid token was provided",
        errors=[error.reason],
    )


@problem_of.register
@hinted(document_hints.not_granted)
def resource_access_denied(error: security.ResourceAccessDenied) -> Problem:
    return _action_denied("resource")


@problem_of.register
@hinted(document_hints.not_granted)
def action_access_denied(error: security.ActionAccessDenied) -> Problem:
    return _action_denied(
        "action",
        f"The API client's assigned claim set (currently '{error.claim_set_name}') must grant permission of the "
        f"'{error.action}' action on one of the following resource claims: {error.resource_name}",
    )


def _action_denied(what: str, *errors: str) -> Problem:
    return Problem(
        status=403,
        type=f"security:authorization:access-denied:{what}",
        title="Authorization Denied",
        detail="Access to the resource could not be authorized.",
        errors=list(errors),
    )


@problem_of.register
@hinted(request_hints.too_many_requests)
def too_many_requests(error: security.TooManyRequests) -> Problem:
    return Problem(
        status=429,
        type="too-many-requests",
        title="Too Many Requests",
        detail="The number of allowed requests has been exceeded. Retry the request later.",
        headers={"Retry-After": str(error.retry_after)},
    )


@problem_of.register
def unknown_strategies(error: security.UnknownStrategies) -> Problem:
    return _security_configuration(
        "Could not find authorization strategy implementations for the following strategy names: "
        f"{quoted(error.names)}."
    )


@problem_of.register
def strategy_not_applicable(error: security.StrategyNotApplicable) -> Problem:
    collections = (
        " Collection-level Namespace paths are not eligible for namespace authorization."
        if error.elements == "Namespace"
        else ""
    )
    return _security_configuration(
        f"The resource '{error.resource_name}' is configured with the '{error.strategy}' authorization strategy, but "
        f"no {error.elements} securable element resolves to a root table column.{collections}"
    )


@problem_of.register
def claim_set_vanished(error: security.ClaimSetVanished) -> Problem:
    return _security_configuration("No security metadata has been configured for this resource.")


@problem_of.register
def strategies_not_defined(error: security.StrategiesNotDefined) -> Problem:
    return _security_configuration(
        f"No authorization strategies were defined for the requested action '{error.action}' against resource URIs "
        f"['{error.resource_claim_uri}'] matched by the caller's claim '{error.granted_claim_uri}'."
    )


def _security_configuration(message: str) -> Problem:
    return Problem(
        status=500,
        type="system:configuration:security",
        title="Security Configuration Error",
        detail="A security configuration problem was detected. The request cannot be authorized.",
        errors=[message],
    )
