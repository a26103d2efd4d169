"""What the application does around calls of a language model: it stores them, and keeps what they cost under a cap."""
