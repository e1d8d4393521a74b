"""The table-top benchmark: task families, scenarios from seeds, methods that carry them out, and measured results."""
