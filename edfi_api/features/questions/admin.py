"""Who may ask, what is withheld from them, and what was asked: who has seen this student?"""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from edfi_api.features.questions.models import Question, QuestionProfile, QuestionReader
from edfi_api.web.admin_kit.authorship import RecordedAdmin
from edfi_api.web.admin_kit.deletion import OneByOneAdmin
from edfi_api.web.admin_kit.read_only import ReadOnlyAdmin


@admin.register(QuestionProfile)
class QuestionProfileAdmin(OneByOneAdmin):
    """The page of what is withheld; a change applies to the next question."""

    list_display = ["name", "withheld", "least_count"]
    search_fields = ["name"]


@admin.register(QuestionReader)
class QuestionReaderAdmin(RecordedAdmin):
    """The page of people who may ask. They are switched off, not deleted, so that their roles are not left."""

    list_display = ["name", "is_active", "profile", "sees_everything", "organizations", "data_store"]
    list_filter = ["is_active", "profile", "sees_everything"]
    list_select_related = ["profile", "data_store"]
    search_fields = ["name", "subject"]
    autocomplete_fields = ["user"]
    readonly_fields = ["token_expires_at"]
    ordering = ["name"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Question)
class QuestionAdmin(ReadOnlyAdmin):
    """The trace of questions, newest first, searched by the unique id of a student or the name of a person."""

    list_display = ["asked_at", "person", "tool", "statement", "outcome", "rows", "number_of_students"]
    list_filter = ["tool"]
    date_hierarchy = "asked_at"
    search_fields = ["person"]
    search_help_text = "The unique id of a student, to see who was shown the student, or the name of a person"
    empty_text = (
        "Questions that people ask by manage.py run_mcp are listed here, with the students whom answers were about."
    )

    @admin.display(description="students")
    def number_of_students(self, row: Question) -> int:
        return len(row.students)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        return queryset.filter(students__contains=[term]) | queryset.filter(person=term), False
