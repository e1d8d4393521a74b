"""Demonstrations: a scripted expert on the table, kept as a LeRobot dataset and as a flight log."""
