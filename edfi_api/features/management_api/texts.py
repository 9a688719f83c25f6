"""The texts of the management API on which clients match: those of Ed-Fi's Configuration Service, and at the end what
Admin API 2 has in their place. `{…}` are filled where they are used."""

from collections.abc import Mapping

SEE_ERRORS = "The request could not be processed. See 'errors' for details."
# Problems by name: the status, the type, the title and the usual detail.
PROBLEMS: Mapping[str, tuple[int, str, str, str]] = {
    "data": (400, "bad-request:data", "Data Validation Failed",
             "Data validation failed. See 'validationErrors' for details."),
    "parameters": (400, "bad-request:parameter", "Parameter Validation Failed",
                   "Parameter validation failed. See 'errors' for details."),
    "request": (400, "bad-request", "Bad Request", SEE_ERRORS),
    "authentication": (401, "security:authentication", "Authentication Failed",
                       "Authentication is required to access this resource."),
    "authorization": (403, "security:authorization", "Authorization Failed",
                      "The authenticated client is not authorized to access this resource."),
    "not found": (404, "not-found", "Not Found", "The requested resource could not be found."),
    "method": (405, "method-not-allowed", "Method Not Allowed", "The request construction was invalid."),
    "conflict": (409, "conflict", "Conflict",
                 "Unable to process the request due to a concurrent modification. Retry the request."),
    "reference": (409, "conflict:unresolved-reference", "Unresolved Reference", ""),
    "dependent item": (409, "conflict:dependent-item-exists", "Dependent Item Exists", ""),
    "identity": (409, "conflict:non-unique-identity", "Identifying Values Are Not Unique",
                 "The identifying value(s) of the item are the same as another item that already exists."),
    "size": (413, "about:blank", "Payload Too Large", ""),
    "media type": (415, "unsupported-media-type", "Unsupported Media Type",
                   "The value specified in the 'Content-Type' header is not supported by this host."),
    "error": (500, "internal-server-error", "Internal Server Error", ""),
}  # fmt: skip

# Texts about all bodies.
INVALID_JSON = "The request body contains invalid JSON."
UNREADABLE_BODY = "The request body cannot be read: {reason}"
EMPTY = "'{name}' must not be empty."
TOO_LONG = "The length of '{name}' must be {most} characters or fewer. You entered {length} characters."
NOT_POSITIVE = "'{name}' must be greater than '0'."
NO_EMAIL_ADDRESS = "'{name}' is not a valid email address."
CONTROL_CHARACTERS = "'{name}' must not contain control characters."
BLANKS = "Claim set name must not contain white spaces."
OTHER_ID = "Request body id must match the id in the url."
EMPTY_BODY = "A non-empty request body is required."
MALFORMED_FORM = "The request form payload is malformed."

# Texts about query strings.
UNREADABLE_PARAMETER = "The request contains one or more invalid parameters."
NEGATIVE_OFFSET = "'offset' must be greater than or equal to 0."
NO_LIMIT = "'limit' must be greater than 0."
UNKNOWN_DIRECTION = "The direction query parameter must be one of: asc, ascending, desc, descending."
UNKNOWN_ORDER = "'orderBy' is not a valid field. Allowed values: {names}."
ID_AND_IDS = "'id' and 'ids' cannot be used together."
NO_IDS = "The 'ids' query parameter must be a comma-separated list of integers."

# Texts of `connect/…`.
TOO_WEAK = (
    "Client secret must contain at least one lowercase letter, one uppercase letter, one number, and one special "
    "character, and must be 32 to 128 characters long."
)
CLIENT_TAKEN = "Client with the same Client Id already exists. Please provide different Client Id."
UNKNOWN_CLIENT = "invalid_client. Invalid client or Invalid client credentials"
WRONG_SECRET = "unauthorized_client. Invalid client or Invalid client credentials"  # noqa: S105  No secret.
NO_SCOPE = "invalid_scope. None of the requested scopes is assigned to the client"
NO_GRANT_TYPE = "The specified grant type is not supported."
NO_TOKEN = "The token parameter is missing."  # noqa: S105  No token.
REGISTRATION_CLOSED = "Registration is disabled."

