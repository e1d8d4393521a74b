"""A fleet: missions, the robots that bid for them, what they reserve, and the orchestrator that decides."""
