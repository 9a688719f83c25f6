"""The recorder of refused writes, in tests."""

from django.db import connection

from edfi_api.features.refusals.recorder import LedgerWriter, Recorder


class RecorderInTest(Recorder):
    """Has no thread; `flush` does at once what the thread does in a minute."""

    def _resume(self) -> None:
        pass

    def flush(self) -> None:
        self._awaited = LedgerWriter(self.pending, connection).flush(is_now=True) or set()
