"""Access: who an actor is, and whether it may do something to a thing. The only folder that judges.

There are two models, and each says something that the other cannot.

*File roles* (`roles.py`, `file_roles.py`): a row of the layout names the roles that read the file and those that write
it. That is the permission matrix of the specification; a program that opens a home on its own disk acts in one of them.

*Bindings* (`binding.py`, `binding_rights.py`): a connection is bound to a role of the control plane, an agent and a
project. That decides what exists for it: projects by their access policy, services by their permissions, nodes, agents
and the workspace by the visibility policy. What a binding may not see does not exist for it.

A served file joins the two: it has to exist for the binding, which has one file role at its path
(`Binding.role_at`), and the row names that role. A row may ask for a right of the binding
beside the role (`FileRow.needs`).

`judge(actor, verb, thing)` is the one question, and a `Decision` the one answer. Every other folder asks it;
`scripts/access.py` finds one that judges by itself. For a file role it answers from `file_roles.py`; for every other
actor from `bound_actors.py`, which is loaded at the first such question.
"""
