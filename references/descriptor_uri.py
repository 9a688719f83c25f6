"""How URIs of descriptors are compared: without regard to case."""


def comparable(uri: str) -> str:
    """The form in which URIs of the same descriptor, and namespaces of URIs, are equal: lower case, as Unicode has it.

    Stored referential ids are hashed from it, so it never changes. Neither `casefold`, for which ß is ss, nor
    PostgreSQL's `lower`, for which İ is i in some locales, gives the same: a statement gets ids, or this form. Triggers
    have the SQL function `comparable_uri`.
    """
    return uri.lower()
