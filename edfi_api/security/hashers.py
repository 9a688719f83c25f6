"""Hashing of client secrets."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class ClientSecretHasher(PBKDF2PasswordHasher):
    """Django's PBKDF2 with few rounds, for secrets that were generated.

    Many rounds slow down the guessing of passwords that people choose. These secrets are random and longer than the
    hash, so guessing is infeasible anyway; a million rounds, Django's default, would only let unauthenticated requests
    to the token endpoint occupy a processor for a quarter of a second each. A thousand take a quarter of a millisecond.

    The algorithm keeps Django's name, with the number of rounds in the stored text. By the name the toolkit's field
    recognises hashed values. Verify with this class, not with `check_password`, which runs the missing rounds
    when a secret is wrong.
    """

    iterations = 1_000

    def hash(self, secret: str) -> str:
        """The text to store for `secret`, with a new salt."""
        return self.encode(secret, self.salt())
