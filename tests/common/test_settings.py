"""Settings of the API are read again after a change, whatever other threads do meanwhile."""

from threading import Event, Thread
from typing import Any

from edfi_api.common.conf import ApiSettings, api_settings


def test_a_thread_that_reads_during_a_change_leaves_no_former_value(settings, monkeypatch):
    read, may_go_on = Event(), Event()
    read_all = ApiSettings._read

    def slowly() -> dict[str, Any]:
        values = read_all()
        read.set()
        may_go_on.wait(10)
        return values

    api_settings.reload()
    monkeypatch.setattr(ApiSettings, "_read", staticmethod(slowly))
    reader = Thread(target=lambda: api_settings.MAX_PAGE_SIZE)
    reader.start()
    assert read.wait(10)
    monkeypatch.setattr(ApiSettings, "_read", staticmethod(read_all))

    def change() -> None:
        settings.EDFI_API = settings.EDFI_API | {"MAX_PAGE_SIZE": 7}

    changer = Thread(target=change)
    changer.start()
    changer.join(0.2)
    may_go_on.set()
    reader.join()
    changer.join()

    assert api_settings.MAX_PAGE_SIZE == 7
