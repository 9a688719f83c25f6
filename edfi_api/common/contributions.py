"""What an app contributes to the work of others, such as resources to the published documents.

The app names its contributions in its `apps.py`, and the other work asks for those of all apps. So it imports no
capability. A new capability touches its own folder, INSTALLED_APPS, and for the header of the admin
`site/admin_site/navigation.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.apps import apps
from django.utils.module_loading import import_string


class Contributor:
    """A base of the configuration of an app that contributes, before Django's `AppConfig`. Each attribute has dotted
    paths, which are imported when the work is done, since apps are configured before their models."""

    # Functions without arguments that encrypt secrets again with the first key, and say how many of what, or nothing
    # without any: `manage.py rotate_store_key` calls them in one transaction.
    encrypted_columns: Sequence[str] = ()
    # Functions from the surface to the surface that is published, with resources that are no stored documents.
    published_resources: Sequence[str] = ()
    # Functions that worker processes run: the fork server loads their modules once, for all of them.
    work_of_processes: Sequence[str] = ()
    # Functions without arguments that yield families of metrics, read from the database at each scrape.
    metrics: Sequence[str] = ()
    # Functions that yield lines about the state of the server, and of a database, whose alias they are given, for the
    # front page of the admin (`edfi_api/web/admin_kit/lines.py`).
    status_lines: Sequence[str] = ()
    status_lines_of_databases: Sequence[str] = ()
    # Functions that return values for the template of the admin's front page, by name. They are given the request and
    # the data store that it shows, or None.
    front_page: Sequence[str] = ()
    # Functions from the admin site to the routes of pages that are no lists of models.
    admin_pages: Sequence[str] = ()
    # Functions that yield blocks of the page of a document in the admin, and messages about what is wrong with it
    # (`edfi_api/web/admin_kit/document_panels.py`).
    document_panels: Sequence[str] = ()
    # Functions that yield what the search of the admin finds in addition to documents
    # (`edfi_api/web/admin_kit/search.py`).
    search_groups: Sequence[str] = ()
    # Functions from the admin of documents to the routes of pages below it.
    document_pages: Sequence[str] = ()
    # Commands that remove once a day what is no longer needed: in each database with documents, if they are about
    # documents. `manage.py housekeeping` runs them.
    housekeeping: Sequence[str] = ()
    # Functions without arguments that return what the weekly mail says of the capability
    # (`edfi_api/web/admin_kit/lines.py`).
    mail_sections: Sequence[str] = ()
    # Objects with `count`, which is given requests that have just been answered
    # (`edfi_api/web/answered_requests.py`), and `count_batch`, which is given a batch that has ended.
    request_counters: Sequence[str] = ()
    # Packages with the OpenAPI document of their routes, by the name of the document.
    openapi_documents: Mapping[str, str] = {}
    # Functions that have refused documents sent again, from entries of the ledger of refusals; they return how many.
    senders_of_refused_documents: Sequence[str] = ()


def contributors() -> Iterator[Contributor]:
    """The apps that contribute, in the order of INSTALLED_APPS."""
    return (config for config in apps.get_app_configs() if isinstance(config, Contributor))


def contributions(attribute: str) -> Iterator[Any]:
    """Yield what all apps contribute by this attribute of `Contributor`, in the order of INSTALLED_APPS."""
    for config in contributors():
        yield from map(import_string, getattr(config, attribute))
