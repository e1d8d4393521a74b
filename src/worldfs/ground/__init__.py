"""The ground floor: nouns, errors, the clock, the driver port and durable bytes. Imports nothing of ours."""
