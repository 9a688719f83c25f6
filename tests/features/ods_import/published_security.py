"""An EdFi_Security with the resource claims of the published scripts, most of which have no project in their names."""

from itertools import count

from tests.core.security.published_claims import published_claims
from tests.features.ods_import.ods import Ods

BEGINNING = "http://ed-fi.org/identity/claims/"
EARLIER_BEGINNING = "http://ed-fi.org/ods/identity/claims/"
ACTIONS = ["Create", "Read", "Update", "Delete", "ReadChanges"]
# A few have a project in their names there, too.
_WITH_PROJECT = {"assessmentAdministration", "evaluationRubricDimension", "studentHealth"}


def fill(security: Ods, beginning: str = BEGINNING) -> dict[str, int]:
    """Actions, strategies and resource claims with their defaults; the numbers of the claims by published name."""
    claims = published_claims()
    used = sorted({each for claim in claims.values() for names in claim.defaults.values() for each in names})
    numbers = {name: number for number, name in enumerate(claims, 1)}
    rows, overriding = count(1), count(1)
    with security.connect() as connection:
        insert = connection.cursor().executemany
        insert("INSERT INTO dbo.actions VALUES (%s, %s, '')", list(enumerate(ACTIONS, 1)))
        insert("INSERT INTO dbo.authorizationstrategies VALUES (%s, '', %s)", list(enumerate(used, 1)))
        insert(
            "INSERT INTO dbo.resourceclaims VALUES (%s, '', %s, %s)",
            [(numbers[name], _uri(name, beginning), numbers.get(claim.parent)) for name, claim in claims.items()],
        )
        for name, claim in claims.items():
            for action, strategies in claim.defaults.items():
                row = next(rows)
                insert(
                    "INSERT INTO dbo.resourceclaimactions VALUES (%s, %s, %s)",
                    [(row, numbers[name], ACTIONS.index(action) + 1)],
                )
                insert(
                    "INSERT INTO dbo.resourceclaimactionauthorizationstrategies VALUES (%s, %s, %s)",
                    [(next(overriding), row, used.index(each) + 1) for each in strategies],
                )
    return numbers


def grant(security: Ods, claim_set: str, claims: list[int], actions: list[str]) -> None:
    """A claim set that grants the actions by the default strategies."""
    with security.connect() as connection:
        [(number,)] = connection.execute("SELECT count(*) + 1 FROM dbo.claimsets").fetchall()
        [(row,)] = connection.execute("SELECT count(*) FROM dbo.claimsetresourceclaimactions").fetchall()
        connection.execute("INSERT INTO dbo.claimsets VALUES (%s, %s, true, false)", [number, claim_set])
        connection.cursor().executemany(
            "INSERT INTO dbo.claimsetresourceclaimactions VALUES (%s, %s, %s, %s)",
            [(row := row + 1, number, claim, ACTIONS.index(action) + 1) for claim in claims for action in actions],
        )


def _uri(name: str, beginning: str) -> str:
    if "://" in name:
        return name
    return f"{beginning}ed-fi/{name}" if name in _WITH_PROJECT else beginning + name
