"""Rooms: where things hang. A room says which store holds a row's bytes and which names are there."""
