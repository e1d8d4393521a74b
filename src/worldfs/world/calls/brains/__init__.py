"""Brains: who answers an agent's letters. Each is one file; `choose` says which an agent has."""

from .choose_responder import Responders

__all__ = ["Responders"]
