"""The read-only tools with which a language model searches: their definitions, arguments, results and budget."""
