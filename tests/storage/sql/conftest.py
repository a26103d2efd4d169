from tests.contracts.sql.databases import clock as clock
from tests.contracts.sql.databases import database as database
from tests.contracts.sql.databases import database_url as database_url
from tests.contracts.sql.databases import sqlite_database as sqlite_database
