"""The world from elsewhere: a client of the Acheron protocol, and paths on fsspec over it."""
