"""Drivers of bodies, one folder each. They import only `ground`."""
