"""A stand-in of Isaac Lab's interface: the app launcher, and managers' environments that begin anew by themselves."""
