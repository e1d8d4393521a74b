"""The judge, asked directly: where it says no, it says no though everything else would say yes."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldfs.access import attachment
from worldfs.access.auth import UNKNOWN, authenticate
from worldfs.access.binding import ADMIN, MOTHER, NODE, SYSTEM, USER, Binding, binding_of_role
from worldfs.access.binding_rights import BindingRights
from worldfs.access.decision import ALLOWED, NO_COMMAND, Decision
from worldfs.access.judge import judge
from worldfs.access.principal import Principal
from worldfs.access.role_things import InboxMessage
from worldfs.access.roles import AGENT, OPERATOR
from worldfs.access.standing import local_actor_name
from worldfs.access.things import AttachClaim, Realm, RobotName, UnboundCall
from worldfs.access.tokens import TokenStore
from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput

ALICE = Principal(USER, agent="alice", id="token-1")
BOSS = Principal(ADMIN)


class OpenDoors:
    """Nodes that know every secret, and projects that anybody may attach to."""

    def node_of_secret(self, secret: str) -> str:
        return "node-1"

    def invite_valid(self, token: str) -> bool:
        return True

    def attachable(self, binding: Binding) -> Decision:
        return ALLOWED


@pytest.mark.parametrize("token", ["", "Bearer ", "x" * 513])
def test_no_token_and_one_that_is_too_long_are_nobody_s(tmp_path: Path, token: str) -> None:
    assert authenticate(token, TokenStore.open(tmp_path), OpenDoors()) == UNKNOWN
    assert authenticate("x" * 512, TokenStore.open(tmp_path), OpenDoors()) == Principal(NODE, "node-1")


def test_a_user_without_a_binding_calls_only_what_is_free() -> None:
    asked = [judge(who, Verb.COMMAND, UnboundCall(free)) for who in (ALICE, BOSS) for free in (False, True)]
    assert [bool(answer) for answer in asked] == [False, True, True, True]


def test_a_user_attaches_to_no_system_project_and_to_no_primary_agent(tmp_path: Path) -> None:
    tokens = TokenStore.open(tmp_path)

    def attach(who: Principal, agent: str, project: str) -> bool:
        claim = AttachClaim(Binding(who.role, agent, project), tokens, OpenDoors())  # type: ignore[arg-type]  # all that is asked
        return bool(judge(who, Verb.COMMAND, claim))

    assert attach(ALICE, "alice", "proj-1") and attach(BOSS, MOTHER, SYSTEM)
    assert not attach(ALICE, "alice", SYSTEM)
    assert not attach(Principal(USER), MOTHER, "proj-1")


@pytest.mark.parametrize(
    ("who", "agent", "present", "project"),
    [
        (BOSS, MOTHER, "proj-1", SYSTEM), (BOSS, "alice", "proj-1", "proj-1"), (BOSS, "alice", SYSTEM, ""),
        (ALICE, MOTHER, "proj-1", "proj-1"),
    ],
)  # fmt: skip
def test_only_an_administrator_s_primary_agent_begins_in_the_system_project(
    who: Principal, agent: str, present: str, project: str
) -> None:
    assert attachment.default_project(who, agent, present) == project


class WithoutCommand(BindingRights):
    """A binding that sees every robot and may command none."""

    def __init__(self) -> None:
        self.body_ids = frozenset({"arm"})  # type: ignore[assignment,misc]  # all that is asked

    def _may_command(self, node: str) -> bool:
        return False


def test_a_binding_that_sees_a_robot_may_stop_it_and_not_command_it() -> None:
    rights = WithoutCommand()
    assert judge(rights, Verb.STOP, RobotName("arm"))
    assert judge(rights, Verb.COMMAND, RobotName("arm")) == NO_COMMAND
    assert not judge(rights, Verb.STOP, RobotName("leg"))


@pytest.mark.parametrize("thing", [Realm.MOUNT_SECRETS, Realm.EVERY_AGENT])
def test_secrets_of_mounts_are_the_primary_agent_s_alone(thing: Realm) -> None:
    assert judge(Binding(ADMIN, MOTHER, SYSTEM), Verb.READ, thing)
    for other in (Binding(ADMIN, "alice", SYSTEM), Binding(USER, MOTHER, "proj-1"), Binding(USER, "alice", "proj-1")):
        assert not judge(other, Verb.READ, thing)


def test_a_message_is_written_into_the_inbox_that_it_is_addressed_to() -> None:
    from worldfs.access import file_roles

    assert file_roles.decide(AGENT, Verb.WRITE, InboxMessage("rio", "rio"))
    assert not file_roles.decide(AGENT, Verb.WRITE, InboxMessage("rio", "sol"))


@pytest.mark.parametrize("name", ["mother/ben", "/ben", "mother/"])
def test_no_name_of_an_agent_makes_an_actor_a_person(name: str) -> None:
    for made in (
        lambda: binding_of_role(OPERATOR, name, "main").actor,
        lambda: Binding(ADMIN, name, "main").actor,
        lambda: Binding(ADMIN, MOTHER, "main", person=name).actor,
        lambda: local_actor_name(OPERATOR, name),
    ):
        with pytest.raises(BadInput, match="name"):
            made()
