"""Composes the answers from tables."""

from agent.compose.tables.table_answers import COMPOSERS

__all__ = ["COMPOSERS"]
