"""Reads the documents of sets that only texts define: one call says which of them fit."""
