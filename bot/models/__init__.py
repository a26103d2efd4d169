"""Embeddings, reranking and extraction by models of the gateway, as the protocols of storage and agent ask for them."""
