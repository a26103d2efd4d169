"""The access lists of objects in S3 and Google Cloud Storage. Policies of buckets and of accounts are not in them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from storage.ingest.sources.access_list import AccessList, PrincipalNames
from storage.ingest.sources.stores.file_store import StoreEntry, unknown_access_problem

_S3_READ_PERMISSIONS: Final = ("READ", "FULL_CONTROL")
_GOOGLE_READ_ROLES: Final = ("READER", "OWNER")


class S3AccessReader:
    """Asks for the access list of each object. Folders have none."""

    def __init__(self, file_system: object) -> None:
        self._file_system = cast(Any, file_system)

    def read_root_access(self) -> Sequence[AccessList]:
        return ()

    def read_access(self, entry: StoreEntry) -> AccessList | None:
        """Raises OSError and `StoreProblem`."""
        if entry.is_folder:
            return None
        bucket, _, key = entry.path.partition("/")
        answer: Mapping[str, Any] = self._file_system.call_s3("get_object_acl", Bucket=bucket, Key=key)
        grants: Sequence[Mapping[str, Any]] | None = answer.get("Grants")
        if grants is None:
            raise unknown_access_problem()
        return AccessList(
            allowed=tuple(
                _s3_names_of(grant.get("Grantee") or {})
                for grant in grants
                if grant.get("Permission") in _S3_READ_PERMISSIONS
            )
        )


def _s3_names_of(grantee: Mapping[str, str]) -> PrincipalNames:
    """Returns `user:ID` with the canonical id of an account, or the group that the address of a group ends with."""
    if uri := grantee.get("URI"):
        return (f"group:{uri.rpartition('/')[2]}",)
    return (f"user:{grantee.get('ID', '')}",)


class GoogleAccessReader:
    """Asks for the access list of each object. Folders have none."""

    def __init__(self, file_system: object) -> None:
        self._file_system = cast(Any, file_system)

    def read_root_access(self) -> Sequence[AccessList]:
        return ()

    def read_access(self, entry: StoreEntry) -> AccessList | None:
        """Raises what gcsfs raises, and `StoreProblem`."""
        if entry.is_folder:
            return None
        bucket, _, key = entry.path.partition("/")
        answer: Mapping[str, Any] = self._file_system.call("GET", "b/{}/o/{}/acl", bucket, key, json_out=True)
        items: Sequence[Mapping[str, str]] | None = answer.get("items")
        if items is None:
            raise unknown_access_problem()
        return AccessList(
            allowed=tuple(
                _google_names_of(item.get("entity", "")) for item in items if item.get("role") in _GOOGLE_READ_ROLES
            )
        )


def _google_names_of(entity: str) -> PrincipalNames:
    """Returns the names of an entity such as `group-staff@example.com`; that of a person is a mail address as well."""
    kind, _, name = entity.partition("-")
    if not name:
        return (entity,)
    return (f"{kind}:{name}", name) if kind == "user" else (f"{kind}:{name}",)
