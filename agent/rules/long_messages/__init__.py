"""Bounds the work on a long message: a pasted list becomes one condition, and of other text an excerpt is read."""
