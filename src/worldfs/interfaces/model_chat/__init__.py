"""A chat that a language model answers: the tree as tools, with the rights of the asker."""
