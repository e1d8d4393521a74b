"""Parts that the core does not import: each may be left out, and is reached by an interface or an entry point."""
