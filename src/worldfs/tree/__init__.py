"""The tree layer: names, rights, changes, and the stores that hold bytes."""
