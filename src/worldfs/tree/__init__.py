"""The tree floor: names, rights, changes, and the stores that hold bytes."""
