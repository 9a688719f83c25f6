"""Settings of django-oauth-toolkit that are the same everywhere: client credentials alone, and no refresh tokens."""

OAUTH_SETTINGS = {
    "CLIENT_SECRET_GENERATOR_LENGTH": 48,
    # Stores only the checksum of a token.
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    # Only the client credentials grant.
    "OAUTH2_SERVER_CLASS": "oauthlib.oauth2.BackendApplicationServer",
    "OAUTH2_VALIDATOR_CLASS": "edfi_api.core.security.oauth.views.ClientCredentialsValidator",
    # There are no refresh tokens; without a value `cleartokens` would warn.
    "REFRESH_TOKEN_EXPIRE_SECONDS": 1,
    # Secure values for unused features.
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https"],
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
}
