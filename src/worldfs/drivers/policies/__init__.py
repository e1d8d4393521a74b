"""Policy clients: one way to ask any policy server for actions; and a server of our own."""
