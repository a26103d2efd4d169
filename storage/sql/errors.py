"""The errors of the database, the same for SQLite and PostgreSQL.

SqlError
├── InvalidDatabaseUrl     not the address of a database that Parley knows
├── DatabaseUnavailable    cannot be reached, refuses the login, or closed the connection
│   └── DatabaseBusy       it did not answer in time, or others locked it for too long
├── DatabaseNotWritable    the file, its folder or the rights do not allow writing, or the disk is full
├── DatabaseDamaged        the file is not a database, or is broken
│   └── DatabaseLost       the file is missing or empty, although it was there before
├── DatabaseTooNew         a later Parley has written it
├── ValueRefused           a value that the database cannot hold
├── ConstraintBroken       a row that breaks a constraint: a duplicate, or a missing foreign key
├── BackupRefused          a backup that may not be written or restored here
├── BackupDamaged          not a backup, or a part of one
└── StatementRefused       the database rejects a statement: a fault of the program
"""

from pathlib import Path


class SqlError(Exception):
    """Base of all errors of the stores. `location` names the database and never contains a password."""

    def __init__(self, location: str, message: str) -> None:
        super().__init__(message)
        self.location = location


class InvalidDatabaseUrl(SqlError):
    def __init__(self, location: str) -> None:
        super().__init__(
            location, f"{location!r} is not a database address; use postgresql://user@host/name or sqlite:///file"
        )


class DatabaseUnavailable(SqlError):
    """`reason` is the message of the database or the network."""

    advice = "check that it runs, its host and port, and the user, password and name in PARLEY_DATABASE_URL"

    def __init__(self, location: str, reason: str) -> None:
        super().__init__(location, f"the database at {location} is not available ({reason}); {self.advice}")
        self.reason = reason


class DatabaseBusy(DatabaseUnavailable):
    advice = "check what else uses it"


class DatabaseNotWritable(SqlError):
    def __init__(self, location: str, reason: str) -> None:
        super().__init__(
            location, f"the database at {location} cannot be written ({reason}); check the rights and the disk"
        )
        self.reason = reason


class DatabaseDamaged(SqlError):
    def __init__(self, location: str, reason: str) -> None:
        super().__init__(location, f"the database at {location} is damaged ({reason}); restore it from a backup")
        self.reason = reason


class DatabaseLost(DatabaseDamaged):
    """`marker` is a file that says that there was a database. Without it, an empty database is created."""

    def __init__(self, location: str, reason: str, marker: str) -> None:
        super().__init__(
            location,
            f"it is {reason}; an empty one would have no grants, conversations and sources: if that is wanted, delete"
            f" {marker}",
        )
        self.marker = marker


class DatabaseTooNew(SqlError):
    """`found_revision` is the database's revision, `known_revision` the latest one that this program knows."""

    def __init__(self, location: str, found_revision: str, known_revision: str) -> None:
        super().__init__(
            location,
            f"the database at {location} was written by a later Parley "
            f"(revision {found_revision}; this one knows {known_revision}); update Parley",
        )
        self.found_revision, self.known_revision = found_revision, known_revision


class ValueRefused(SqlError):
    def __init__(self, location: str, reason: str) -> None:
        super().__init__(location, f"the database at {location} cannot hold a value ({reason})")
        self.reason = reason


class ConstraintBroken(SqlError):
    def __init__(self, location: str, reason: str) -> None:
        super().__init__(location, f"the database at {location} refuses a row ({reason})")
        self.reason = reason


class StatementRefused(SqlError):
    def __init__(self, location: str, reason: str) -> None:
        super().__init__(location, f"the database at {location} refused a statement ({reason})")
        self.reason = reason


class BackupRefused(SqlError):
    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(str(path), f"{path}: {reason}")


class BackupDamaged(SqlError):
    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(str(path), f"{path} is damaged ({reason}); nothing was restored, use another backup")
