"""The jobs of agents: what is said to them and asked of services, carried out durably, and the wait for their ends.

calls      the table: accept, run, end, show
call       one of them, as bytes of the tree
chat       an agent's input; brains that answer it
selector   events/control/wait.json and events/next.json of one attach
"""

from .call import Call, Run
from .calls import Calls
from .chat import Brain, Chat
from .selector import Selector

__all__ = ["Brain", "Call", "Calls", "Chat", "Run", "Selector"]