# Details of 404, by address.
_GONE = "{name} {{id}} not found. It may have been recently deleted."
NOT_FOUND: Mapping[str, str] = {
    "vendors": _GONE.format(name="Vendor"),
    "applications": "Application not found",
    "apiClients": "ApiClient not found",
    "claimSets": _GONE.format(name="ClaimSet"),
    "profiles": _GONE.format(name="Profile"),
    "dataStores": _GONE.format(name="DataStore"),
    "dataStoreContexts": "Data store context not found",
    "dataStoreDerivatives": _GONE.format(name="DataStoreDerivative"),
    "tenants": _GONE.format(name="Tenant"),
    "connections": _GONE.format(name="Connection"),
    "resourceClaims": "ResourceClaim {id} not found.",
}

# Texts about vendors.
LONG_PREFIX = "Each NamespacePrefix length must be {most} characters or fewer."
VENDOR_TAKEN = "A vendor name already exists in the database. Please enter a unique name."

# Texts about applications and API clients.
NO_REFERENCE = "Reference '{name}' does not exist."
NO_STORE = "Data store does not exist."
NO_PROFILE = "Profile does not exist."
APPLICATION_TAKEN = "Application '{name}' already exists for vendor."
CLIENT_NAME_TAKEN = "API client '{name}' already exists for application."
NO_STORES_OF_CLIENT = "DataStoreIds cannot be empty. At least one Data Store is required."
NO_APPLICATION = "Application with ID {id} not found."
MISSING_STORES = "The following DataStoreIds were not found in database: {ids}"
HALF_IDENTITY = "'{name}' must have an issuer and a value."
IDENTITY_TAKEN = "Another API client has this external identity."
ISSUER_OF_OTHERS = "It is an issuer of another tenant."

# Texts about claim sets.
NO_CLAIM_SET_NAME = "Please provide a valid claim set name."
LONG_CLAIM_SET_NAME = "The claim set name must be less than {most} characters."
CLAIM_SET_TAKEN = "A claim set with this name already exists."
RESERVED = "The specified claim set is system-reserved and cannot be {verb}."
NO_ORIGINAL = "OriginalId {id} not found. It may have been recently deleted."
NO_GRANT = "Resource claim doesn't exist for the Claim set provided"
NO_ACTION = "A resource must have at least one action associated with it to be added."
UNKNOWN_ACTION = "{name} is not a valid action."
NOTHING_OF_THE_NAME = "{name} doesn't exist."

# Texts about resource claims.
CLAIM_TAKEN = "A resource claim with this name already exists."
CYCLE = "The resource claim would contain itself."
SERVED_CLAIM = "The resource claim is that of a served resource and cannot be deleted."
CLAIM_IN_USE = "The resource claim is granted by claim sets or contains others, and cannot be deleted."

# Texts about profiles.
NO_PROFILE_NAME = "Profile name is required."
LONG_PROFILE_NAME = "Profile name must be {most} characters or less."
ODD_PROFILE_NAME = "Profile name must consist of letters, digits, hyphens, and underscores."
NO_DEFINITION = "Profile definition is required."
INVALID_DEFINITION = "Profile definition XML is invalid or does not match the XSD."
OTHER_PROFILE_NAME = "Name must match the name attribute in the XML definition."
NO_RESOURCE = "Profile XML must contain at least one <Resource> element."
NO_RESOURCE_NAME = "All <Resource> elements must have a name attribute."
PROFILE_TAKEN = "Profile '{name}' already exists."
PROFILE_TAKEN_BY_OTHER = "A profile with this name already exists."
PROFILE_IN_USE = "Profile is assigned to applications and cannot be deleted."
SHARED_PROFILE = "The specified profile is shared by all tenants and cannot be changed."

