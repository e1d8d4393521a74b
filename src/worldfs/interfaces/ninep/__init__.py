"""The tree over 9P2000.L: a listener beside the served port, off by default, on loopback or a UNIX socket."""
