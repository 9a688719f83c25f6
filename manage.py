#!/usr/bin/env python
"""Django's command line for Meadowlark."""

from meadowlark.run.command_line import main

if __name__ == "__main__":
    main()
