"""Arms led by hand through LeRobot's teleoperators, and the devices of this machine that LeRobot can drive."""
