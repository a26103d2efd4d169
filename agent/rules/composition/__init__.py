"""Reads a question as one phrase that is composed of phrases: sets, their values, and how sets are related."""
