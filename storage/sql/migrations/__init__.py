"""Alembic revisions, one file each in `versions/`, numbered in order; `upgrade.py` runs them when a database is opened.

Before adding one, record the rows of the last one with its program (`tests/bot/upgrades/record_rows.py`).
To add one: change `tables.py`, write `versions/vNNNN_what.py` (a test shows where the two differ), raise `HEAD`.
"""

from typing import Final

HEAD: Final = "0030"
