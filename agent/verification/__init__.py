"""Whether sentences that a model wrote say only what the passages that they cite say."""
