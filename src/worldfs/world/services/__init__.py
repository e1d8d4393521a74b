"""The services that an agent may call: its memory, the web, and the nodes of the world.

endpoint_orders   where an order is written: control files, status, result
tool_order        the parser of an order
memory_tools      notes with versions, and their search
web               web search by one of several backends
node_tool         a node of this home, or one on the other end of a tunnel
agent_services    assembles them
"""
