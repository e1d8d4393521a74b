"""The services that an agent may call: its memory, the web, and the nodes of the world.

place      where an order is written: control files, status, result
payload    what an order says
memory     notes with versions, and their search
web        the web, searched by one of several backends
node       a body of this home, or a node on the other end of a tunnel
services   all of it put together
"""
