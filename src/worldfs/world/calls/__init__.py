"""The jobs of agents: what is said to them and asked of services, carried out durably, and the wait for their ends.

calls      the table: accept, run, end, show
call       one of them, as bytes of the tree
chat       an agent's input; brains that answer it
selector   events/control/wait.json and events/next.json of one attach
"""

from .agent_job import AgentJob, AgentJobContext
from .agent_jobs import AgentJobs
from .chat import Chat, Responder
from .event_selector import EventSelector

__all__ = ["AgentJob", "AgentJobContext", "AgentJobs", "Chat", "EventSelector", "Responder"]
