"""The control plane: which nodes, services and projects there are, and who may see them. Durable, one writer."""
