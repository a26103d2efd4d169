"""The faults of servers, and how often each happens in a long run."""

from enum import StrEnum
from typing import Final


class ServerFault(StrEnum):
    BUSY = "429 from OpenSearch"
    UNAVAILABLE = "503 from OpenSearch"
    CUT = "connection reset before the work"
    LOST = "connection reset after the work"
    SPLIT_BULK = "connection reset in the middle of a bulk"
    PARTLY_REFUSED = "429 for some writes of a bulk"
    SLOW = "slow answer"
    LOST_POINT = "point in time deleted"
    FULL_DISK = "index blocked as by a full disk"
    LOST_ALIAS = "alias lost for some seconds"
    STOPPED_NODE = "SIGSTOP of a node"
    KILLED_NODE = "kill -9 of a node"
    KILLED_DATABASE = "PostgreSQL stopped at once"
    KILLED_WORKER = "kill -9 of a worker"
    KILLED_REPLICA = "kill -9 of a replica"
    KILLED_SEARCH_START = "kill -9 while saved searches are started"
    KILLED_SEARCH_RUN = "kill -9 in the run of a saved search"
    KILLED_TURN_EXPIRY = "kill -9 while old turns are deleted"
    KILLED_DOCUMENT_EXPIRY = "kill -9 while old documents are deleted"
    KILLED_PAGE_EXPIRY = "kill -9 while web pages are deleted"
    KILLED_REBUILD = "kill -9 of a rebuild of a bucket"
    KILLED_SYNC = "kill -9 while a source is synchronised"
    KILLED_SQL_SYNC = "kill -9 while the rows of a database are synchronised"
    KILLED_REST_SYNC = "kill -9 while a list interface is synchronised"
    KILLED_CONFLUENCE_SYNC = "kill -9 while pages of Confluence are synchronised"
    KILLED_STORE_SYNC = "kill -9 while files of a store are synchronised"
    KILLED_USAGE_POST = "kill -9 while the report of usage is posted"
    KILLED_WEB_SEARCH = "kill -9 while a turn searches the web"
    KILLED_EXPORT_EXPIRY = "kill -9 while files of exports are deleted"
    KILLED_ATTACHED_EXPIRY = "kill -9 while attached files are deleted"
    KILLED_OFFER_EXPIRY = "kill -9 while offers of files are deleted"


PROXY_FAULTS: Final = frozenset(
    {
        ServerFault.BUSY,
        ServerFault.UNAVAILABLE,
        ServerFault.CUT,
        ServerFault.LOST,
        ServerFault.SPLIT_BULK,
        ServerFault.PARTLY_REFUSED,
        ServerFault.SLOW,
        ServerFault.LOST_POINT,
    }
)
KILLS: Final = frozenset(kind for kind in ServerFault if kind.name.startswith("KILLED_"))
WEIGHTS: Final = {
    ServerFault.BUSY: 170,
    ServerFault.UNAVAILABLE: 170,
    ServerFault.CUT: 170,
    ServerFault.LOST: 170,
    ServerFault.SPLIT_BULK: 90,
    ServerFault.PARTLY_REFUSED: 90,
    ServerFault.SLOW: 50,
    ServerFault.LOST_POINT: 30,
    ServerFault.FULL_DISK: 12,
    ServerFault.LOST_ALIAS: 12,
    ServerFault.STOPPED_NODE: 8,
    ServerFault.KILLED_NODE: 6,
    ServerFault.KILLED_DATABASE: 8,
    ServerFault.KILLED_WORKER: 20,
    ServerFault.KILLED_REPLICA: 6,
    ServerFault.KILLED_SEARCH_START: 40,
    ServerFault.KILLED_SEARCH_RUN: 50,
    ServerFault.KILLED_TURN_EXPIRY: 30,
    ServerFault.KILLED_DOCUMENT_EXPIRY: 30,
    ServerFault.KILLED_PAGE_EXPIRY: 20,
    ServerFault.KILLED_REBUILD: 16,
    ServerFault.KILLED_SYNC: 50,
    ServerFault.KILLED_SQL_SYNC: 30,
    ServerFault.KILLED_REST_SYNC: 30,
    ServerFault.KILLED_CONFLUENCE_SYNC: 30,
    ServerFault.KILLED_STORE_SYNC: 30,
    ServerFault.KILLED_USAGE_POST: 40,
    ServerFault.KILLED_WEB_SEARCH: 50,
    ServerFault.KILLED_EXPORT_EXPIRY: 30,
    ServerFault.KILLED_ATTACHED_EXPIRY: 15,
    ServerFault.KILLED_OFFER_EXPIRY: 15,
}
