"""The prompts: one file each, with name, version, model role and output in front, and the texts as Jinja2 blocks."""
