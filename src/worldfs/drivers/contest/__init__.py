"""The contest on the table: families of tasks, worlds from seeds, whoever carries them out, and what was measured."""
