"""The peak memory of a process (Linux only)."""

from pathlib import Path

import psutil
import pytest

needs_peaks = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="only Linux reports the most memory that a process had"
)


def reset_peak(process: psutil.Process) -> int:
    """Resets the peak; returns the current memory in bytes."""
    Path(f"/proc/{process.pid}/clear_refs").write_text("5")
    return peak(process)


def peak(process: psutil.Process) -> int:
    """The peak since the start or the last reset, in bytes."""
    status = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    [line] = [line for line in status if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024
