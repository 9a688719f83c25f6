"""The version of Meadowlark. What it promises is on meadowlark/docs/operate/upgrades.md."""

VERSION = "1.1.0"
