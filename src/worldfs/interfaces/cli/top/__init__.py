"""`paos top`: the world full-screen in a terminal."""
