"""What a write under a profile stores."""

from tests.conftest import ApiTestClient
from tests.profiles.conftest import ClientOf, Store

STUDENT = {"studentUniqueId": "604822", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}


def test_a_profile_is_never_ignored(api: ApiTestClient, store: Store, client_of: ClientOf) -> None:
    store("Names", "Student", write='ExcludeOnly:<Property name="middleName"/>')
    client = client_of("Names")

    assert client.post("/students", STUDENT | {"middleName": "Ann"}).status_code == 400
    assert api.get("/students").json() == []
