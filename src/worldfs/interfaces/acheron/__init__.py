"""The tree over a WebSocket: the Acheron protocol, its control operations, and what watches them."""
