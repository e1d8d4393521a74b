"""The page: static files for a browser, which is one more client of the tree."""
