"""What the database raises, whichever it is.

SqlError
├── InvalidDatabaseUrl     not the address of a database that Parley knows
├── DatabaseUnavailable    cannot be reached, does not let Parley in, or went away
│   └── DatabaseBusy       it did not answer in time, or others held it for too long
├── DatabaseNotWritable    the file, its folder or the rights do not allow writing, or the disk is full
├── DatabaseDamaged        the file is no database, or is broken
├── DatabaseTooNew         a later Parley has written it
├── ValueRefused           a value that the database cannot hold
├── ConstraintBroken       a row that must not be: a duplicate, or one that points nowhere
└── StatementRefused       the database does not understand Parley: a fault of the program
"""


class SqlError(Exception):
    """Base of all that the stores raise. `where` names the database and never holds a password."""

    def __init__(self, where: str, sentence: str) -> None:
        super().__init__(sentence)
        self.where = where


class InvalidDatabaseUrl(SqlError):
    def __init__(self, where: str) -> None:
        super().__init__(
            where, f"{where!r} is not a database address; use postgresql://user@host/name or sqlite:///file"
        )


class DatabaseUnavailable(SqlError):
    """`reason` is what the database or the network said."""

    check = "check that it runs, its host and port, and the user, password and name in PARLEY_DATABASE_URL"

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(where, f"the database at {where} is not available ({reason}); {self.check}")
        self.reason = reason


class DatabaseBusy(DatabaseUnavailable):
    check = "check what else uses it"


class DatabaseNotWritable(SqlError):
    def __init__(self, where: str, reason: str) -> None:
        super().__init__(where, f"the database at {where} cannot be written ({reason}); check the rights and the disk")
        self.reason = reason


class DatabaseDamaged(SqlError):
    def __init__(self, where: str, reason: str) -> None:
        super().__init__(where, f"the database at {where} is damaged ({reason}); restore it from a backup")
        self.reason = reason


class DatabaseTooNew(SqlError):
    """`found` is its revision, `known` the latest one that this program knows."""

    def __init__(self, where: str, found: str, known: str) -> None:
        super().__init__(
            where,
            f"the database at {where} was written by a later Parley (revision {found}; this one knows {known}); "
            "update Parley",
        )
        self.found, self.known = found, known


class ValueRefused(SqlError):
    def __init__(self, where: str, reason: str) -> None:
        super().__init__(where, f"the database at {where} cannot hold a value ({reason})")
        self.reason = reason


class ConstraintBroken(SqlError):
    def __init__(self, where: str, reason: str) -> None:
        super().__init__(where, f"the database at {where} refuses a row ({reason})")
        self.reason = reason


class StatementRefused(SqlError):
    def __init__(self, where: str, reason: str) -> None:
        super().__init__(where, f"the database at {where} refused a statement ({reason})")
        self.reason = reason
