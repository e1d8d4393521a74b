"""The jobs of agents: chat messages and service calls, executed durably, and the waits for their ends.

agent_jobs       accept and show jobs
agent_runtime    run and end them, with the workers of their kinds
agent_job        one job, and its files in the tree
chat             an agent's input; responders answer it
event_selector   events/control/wait.json and events/next.json of one attach
"""

from .agent_job import AgentJob, AgentJobContext
from .agent_jobs import AgentJobs
from .chat import Chat, Responder
from .event_selector import EventSelector

__all__ = ["AgentJob", "AgentJobContext", "AgentJobs", "Chat", "EventSelector", "Responder"]
