"""The runtime's documents: SESSIONS.md, TARGETS.md and SKILLS.md, in every dialect of the specification."""
