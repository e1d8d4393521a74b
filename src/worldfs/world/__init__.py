"""The world layer: the layout of files, and the modules that assemble a world."""
