"""What an API profile does not allow, and wrong uses of the media types of profiles: 400, 403, 405, 406 and 415.

No text says more about hidden members than that there are some: neither paths nor names nor values.
"""

from edfi_api.core.documents import exceptions as documents
from edfi_api.core.security.profiles import exceptions as profiles
from edfi_api.web.problem_details.catalog.registry import hinted, problem_of, quoted
from edfi_api.web.problem_details.hints import request_hints
from edfi_api.web.problem_details.problem import Problem

_USAGE = "The request construction was invalid with respect to usage of a data policy."
_HIDDEN_ITEM = "Submitted collection item failed the writable profile value filter."


@problem_of.register
def malformed_profile_media_type(error: profiles.MalformedProfileMediaType) -> Problem:
    return _invalid_usage(400, "The format of the profile-based content type header was invalid.")


@problem_of.register
@hinted(request_hints.unknown_profile)
def unknown_profile(error: profiles.UnknownProfile) -> Problem:
    return _invalid_usage(
        406 if error.header == "Accept" else 415,
        f"The profile '{error.profile}' specified by the content type in the '{error.header}' header is not supported "
        "by this host.",
    )


@problem_of.register
def profile_required(error: profiles.ProfileRequired) -> Problem:
    return _incorrect_usage(
        "Based on profile assignments, one of the following profile-specific content types is required when requesting "
        f"this resource: {quoted(error.media_types)}"
    )


@problem_of.register
def no_usable_profile(error: profiles.NoUsableProfile) -> Problem:
    return _incorrect_usage(
        "None of the profiles assigned to the caller provide a profile-specific content type for this resource and "
        "method."
    )


@problem_of.register
def other_resource_in_media_type(error: profiles.OtherResourceInMediaType) -> Problem:
    return _invalid_usage(
        400,
        f"The resource specified by the profile-based content type ('{error.sent}') does not match the requested "
        f"resource ('{error.resource}').",
    )


@problem_of.register
def wrong_profile_usage(error: profiles.WrongProfileUsage) -> Problem:
    return _invalid_usage(
        400,
        f"A profile-based content type that is {error.usage} cannot be used with {error.method} requests.",
    )


@problem_of.register
def resource_not_in_profile(error: profiles.ResourceNotInProfile) -> Problem:
    return _invalid_usage(
        400,
        f"Resource '{error.resource}' is not accessible through the '{error.profile}' profile specified by the content "
        "type.",
        detail=f"{_USAGE} The resource is not contained by the profile used by (or applied to) the request.",
    )


@problem_of.register
def no_part_for_usage(error: profiles.NoPartForUsage) -> Problem:
    return Problem(
        status=405,
        type="profile:method-usage",
        title="Method Not Allowed with Profile",
        detail=f"{_USAGE} An attempt was made to access a resource that is not {error.usage} using the profile.",
        validation_errors=None,
        errors=[f"Resource class '{error.resource}' is not {error.usage} using API profile '{error.profile}'."],
        headers={"Allow": ", ".join(error.allowed)},
    )


@problem_of.register
def hidden_items_sent(error: documents.HiddenItemsSent) -> Problem:
    return Problem(
        status=400,
        type="bad-request:data-validation-failed",
        title="Data Validation Failed",
        detail="The request data failed validation against the assigned profile. See 'validationErrors' for details.",
        validation_errors={path: [_HIDDEN_ITEM] for path in error.paths},
        errors=[_HIDDEN_ITEM for _ in error.paths],
    )


@problem_of.register
def creation_prevented(error: profiles.CreationPreventedByProfile) -> Problem:
    return _enforced(
        f"The Profile definition for '{error.profile}' excludes (or does not include) one or more required data "
        "elements needed to create the resource."
    )


@problem_of.register
def contradiction_prevented(error: profiles.ContradictionPreventedByProfile) -> Problem:
    return _enforced(
        f"The Profile definition for '{error.profile}' hides one or more stored data elements that do not agree with "
        "the supplied data."
    )


def _invalid_usage(status: int, message: str, detail: str = _USAGE) -> Problem:
    return Problem(
        status=status,
        type="profile:invalid-profile-usage",
        title="Invalid Profile Usage",
        detail=detail,
        validation_errors=None,
        errors=[message],
    )


def _incorrect_usage(message: str) -> Problem:
    return Problem(
        status=403,
        type="security:data-policy:incorrect-usage",
        title="Data Policy Failure Due to Incorrect Usage",
        detail="A data policy failure was encountered. The request was not constructed correctly for the data policy "
        "that has been applied to this data for the caller.",
        validation_errors=None,
        errors=[message],
    )


def _enforced(message: str) -> Problem:
    return Problem(
        status=400,
        type="data-policy-enforced",
        title="Data Policy Enforced",
        detail="The data cannot be saved because a data policy has been applied to the request that prevents it.",
        errors=[message],
    )
