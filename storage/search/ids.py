"""A NewType for every id, so that the type checker finds mixed-up ids."""

from typing import NewType

TenantId = NewType("TenantId", str)
BucketId = NewType("BucketId", str)  # a bucket's name, unique within its tenant
DocId = NewType("DocId", str)  # unique within a tenant
ChunkId = NewType("ChunkId", str)  # unique within a tenant; the document's id, `#`, the passage's position from 0
FieldName = NewType("FieldName", str)
Subject = NewType("Subject", str)  # a name in a grant or a reader list: `everyone`, `user:slack:T1:U1`, `group:g1`
LegId = NewType("LegId", str)  # unique within a plan
Generation = NewType("Generation", str)  # identifies a state of an index; compare for equality only

EVERYONE = Subject("everyone")
