"""A NewType for every id, so that no id passes for another."""

from typing import NewType

TenantId = NewType("TenantId", str)
BucketId = NewType("BucketId", str)  # a bucket's name, unique within its tenant
DocId = NewType("DocId", str)  # unique within a tenant
ChunkId = NewType("ChunkId", str)  # unique within a tenant; the document's id, `#`, the passage's position from 0
FieldName = NewType("FieldName", str)
Subject = NewType("Subject", str)  # whom a grant or a reader list names: `everyone`, `user:slack:T1:U1`, `group:g1`
LegId = NewType("LegId", str)  # unique within a plan
Generation = NewType("Generation", str)  # the state of an index: equal means unchanged; compare for equality only

EVERYONE = Subject("everyone")
