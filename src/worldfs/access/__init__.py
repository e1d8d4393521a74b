"""Access: identities and tokens, file roles, bindings; the only folder that judges."""
