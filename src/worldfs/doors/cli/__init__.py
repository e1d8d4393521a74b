"""The `paos` command."""
