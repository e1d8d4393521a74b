"""The node FS protocol: a directory of one machine, offered to others and reached by them."""
