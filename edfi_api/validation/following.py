"""Runs rules when clients request it, and each night."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from datetime import time as TimeOfDay

from .request import Request
from .requests import RunRequest, end_request, next_request
from .running import AlreadyRunning, WasStopped

SECONDS_BETWEEN_LOOKS = 10.0


@dataclass
class Follower:
    """Runs what is due. `run` runs rules and raises what `run_rules` does; `nightly` is run at a time of day in UTC,
    or never."""

    using: str
    run: Callable[[Request], object]
    report: Callable[[str], object]
    nightly: Request
    at: TimeOfDay | None

    def __post_init__(self) -> None:
        self.due = self._after(datetime.now(UTC))

    def for_ever(self) -> None:
        """Ends only by an exception."""
        while True:
            if not self.work(datetime.now(UTC)):
                time.sleep(SECONDS_BETWEEN_LOOKS)

    def work(self, now: datetime) -> bool:
        """Whether there was something to run, and it was run."""
        if self.due and now >= self.due:
            if not self._try(self.nightly):
                return False
            self.due = self._after(now)
            return True
        request = next_request(self.using)
        return request is not None and self._requested(request)

    def _requested(self, request: RunRequest) -> bool:
        requested = replace(
            self.nightly,
            rules=frozenset(request.rules),
            categories=frozenset(request.categories),
            organizations=tuple(request.organizations),
            is_full=False,
            by=request.by,
            run=request.run,
            retires_others=False,
        )
        if not self._try(requested):
            return False
        end_request(request, self.using)
        return True

    def _try(self, request: Request) -> bool:
        """Whether it was run; not while another process runs rules. A run that was stopped is not begun again."""
        try:
            self.run(request)
        except AlreadyRunning as error:
            self.report(f"waiting: {error}")
            return False
        except WasStopped:
            self.report(f"the run {request.run} was stopped before it ended")
        return True

    def _after(self, now: datetime) -> datetime | None:
        if self.at is None:
            return None
        today = datetime.combine(now.date(), self.at, UTC)
        return today if today > now else today + timedelta(days=1)
