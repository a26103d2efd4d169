"""Calls to language models: requests and replies, retries and fallbacks, structured output, and what calls cost."""
