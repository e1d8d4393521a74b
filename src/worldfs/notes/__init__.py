"""What is remembered, found again: one search for LESSONS.md and every memory.md."""
