"""Whose tree a 9P attach gives: the peer of a UNIX socket by its user, a peer of loopback by a token.

A UNIX socket admits processes of the server's own user (and root), who own the home anyway: they name the file role
that they take. A port of loopback is open to every user of the machine, so it admits a token and nothing else: written
to the authentication file of `auth`, or given as the `aname`.
"""

from __future__ import annotations

import errno
import logging
import socket
import struct
from collections.abc import Callable
from typing import Final, Protocol

from worldfs.access.attachment import first_binding
from worldfs.access.binding import Binding, binding_of_role
from worldfs.access.decision import Decision
from worldfs.access.principal import Principal
from worldfs.access.roles import OPERATOR, is_role
from worldfs.access.things import AttachableProjects
from worldfs.access.tokens import TokenStore
from worldfs.base.agent_names import is_agent_name
from worldfs.namespace.path_id import path_id
from worldfs.namespace.verbs import Verbs
from worldfs.world.world import PROJECT

from .ninep_frames import NO_FID, NinePRequest, qid
from .ninep_session import NinePRefused

MOST_AUTHS: Final = 8  # authentication files of one connection
_TOKEN_MOST: Final = 512
_AUTH_FILE: Final = 0x08  # QTAUTH
_PEER: Final = struct.Struct("3i")  # pid, uid, gid of SO_PEERCRED
_DEFAULT_NAMES: Final = frozenset({"", "/", "ctl"})  # what clients send when nobody named a tree

_LOG: Final = logging.getLogger("worldfs.ninep")

VerbsOf = Callable[[Binding], Verbs]


class TokenJudge(Protocol):
    """The part of a server that knows its tokens."""

    @property
    def tokens(self) -> TokenStore: ...
    def principal(self, authorization: str) -> Principal | Decision: ...


def peer_uid(connection: socket.socket) -> int:
    """The user of the process at the other end of a UNIX socket."""
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    return int(_PEER.unpack(found)[1])


class RoleAttacher:
    """An `Attacher` for the home's own user: `aname` is a role, `ROLE/AGENT`, or nothing for the operator. It gives no
    person but the operator: who another person is, a token says."""

    def __init__(self, verbs_of: VerbsOf) -> None:
        self._verbs_of = verbs_of

    def auth(self, request: NinePRequest) -> bytes:
        raise NinePRefused(errno.ENOENT)  # none is needed

    def write_auth(self, afid: int, data: bytes) -> bool:
        return False

    def clunk_auth(self, afid: int) -> bool:
        return False

    def attach(self, request: NinePRequest) -> Verbs:
        name = request.text("aname")
        role, slash, agent = (OPERATOR if name in _DEFAULT_NAMES else name).partition("/")
        if not is_role(role) or (slash and not is_agent_name(agent)):  # a third part would name a person
            _LOG.info("9P: no tree for the name %r: expected ROLE or ROLE/AGENT", name[:80])
            raise NinePRefused(errno.EACCES)
        return self._verbs_of(binding_of_role(role, agent, PROJECT))


class TokenAttacher:
    """An `Attacher` for a peer that proves who it is by a token. `admitted` is told each principal."""

    def __init__(
        self,
        verbs_of: VerbsOf,
        judge: TokenJudge,
        projects: AttachableProjects,
        admitted: Callable[[Principal, Binding], None],
    ) -> None:
        self._verbs_of, self._judge, self._projects, self._admitted = verbs_of, judge, projects, admitted
        self._auths: dict[int, bytearray] = {}

    def auth(self, request: NinePRequest) -> bytes:
        """A client that gives the token as the `aname` is told that it needs no authentication file."""
        afid = request.number("afid")
        if request.text("aname") not in _DEFAULT_NAMES:
            raise NinePRefused(errno.ENOENT)
        if afid in self._auths or len(self._auths) >= MOST_AUTHS:
            raise NinePRefused(errno.EINVAL)
        self._auths[afid] = bytearray()
        return bytes([_AUTH_FILE]) + qid(False, 0, path_id(f"/auth/{afid}"))[1:]

    def write_auth(self, afid: int, data: bytes) -> bool:
        given = self._auths.get(afid)
        if given is None:
            return False
        if len(given) + len(data) > _TOKEN_MOST:
            raise NinePRefused(errno.EACCES)
        given += data
        return True

    def clunk_auth(self, afid: int) -> bool:
        return self._auths.pop(afid, None) is not None

    def attach(self, request: NinePRequest) -> Verbs:
        afid = request.number("afid")
        if afid == NO_FID:
            token = request.text("aname")
        elif afid in self._auths:
            token = self._auths[afid].decode("utf-8", "replace").strip()
        else:
            raise NinePRefused(errno.EBADF)
        principal = self._judge.principal(token)
        if isinstance(principal, Decision):
            raise NinePRefused(errno.EACCES)
        binding = first_binding(principal, self._judge.tokens, self._projects)
        if isinstance(binding, Decision):
            raise NinePRefused(errno.EACCES)
        self._admitted(principal, binding)
        return self._verbs_of(binding)
