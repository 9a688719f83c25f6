"""The API, in storeys: common, model, core, web, features, site. Each imports only from those before it.

See meadowlark/docs/design/architecture.md.
"""

from edfi_api.common import moved_modules

moved_modules.install()
