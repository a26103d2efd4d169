"""A strict OpenAI-compatible server on 127.0.0.1, scripted by a test or answered by hand."""
