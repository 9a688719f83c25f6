"""How URIs of descriptors are compared: without regard to case."""


def comparable(uri: str) -> str:
    """The form in which URIs of the same descriptor, and namespaces of URIs, are equal: lower case, as Unicode has it.

    Stored referential ids are hashed from it, so it never changes. `casefold` differs, for which ß is ss, and so does
    PostgreSQL's `lower`, for which İ is i in some locales. So statements are given ids or this form; triggers call the
    SQL function `comparable_uri` (`edfi_api/features/changes/change_queries/sql/comparable_uris.sql`).
    """
    return uri.lower()
