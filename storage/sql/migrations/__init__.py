"""Alembic's revisions, a file each in `versions/`, numbered in order; `upgrade.py` runs them on opening a database.

A new one: change `tables.py`, write `versions/vNNNN_what.py` (a test says where the two differ), raise `HEAD`.
"""

from typing import Final

HEAD: Final = "0008"
