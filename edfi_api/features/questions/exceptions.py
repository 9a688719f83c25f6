"""What keeps a question from being answered."""


class Refused(Exception):
    """A question that is not answered; the text is a sentence for the person and the assistant."""
