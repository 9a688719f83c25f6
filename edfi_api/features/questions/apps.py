"""The Django app of questions: its models, which are in the admin database only."""

from django.apps import AppConfig

from edfi_api.common.contributions import Contributor


class QuestionsConfig(Contributor, AppConfig):
    """The app of questions in words."""

    name = "edfi_api.features.questions"
    label = "questions"
    verbose_name = "Questions"
    housekeeping = ("edfi_api.features.questions.management.commands.purge_questions.Command",)
