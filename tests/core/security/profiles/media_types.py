"""Media types of profiles."""


def media_type(profile: str, resource: str = "student", usage: str = "readable") -> str:
    """The media type of a resource under a profile."""
    return f"application/vnd.ed-fi.{resource}.{profile}.{usage}+json"
