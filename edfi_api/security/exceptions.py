"""What security refuses, as facts; `problem_details` words the answers."""

from dataclasses import dataclass


class AuthenticationFailed(Exception):
    """The caller did not show a valid token. `reason` is the sentence that the Ed-Fi API gives for it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnusableToken(Exception):
    """The token to be looked into is missing, or is not the caller's own. `reason` is the Ed-Fi API's sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass
class ResourceAccessDenied(Exception):
    """Nothing in the client's claim set concerns the resource."""

    claim_set_name: str
    resource_name: str


@dataclass
class ActionAccessDenied(Exception):
    """The claim set concerns the resource, and does not grant the action."""

    claim_set_name: str
    resource_name: str
    action: str


@dataclass
class StrategiesNotDefined(Exception):
    """The action is granted, but neither the grant nor the hierarchy says by which strategies: the operator's fault."""

    action: str
    resource_claim_uri: str
    granted_claim_uri: str


@dataclass
class ClaimSetVanished(Exception):
    """The client's claim set is no longer there: the operator's fault."""

    claim_set_name: str


class ClaimSetNotFound(Exception):
    """The claim set of the client who asks about itself is no longer there."""


@dataclass
class TooManyRequests(Exception):
    """The caller asks too often, and may come back after so many seconds."""

    retry_after: int


@dataclass
class UnknownStrategies(Exception):
    """Strategies are named that there are none of, or none for the action: the operator's fault."""

    names: tuple[str, ...]


@dataclass
class StrategyNotApplicable(Exception):
    """The documents of the resource have nothing that the strategy could look at: the operator's fault."""

    resource_name: str
    strategy: str
    elements: str


@dataclass
class ElementUninitialized(Exception):
    """Stored values by which relationship strategies decide are not there."""

    elements: tuple[str, ...]
    strategies: tuple[str, ...]
    hints: tuple[str, ...]


@dataclass
class ElementRequired(Exception):
    """Proposed values by which relationship strategies decide are not there, or refer to nothing."""

    elements: tuple[str, ...]
    hints: tuple[str, ...]


@dataclass
class NoRelationship(Exception):
    """Nothing leads from the client's education organizations to these elements of the document."""

    education_organization_ids: tuple[int, ...]
    elements: tuple[str, ...]
    hints: tuple[str, ...]


@dataclass
class ViewElementUninitialized(Exception):
    """A stored reference by which a custom view decides is not there."""

    elements: tuple[str, ...]
    strategy: str
    hints: tuple[str, ...]


@dataclass
class ViewElementRequired(Exception):
    """A proposed reference by which a custom view decides is not there, or refers to nothing."""

    elements: tuple[str, ...]
    hints: tuple[str, ...]


@dataclass
class NotInView(Exception):
    """The document with these key values is not in a custom view."""

    elements: tuple[str, ...]
    hints: tuple[str, ...]
    is_stored: bool


class NoNamespacePrefixes(Exception):
    """Namespaces decide, and the client has no prefixes to compare them with."""


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
    """Nobody is known to have created the document."""


class OwnershipMismatch(Exception):
    """Another client has created the document."""


# Why an action on a resource cannot be authorized at all, whatever the document.
UNAUTHORIZABLE = (
    ActionAccessDenied,
    ResourceAccessDenied,
    StrategiesNotDefined,
    StrategyNotApplicable,
    UnknownStrategies,
)
