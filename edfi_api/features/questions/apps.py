"""The Django app of questions: its models, which are in the admin database only."""

from django.apps import AppConfig


class QuestionsConfig(AppConfig):
    """The app of questions in words."""

    name = "edfi_api.features.questions"
    label = "questions"
    verbose_name = "Questions"
