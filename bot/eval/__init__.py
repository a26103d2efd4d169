"""Measuring Parley on documents and questions whose answers are known."""
