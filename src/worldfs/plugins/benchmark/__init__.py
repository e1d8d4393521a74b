"""The benchmarks: methods on seeded table-top tasks, grammar and model on a list of instructions; measured results."""
