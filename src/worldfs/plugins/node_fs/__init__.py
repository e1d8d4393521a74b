"""The node FS protocol: a directory of one machine, exported to other machines."""
