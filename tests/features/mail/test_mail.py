"""The weekly mail: what it says, who gets it, and how often."""

from datetime import date, timedelta
from smtplib import SMTPServerDisconnected
from threading import Barrier, Thread

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from edfi_api.features.mail import sending
from edfi_api.features.mail.models import MailSent
from edfi_api.features.refusals.models import CauseFollowUp, Refusal
from edfi_api.web.admin_kit.lines import MailSection
from tests.support.class_periods import PERIOD

ANN, BEN = "ann@district.example", "ben@district.example"
SECTION = MailSection("Causes", "1 open cause", [("tests: Unresolved reference", "/admin/x/")])


@pytest.fixture
def mailing(settings):
    settings.EDFI_API = settings.EDFI_API | {
        "MAIL_TO": (ANN, BEN),
        "MAIL_FROM": "server@district.example",
        "MAIL_LINKS": "https://edfi.example.org/",
    }


@pytest.fixture
def refusal(api, refused) -> Refusal:
    api.post("/classPeriods", PERIOD)
    return refused()[0]


def test_the_mail_says_what_is_open_without_keys(mailing, refusal, capsys):
    call_command("mail_open_causes")

    first, second = mail.outbox
    assert [first.to, second.to, first.from_email] == [[ANN], [BEN], "server@district.example"]
    assert first.subject == "Meadowlark: 1 open cause"
    assert first.body == (
        "Causes of refused writes\n\n"
        "- tests: Unresolved reference: School, 1 document, open\n"
        f"  https://edfi.example.org/admin/refusals/refusal/cause/{refusal.pk}/\n"
    )
    assert capsys.readouterr().out == f"{ANN}: sent\n{BEN}: sent\n"


def test_an_address_gets_one_mail_in_a_week(mailing, refusal, capsys):
    call_command("mail_open_causes")
    call_command("mail_open_causes")
    assert len(mail.outbox) == 2
    assert f"{ANN}: has it already" in capsys.readouterr().out

    MailSent.objects.filter(address=BEN).update(week=sending.this_week() - timedelta(days=7))
    call_command("mail_open_causes")

    assert [each.to for each in mail.outbox[2:]] == [[BEN]]


def test_what_could_not_be_sent_is_sent_the_next_time(mailing, refusal, monkeypatch):
    send = sending.send_mail

    def fail(subject, text, sender, addresses):
        if addresses == [ANN]:
            raise SMTPServerDisconnected("Connection unexpectedly\nclosed")
        send(subject, text, sender, addresses)

    monkeypatch.setattr(sending, "send_mail", fail)
    with pytest.raises(CommandError, match=f"not sent: {ANN}: Connection unexpectedly closed"):
        call_command("mail_open_causes")
    monkeypatch.setattr(sending, "send_mail", send)
    call_command("mail_open_causes")

    assert [each.to for each in mail.outbox] == [[BEN], [ANN]]


@pytest.mark.django_db(transaction=True)
def test_of_two_servers_one_sends(monkeypatch):
    both, sent, results = Barrier(2), [], []
    monkeypatch.setattr(sending, "send_mail", lambda *arguments: sent.append(arguments))

    def run():
        both.wait(10)
        try:
            results.append(sending.send_once(ANN, date(2026, 11, 23), [SECTION]))
        finally:
            connection.close()

    threads = [Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(sent), sorted(results)) == (1, [False, True])


def test_what_is_dismissed_is_left_out(mailing, refusal, capsys):
    key = {name: getattr(refusal, name) for name in ("client", "data_store", "direction", "cause")}
    CauseFollowUp.objects.create(
        **key, number=1, state="dismissed", until=timezone.localdate(), note="", username="ann"
    )

    call_command("mail_open_causes")

    assert mail.outbox == []
    assert capsys.readouterr().out == "Nothing is open, so there is no mail.\n"


def test_nobody_gets_a_mail_by_default(refusal, capsys):
    call_command("mail_open_causes")

    assert mail.outbox == []
    assert capsys.readouterr().out == "Nobody gets it: MEADOWLARK_MAIL_TO has no address.\n"


def test_a_long_list_is_cut(settings):
    lines = [(f"cause {number}", "/admin/x/") for number in range(22)]

    text = sending.text_of([MailSection("Causes", "22 open causes", lines)])

    assert text.startswith("Causes\n\n- cause 0\n- cause 1\n")
    assert text.endswith("- cause 19\n- and 2 more\n")
