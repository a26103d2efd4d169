"""Answers from text with a language model: one call reviews the evidence and writes the answer from it."""
