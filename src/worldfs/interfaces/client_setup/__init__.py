"""What `paos setup` puts into the settings of a command-line agent, and takes out again."""
