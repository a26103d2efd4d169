"""One conversation with a model that calls tools: the messages, its answer, and the plan that is made from it."""
