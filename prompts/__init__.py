"""One file per prompt, rendered for a model. The rule reasoner needs none, so there is none yet."""
