"""How client secrets are hashed."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class ClientSecretHasher(PBKDF2PasswordHasher):
    """Django's PBKDF2 with few rounds, for secrets that were generated.

    Many rounds make it dear to guess what a person chose. Our secrets are random and longer than the hash itself, so
    nobody can guess them at any price; a million rounds, Django's default, would only let anyone keep a processor busy
    for a quarter of a second by calling the token endpoint with nonsense. A thousand take a quarter of a millisecond.

    The algorithm keeps Django's name, with the number of rounds in the stored text. By that name the toolkit's field
    sees that a value is hashed already. Verify with this class, not with `check_password`, which makes up for missing
    rounds when a secret is wrong.
    """

    iterations = 1_000

    def hash(self, secret: str) -> str:
        """The text to store for `secret`, with a new salt."""
        return self.encode(secret, self.salt())
