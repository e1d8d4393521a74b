"""The hands: drivers of bodies, one folder each. They see the ground floor only."""
