"""Claimers on two hosts: each of 1,000 letters has one claimer, while the agent moves between them all the time."""

import pytest
from tests.nats_store.test_agents_on_hosts import Host, drain

pytestmark = [pytest.mark.proof, pytest.mark.usefixtures("nats_server")]


def test_each_of_1000_letters_has_one_claimer(tmp_path, nats_address):
    sent, one, two = drain(Host(tmp_path / "a", nats_address), Host(tmp_path / "b", nats_address), 1000)
    assert sorted(one + two) == sent
    assert one and two
