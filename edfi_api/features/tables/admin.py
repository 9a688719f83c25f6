"""The pages of tables: upload, columns, documents, report, and kept templates. Each user sees the own tables."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import wraps
from itertools import islice
from typing import Any, cast

import orjson
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import DEFAULT_DB_ALIAS, IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from edfi_api.common.logs import audit
from edfi_api.core.data_stores.exceptions import ConnectionUnusable, DataStoreNotFound
from edfi_api.core.queries.csv_text import CONTENT_TYPE, csv_file
from edfi_api.core.security.models import ApiClient
from edfi_api.core.served import current_surface
from edfi_api.features.tables.admin_forms import (
    ORDERS,
    PARTS,
    KeepForm,
    TemplateUploadForm,
    UploadForm,
    column_fields,
    constant_fields,
    read_columns,
)
from edfi_api.features.tables.exceptions import ClientGone, InvalidTemplate, UnreadableTable
from edfi_api.features.tables.jobs import ROWS_OF_PREVIEW, OpenedLoad, has_stopped, preview_of, queue, worker
from edfi_api.features.tables.loading import COLUMNS, REFUSED, RowResult, problem_text, report_rows
from edfi_api.features.tables.mapping import Problem
from edfi_api.features.tables.members import Members
from edfi_api.features.tables.models import LoadState, TableLoad, TableRow, TableTemplate
from edfi_api.features.tables.named_templates import suggested_template, templates_in
from edfi_api.features.tables.reading import open_table
from edfi_api.features.tables.template import Template, template_of
from edfi_api.web.admin_kit.authorship import admin_user
from edfi_api.web.admin_kit.kinds import kind_in_words
from edfi_api.web.admin_kit.read_only import ReadOnlyAdmin

PERMISSION = "tables.import_table"
_LIST = "admin:tables_tableload_changelist"
_STEPS = ("Upload", "Columns", "Documents", "Report")
_LATEST = 20
_PER_PAGE = 100
_LONGEST_NAME = 200
_UNUSABLE = (ClientGone, DataStoreNotFound, ConnectionUnusable)

View = Callable[..., HttpResponseBase]


@admin.register(TableLoad)
class TableLoadAdmin(ReadOnlyAdmin):
    """The pages of uploaded tables. The list is the page of the upload; later steps change rows."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(PERMISSION)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm(PERMISSION)

    def get_urls(self) -> list[URLPattern]:
        own: list[tuple[str, str, View]] = [
            ("", "tableload_changelist", self.upload),
            ("templates/", "template_upload", self.template_upload),
            ("templates/<int:template>/export/", "template_export", self.template_export),
            ("templates/<int:template>/delete/", "template_delete", self.template_delete),
            ("add/", "add", self.refused),
            ("<str:key>/change/", "change", self.refused),
            ("<str:key>/columns/", "columns", self.columns),
            ("<str:key>/documents/", "documents", self.documents),
            ("<str:key>/template/", "template", self.template),
            ("<str:key>/run/", "run", self.run),
            ("<str:key>/delete/", "delete", self.remove),
            ("<str:key>/report.csv", "csv", self.csv),
            ("<str:key>/report/", "report", self.report),
        ]
        return [
            path(route, self.admin_site.admin_view(self._permitted(view)), name=f"tables_{name}")
            for route, name, view in own
        ]

    def _permitted(self, view: View) -> View:
        @wraps(view)
        def permitted(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not self.has_view_permission(request):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return permitted

    def upload(self, request: HttpRequest) -> HttpResponseBase:
        """The first step, with the user's latest tables and the kept templates."""
        form = UploadForm(_clients(request), request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid() and (load := _store(request, form)):
            return _to("columns", load)
        templates = [(each, _resource_in_words(each.resource)) for each in TableTemplate.objects.all()]
        return self._page(
            request,
            "upload",
            "Import a table",
            0,
            form=form,
            loads=[(each, _state(each)) for each in _own(request).defer("content")[:_LATEST]],
            templates=templates,
            template_form=TemplateUploadForm(),
            has_clients=_clients(request).exists(),
        )

    def columns(self, request: HttpRequest, key: str) -> HttpResponseBase:
        """The second step: which column is which member."""
        load = get_object_or_404(_own(request), key=key)
        errors: Sequence[str] = ()
        if request.method == "POST" and "sheet" in request.POST and request.POST["sheet"] != load.sheet:
            return self._choose_sheet(request, load)
        try:
            opened = OpenedLoad(load)
            template = opened.template()
        except (UnreadableTable, InvalidTemplate) as error:
            return _redirect_to_upload(request, error)
        header = opened.table.header
        members = Members(template.of(current_surface()))
        if request.method == "POST":
            try:
                template = read_columns(request.POST, header.columns, members)
                load.mapping = template_of(template.as_json()).as_json()
                load.save(update_fields=["mapping"])
                opened.mapping(DEFAULT_DB_ALIAS)  # Refuses what does not fit the table.
                return _to("documents", load)
            except InvalidTemplate as error:
                errors = error.reasons
        rows = [row.cells for row in islice(opened.table.rows(), ROWS_OF_PREVIEW)]
        missing = _missing(members, template)
        return self._page(
            request,
            "columns",
            load.file_name,
            1,
            load=load,
            header=header,
            resource=_resource_in_words(load.resource),
            columns=column_fields(header, rows, template, errors),
            constants=constant_fields(template, header.columns, missing, errors),
            members=members.all,
            required=[each.words for each in members.all if each.path in missing],
            parts=PARTS,
            orders=ORDERS,
            errors=errors,
        )

    def documents(self, request: HttpRequest, key: str) -> HttpResponseBase:
        """The third step: the first rows as documents."""
        load = get_object_or_404(_own(request), key=key)
        try:
            opened = OpenedLoad(load)
            preview = preview_of(opened)
        except InvalidTemplate as error:
            messages.error(request, str(error))
            return _to("columns", load)
        except (UnreadableTable, *_UNUSABLE) as error:
            return _redirect_to_upload(request, error)
        return self._page(
            request,
            "documents",
            load.file_name,
            2,
            load=load,
            preview=preview,
            resource=_resource_in_words(load.resource),
            keep_form=KeepForm(),
            notes=opened.table.header.notes,
        )

    def template(self, request: HttpRequest, key: str) -> HttpResponseBase:
        """GET exports the template of a table, POST keeps it."""
        load = get_object_or_404(_own(request).defer("content"), key=key)
        try:
            template = template_of(load.mapping or {})
        except InvalidTemplate as error:
            return _redirect_to_upload(request, error)
        if request.method != "POST":
            return _exported(template, load.file_name.rpartition(".")[0])
        form = KeepForm(request.POST)
        if form.is_valid():
            _keep(request, form.cleaned_data["name"], template)
        return _to("documents", load)

    def run(self, request: HttpRequest, key: str) -> HttpResponseBase:
        """Begin a dry run or the load."""
        load = get_object_or_404(_own(request).defer("content"), key=key)
        if request.method == "POST":
            is_dry_run = request.POST.get("do") != "load"
            if queue(load, is_dry_run=is_dry_run, by=admin_user(request)):
                worker.wake()
            else:
                messages.warning(request, "It is under way already, or the file has been deleted: upload it again.")
        return _to("report", load)

    def report(self, request: HttpRequest, key: str) -> HttpResponseBase:
        """The fourth step: the progress of the load, then what became of each row."""
        found = _own(request).select_related("client").defer("content")
        load = get_object_or_404(found.annotate(has_content=Q(content__isnull=False)), key=key)
        rows = load.rows.order_by("row")
        shows_all = request.GET.get("rows") == "all"
        page = Paginator(rows if shows_all else rows.exclude(problems=[]), _PER_PAGE).get_page(request.GET.get("p"))
        return self._page(
            request,
            "report",
            load.file_name,
            3,
            load=load,
            state=_state(load),
            is_under_way=load.state in (LoadState.QUEUED, LoadState.RUNNING) and not has_stopped(load),
            has_stopped=has_stopped(load),
            page=page,
            rows=[(row, [(problem_text(each), each.hint) for each in _problems(row)]) for row in page],
            shows_all=shows_all,
            resource=_resource_in_words(load.resource),
            numbers=[(name, getattr(load, name)) for name in ("created", "updated", "unchanged", "refused")],
            refused_word=REFUSED,
        )

    def csv(self, request: HttpRequest, key: str) -> HttpResponseBase:
        """The report as CSV."""
        load = get_object_or_404(_own(request).defer("content"), key=key)
        file = csv_file(COLUMNS, report_rows(_results(load)))
        length = file.tell()
        file.seek(0)
        audit.log_change("table report exported", **load.audit_facts, by=admin_user(request))
        headers = {"Content-Type": CONTENT_TYPE, "Content-Length": str(length)}
        return FileResponse(file, as_attachment=True, filename="report.csv", headers=headers)

    def refused(self, request: HttpRequest, key: str = "") -> HttpResponseBase:
        """There are no forms of rows."""
        raise PermissionDenied

    def remove(self, request: HttpRequest, key: str) -> HttpResponseBase:
        """Delete a table with its report."""
        if request.method != "POST":
            raise PermissionDenied
        load = get_object_or_404(_own(request).defer("content"), key=key)
        if load.state != LoadState.RUNNING or has_stopped(load):
            audit.log_change("table deleted", **load.audit_facts, by=admin_user(request))
            load.delete()
            messages.success(request, "The table and its report are deleted; documents stay.")
        return HttpResponseRedirect(reverse(_LIST))

    def template_upload(self, request: HttpRequest) -> HttpResponseBase:
        """Keep the templates of a file."""
        form = TemplateUploadForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            try:
                found = templates_in(form.cleaned_data["file"])
                for read in found:
                    try:
                        resource = read.template.of(current_surface())
                    except InvalidTemplate as error:
                        messages.error(request, f"{read.template.name or 'The template'}: {error}")
                        continue
                    name = read.template.name or _resource_in_words(resource.url_path)
                    kept = Template(resource.url_path, read.template.columns, name)
                    _keep(request, name, kept, read.left_out)
                for text in dict.fromkeys(text for read in found for text in read.left_out):
                    messages.warning(request, text)
            except InvalidTemplate as error:
                messages.error(request, str(error))
        return HttpResponseRedirect(reverse(_LIST))

    def template_export(self, request: HttpRequest, template: int) -> HttpResponseBase:
        kept = get_object_or_404(TableTemplate, pk=template)
        return _exported(template_of(kept.content), kept.name)

    def template_delete(self, request: HttpRequest, template: int) -> HttpResponseBase:
        kept = get_object_or_404(TableTemplate, pk=template)
        if request.method == "POST":
            audit.log_change("table template deleted", template=kept.name, by=admin_user(request))
            kept.delete()
        return HttpResponseRedirect(reverse(_LIST))

    def _choose_sheet(self, request: HttpRequest, load: TableLoad) -> HttpResponseBase:
        """Read another sheet of the file, whose columns are suggested again."""
        try:
            table = open_table(bytes(load.content or b""), request.POST["sheet"])
            resource = Template(load.resource).of(current_surface())
        except (UnreadableTable, InvalidTemplate) as error:
            messages.error(request, str(error))
            return _to("columns", load)
        load.sheet = table.header.sheet
        load.mapping = suggested_template(table, resource).as_json()
        load.save(update_fields=["sheet", "mapping"])
        return _to("columns", load)

    def _page(self, request: HttpRequest, name: str, title: str, step: int, **context: Any) -> HttpResponse:
        steps = [(each, number == step) for number, each in enumerate(_STEPS)]
        page = {
            **self.admin_site.each_context(request),
            "title": title,
            "steps": steps,
            "list": reverse(_LIST),
            **context,
        }
        return TemplateResponse(request, f"admin/tables/{name}.html", page)


def _own(request: HttpRequest) -> QuerySet[TableLoad]:
    return TableLoad.objects.filter(user=cast(int, request.user.pk))


def _clients(request: HttpRequest) -> QuerySet[ApiClient]:
    """The clients that the user may view, and that may write."""
    if not request.user.has_perm("security.view_apiclient"):
        return ApiClient.objects.none()
    return ApiClient.objects.filter(is_active=True).select_related("application__vendor").order_by("name")


def _store(request: HttpRequest, form: UploadForm) -> TableLoad | None:
    """Store an upload that can be read; None with an error on the form."""
    given = form.cleaned_data
    content = given["file"].read()
    kept: TableTemplate | None = given["template"]
    try:
        table = open_table(content)
        if kept is not None:
            template = template_of(kept.content)
            template.of(current_surface())
        else:
            template = suggested_template(table, Template(given["resource"]).of(current_surface()))
    except UnreadableTable as error:
        form.add_error("file", str(error))
        return None
    except InvalidTemplate as error:
        form.add_error("template", str(error))
        return None
    return TableLoad.objects.create(
        user_id=cast(int, request.user.pk),
        file_name=given["file"].name[:_LONGEST_NAME],
        content=content,
        sheet=table.header.sheet[:100],
        resource=template.resource,
        mapping=template.as_json(),
        client=given["client"],
        data_store=given["data_store"],
    )


def _keep(request: HttpRequest, name: str, template: Template, left_out: Sequence[str] = ()) -> None:
    """Keep a template under a new name, and say so."""
    content = Template(template.resource, template.columns, name).as_json()
    kept = TableTemplate(
        name=name[:_LONGEST_NAME],
        resource=template.resource,
        content=content,
        left_out=list(left_out),
        created_by=admin_user(request),
    )
    try:
        with transaction.atomic():
            kept.save()
    except IntegrityError:
        messages.error(request, f"There is a template {name} already. Delete it first, or choose another name.")
        return
    audit.log_change("table template kept", template=kept.name, by=admin_user(request))
    messages.success(request, f"The template {name} is kept.")


def _exported(template: Template, name: str) -> HttpResponse:
    text = orjson.dumps(template.as_json(), option=orjson.OPT_INDENT_2)
    file_name = "".join(letter if letter.isalnum() else "-" for letter in name if letter.isascii()) or "template"
    headers = {"Content-Disposition": f'attachment; filename="{file_name}.json"'}
    return HttpResponse(text, content_type="application/json", headers=headers)


def _to(step: str, load: TableLoad) -> HttpResponse:
    return HttpResponseRedirect(reverse(f"admin:tables_{step}", args=[load.key]))


def _redirect_to_upload(request: HttpRequest, error: Exception) -> HttpResponse:
    text = "The client may not use the chosen data store." if isinstance(error, DataStoreNotFound) else str(error)
    messages.error(request, text or "The data store cannot be used.")
    return HttpResponseRedirect(reverse(_LIST))


def _resource_in_words(resource_path: str) -> str:
    with suppress(InvalidTemplate):
        return kind_in_words(Template(resource_path).of(current_surface()).name.resource).singular
    return resource_path


def _missing(members: Members, template: Template) -> list[str]:
    """The members that every document needs, and that are not mapped."""
    mapped = {each.member.replace("[]", "[0]") for each in template.columns}
    return [each.path for each in members.all if (each.is_required or each.is_identity) and each.path not in mapped]


def _state(load: TableLoad) -> str:
    """Return what became of a table, in words."""
    if has_stopped(load):
        return "stopped"
    what = "dry run" if load.is_dry_run else "load"
    match load.state:
        case LoadState.UPLOADED:
            return "not tried yet"
        case LoadState.QUEUED:
            return f"{what} waiting"
        case LoadState.RUNNING:
            return f"{what} under way"
        case LoadState.FAILED:
            return f"{what} ended early"
    return "dry run done" if load.is_dry_run else "loaded"


def _problems(row: TableRow) -> list[Problem]:
    return [Problem(*each) for each in row.problems]


def _results(load: TableLoad) -> Iterator[RowResult]:
    for row in load.rows.order_by("row").iterator(chunk_size=1_000):
        yield RowResult(row.row, row.outcome, row.document, _problems(row))
