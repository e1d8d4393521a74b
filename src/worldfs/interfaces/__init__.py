"""The doors: where people and programs come in. A door translates, and decides nothing."""
