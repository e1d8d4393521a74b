"""The namespace: the tree in which a path is resolved, authorized and executed."""
