"""The reasoner with a language model. Where the model does not answer, the rules take over."""
