"""The verbs that every door shares: walk, open, read, write, stat, clunk, watch, cancel, over one namespace."""
