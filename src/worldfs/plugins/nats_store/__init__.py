"""The store on NATS JetStream, for what has outgrown a machine."""
