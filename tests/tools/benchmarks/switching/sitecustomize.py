"""Imported by the interpreter at its start, in the servers of `threads.py` that have another switch interval."""

import os
import sys

sys.setswitchinterval(float(os.environ["SWITCH_INTERVAL"]))
