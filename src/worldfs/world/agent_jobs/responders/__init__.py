"""Responders: the chat backends that answer an agent's messages. Each is one module; `choose_responder` selects one."""

from .choose_responder import Responders

__all__ = ["Responders"]
