"""Stand-in for unitree_sdk2py: the client and the channel of a Go2, over a simulated base."""
