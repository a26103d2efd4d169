"""Measures Parley on documents and questions with known answers."""
