"""Who asks: the active reader of a database, by the name of a command, or by a bearer token."""

from dataclasses import dataclass
from hashlib import sha256

from django.db.models import Q, QuerySet
from django.utils import timezone

from edfi_api.core.security.exceptions import IdentityProviderAway, TokenRefused
from edfi_api.core.security.federation.validation import check_not_refused, is_signed, validated
from edfi_api.features.questions.exceptions import Refused
from edfi_api.features.questions.models import QuestionReader


@dataclass(frozen=True, slots=True)
class Place:
    """The database that is asked, and the id of its data store, 0 for the admin database."""

    using: str
    data_store: int = 0

    @property
    def readers(self) -> QuerySet[QuestionReader]:
        """Return those who may ask it."""
        return QuestionReader.objects.select_related("profile").filter(
            Q(user__isnull=True) | Q(user__is_active=True), is_active=True, data_store=self.data_store or None
        )

    def reader(self, number: int) -> QuestionReader:
        """Return the reader with this primary key, as the operator has described it now. Raises Refused."""
        found = self.readers.filter(pk=number).first()
        if found is None:
            raise Refused("You may no longer ask this database.")
        return found

    def reader_of_token(self, token: str) -> QuestionReader | None:
        """Return whose bearer token it is: one that `issue_question_token` has made, or of an identity provider."""
        if not is_signed(token):
            digest = token_digest(token)
            return self.readers.filter(token_digest=digest, token_expires_at__gt=timezone.now()).first()
        try:
            valid = validated(token, "questions")
            if valid is None:
                return None
            check_not_refused(valid)
        except (TokenRefused, IdentityProviderAway):
            return None
        issuer, subject = valid.issuer.issuer, valid.claims.get("sub")
        if not isinstance(subject, str) or not subject:
            return None
        # Users of the admin are those who have logged in to it by the provider.
        of_user = Q(user__identities__issuer=issuer, user__identities__subject=subject)
        return self.readers.filter(Q(issuer=issuer, subject=subject) | of_user).first()


def token_digest(token: str) -> str:
    """Return the digest by which a token is stored: tokens are random, so they need no salt."""
    return sha256(token.encode()).hexdigest()
