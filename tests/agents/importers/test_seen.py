"""A set of identities that does not outgrow memory."""

import random

from worldfs.plugins.importers.identity_set import IdentitySet


def test_it_says_what_is_new_before_and_after_it_outgrows_its_memory():
    picks = random.Random(7)
    identities = [f"{picks.getrandbits(64):016x}" for _ in range(500)]
    with IdentitySet(small=100) as seen:
        plain: set[str] = set()
        for identity in identities + picks.sample(identities, 200) + ["0" * 16, "f" * 16, "0" * 16]:
            assert (identity in seen) == (identity in plain)
            assert seen.add(identity) == (identity not in plain)
            plain.add(identity)