# Texts about data stores and tenants.
STORE_CREATED = "New DataStore {name} has been created successfully."
UNKNOWN_STATE = "State must be one of: {states}."
CONTEXT_TAKEN = "Data store context with DataStoreId '{data_store_id}' and ContextKey '{key}' already exists."
NO_STORE_ID = "DataStoreId must be greater than 0."
NO_DERIVATIVE_TYPE = "DerivativeType is required."
LONG_DERIVATIVE_TYPE = "DerivativeType must be {most} characters or fewer."
UNKNOWN_DERIVATIVE_TYPE = "DerivativeType must be either 'ReadReplica' or 'Snapshot'."
LONG_CONNECTION = "ConnectionString must be {most} characters or fewer."
DERIVATIVE_CREATED = "New DataStoreDerivative of type {type} has been created successfully."
NO_STORE_OF_DERIVATIVE = "The specified DataStore does not exist."
NO_STORE_KEY = "It cannot be encrypted: MEADOWLARK_SECRET_KEY or MEADOWLARK_STORE_KEY has to be set."
ODD_TENANT_NAME = "Tenant name must contain only alphanumeric characters, hyphens, and underscores."
TENANT_TAKEN = "A tenant name already exists in the database. Please enter a unique name."
TENANT_CREATED = "New Tenant {name} has been created successfully."

# Texts about connections.
CONNECTION_TAKEN = "A connection with this name already exists."

# Ids of bodies of PUT.
ID_OF_CLIENT = "Id must be greater than 0."
ID_OF_PROFILE = "Profile Id must be greater than zero."


class V2:
    """The texts that Admin API 2 has in place of those of version 3."""

    # The names of an item that does not exist, and of one that was deleted, by address.
    NAMES: Mapping[str, tuple[str, str]] = {
        "vendors": ("vendor", "Vendor"),
        "applications": ("application", "Application"),
        "apiclients": ("apiclient", "ApiClient"),
        "claimSets": ("claimset", "ClaimSet"),
        "profiles": ("profile", "Profile"),
        "odsInstances": ("odsInstance", "Ods Instance"),
        "odsInstanceContexts": ("odsInstanceContext", "Ods Instance Context"),
        "odsInstanceDerivatives": ("odsInstanceDerivative", "Ods Instance Derivative"),
        "tenants": ("tenant", ""),
        "resourceClaims": ("ResourceClaim", ""),
    }
    NOT_FOUND = "Not found: {name} with ID {id}. It may have been recently deleted."
    DELETED = "{name} deleted successfully"
    MALFORMED_JSON = (
        "The request body contains malformed JSON. Please ensure your data is properly formatted and try again."
    )
    LONG_PREFIX = "'{prefix}' exceeds maximum length"
    NO_VENDOR = "Please provide valid vendor id."
    NO_CLAIM_SET = "No such claim set exists in the database."
    NO_ORGANIZATIONS = "Please provide at least one education organization id."
    NO_INSTANCES = "Please provide at least one ods instance id."
    NO_INSTANCE = "Please provide valid ods instance id. The id {id} does not exist."
    NO_PROFILE = "Please provide valid profile id. The id {id} does not exist."
    NO_APPLICATION = "Please provide valid application id."
    CLAIM_SET_TAKEN = "A claim set with this name already exists in the database. Please enter a unique name."
    CLAIM_SET_IN_USE = "Cannot delete this claim set. This claim set has {number} associated application(s)."
    RESERVED = "Claim set ({name}) is system reserved. May not be modified."
    INSTANCE_TAKEN = "An Ods Instance with this name already exists in the database. Please enter a unique name."
    INSTANCE_IN_USE = "There are some {table} associated to this OdsInstance. Can not be deleted."
    NO_CONNECTION = "The connection string is not valid."
    CONTEXT_TAKEN = "The combined key ODS instance id and context key must be unique."
    DERIVATIVE_TAKEN = "The combined key ODS instance id and derivative type must be unique."
