"""The Model Context Protocol: the tree's verbs as tools, its files as resources, for one actor with its rights."""
