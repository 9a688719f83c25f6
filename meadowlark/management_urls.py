"""The URL map of a server that has only the management API: at the root, and below its path if there is one."""

from edfi_api.common.conf import api_settings
from edfi_api.features.management_api.urls import management_routes

urlpatterns = [*(management_routes(api_settings.MANAGEMENT_PATH) if api_settings.MANAGEMENT_PATH else ())]
urlpatterns += management_routes("")

handler400 = "edfi_api.web.problem_details.exception_handler.client_error"
handler404 = "edfi_api.web.problem_details.exception_handler.client_error"
handler500 = "edfi_api.web.problem_details.exception_handler.server_error"
