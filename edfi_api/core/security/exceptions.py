"""Exceptions of authentication and authorization, with the facts that `problem_details` puts into words."""

from dataclasses import dataclass


class AuthenticationFailed(Exception):
    """The request has no valid token. `reason` is the sentence that the Ed-Fi API uses for it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TokenRefused(AuthenticationFailed):
    """The token of another identity provider is refused for `cause`, which only the audit log has. `issuer` is None
    unless it is one of the settings."""

    def __init__(self, cause: str, issuer: str | None = None) -> None:
        super().__init__("Invalid token")
        self.cause = cause
        self.issuer = issuer


@dataclass
class IdentityProviderAway(Exception):
    """It cannot be known whether a token is valid: the keys of its issuer cannot be had. `retry_after` is in
    seconds."""

    issuer: str
    retry_after: int


class UnusableToken(Exception):
    """The token to introspect is missing, or is not the caller's own, `other`. `reason` is Ed-Fi's message."""

    def __init__(self, reason: str, other: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.other = other


@dataclass
class ResourceAccessDenied(Exception):
    """The client's claim set has no grant that covers the resource."""

    claim_set_name: str
    resource_name: str


@dataclass
class ActionAccessDenied(Exception):
    """The claim set covers the resource but does not grant the action."""

    claim_set_name: str
    resource_name: str
    action: str


@dataclass
class StrategiesNotDefined(Exception):
    """The action is granted without strategies from the grant or the claim hierarchy: a configuration error."""

    action: str
    resource_claim_uri: str
    granted_claim_uri: str


@dataclass
class ClaimSetVanished(Exception):
    """The client's claim set does not exist, or was deleted: a configuration error."""

    claim_set_name: str


class ClaimSetNotFound(Exception):
    """Token introspection finds that the client's claim set was deleted."""


@dataclass
class TooManyRequests(Exception):
    """A rate limit is exceeded; `retry_after` is in seconds."""

    retry_after: int


@dataclass
class UnknownStrategies(Exception):
    """Configured strategies do not exist, or not for the action: a configuration error."""

    names: tuple[str, ...]


@dataclass
class StrategyNotApplicable(Exception):
    """The resource lacks the elements that the strategy needs: a configuration error."""

    resource_name: str
    strategy: str
    elements: str


@dataclass
class ElementUninitialized(Exception):
    """Stored values that relationship strategies need are missing."""

    elements: tuple[str, ...]
    strategies: tuple[str, ...]
    hints: tuple[str, ...]


@dataclass
class ElementRequired(Exception):
    """Proposed values that relationship strategies need are missing, or are in unresolved references: all of them if
    `are_unresolved`. `compared` are all elements that the strategies compare, with the hints about them."""

    elements: tuple[str, ...]
    hints: tuple[str, ...]
    education_organization_ids: tuple[int, ...] = ()
    are_unresolved: bool = False
    compared: tuple[str, ...] = ()
    hints_of_compared: tuple[str, ...] = ()


@dataclass
class NoRelationship(Exception):
    """No relationship connects the client's education organizations with these elements of the document. `compared`
    are all elements that the strategies compare, with the hints about them."""

    education_organization_ids: tuple[int, ...]
    elements: tuple[str, ...]
    hints: tuple[str, ...]
    compared: tuple[str, ...] = ()
    hints_of_compared: tuple[str, ...] = ()


@dataclass
class ViewElementUninitialized(Exception):
    """A stored reference that a custom view needs is missing."""

    elements: tuple[str, ...]
    strategy: str
    hints: tuple[str, ...]


@dataclass
class ViewElementRequired(Exception):
    """A proposed reference that a custom view needs is missing or does not resolve."""

    elements: tuple[str, ...]
    hints: tuple[str, ...]


@dataclass
class NotInView(Exception):
    """The document with these key values is not in a custom view."""

    elements: tuple[str, ...]
    hints: tuple[str, ...]
    is_stored: bool


@dataclass
class NoEducationOrganizations(Exception):
    """The strategy compares education organizations, and the client has none."""

    strategy: str


class NoNamespacePrefixes(Exception):
    """The strategy compares namespaces, and the client has no namespace prefixes."""


class NamespaceUninitialized(Exception):
    """The stored document has no namespace."""


class NamespaceRequired(Exception):
    """The proposed document has no namespace."""


@dataclass
class NamespaceMismatch(Exception):
    """The namespace begins with none of the client's prefixes."""

    prefixes: tuple[str, ...]
    is_stored: bool


class OwnershipUninitialized(Exception):
    """The document has no recorded creator."""


class OwnershipMismatch(Exception):
    """Another client created the document."""


# Reasons why an action on a resource cannot be authorized for any document.
UNAUTHORIZABLE = (
    ActionAccessDenied,
    ResourceAccessDenied,
    StrategiesNotDefined,
    StrategyNotApplicable,
    UnknownStrategies,
)

# Reasons why a client can read no document of a resource.
UNREADABLE = (*UNAUTHORIZABLE, NoEducationOrganizations, NoNamespacePrefixes)

# Reasons why a policy denies access to one document.
AUTHORIZATION_REFUSALS = (
    ElementRequired,
    ElementUninitialized,
    NamespaceMismatch,
    NamespaceRequired,
    NamespaceUninitialized,
    NoNamespacePrefixes,
    NoRelationship,
    NotInView,
    OwnershipMismatch,
    OwnershipUninitialized,
    ViewElementRequired,
    ViewElementUninitialized,
)
