"""The lowest layer: data types, errors, the clock, the driver interface and durable writes. Imports nothing of ours."""
