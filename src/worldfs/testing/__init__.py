"""Public test doubles and contract tests, shipped."""
