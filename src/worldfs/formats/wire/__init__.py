"""What goes over a socket: frames, and the words and numbers of their errors."""
