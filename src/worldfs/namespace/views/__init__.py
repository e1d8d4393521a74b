"""The computed views of the served tree: what each file says, for one binding, now."""
