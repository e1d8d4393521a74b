"""A walking quadruped: model, gait, way over the floor, driver."""
