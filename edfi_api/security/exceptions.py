"""What security refuses, as facts; `problem_details` words the answers."""


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
