"""What replies of models look like, as classes that check them. `prompt_library` finds them here by name."""
