"""Alembic's entry point: runs all revisions in the transaction of the connection that `upgrade.py` passes."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
