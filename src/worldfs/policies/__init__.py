"""Policy clients: one port for actions from any policy server; and a server of this package."""
