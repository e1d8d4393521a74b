"""The contract of every store: inherit `StoreContract`, provide a `store` fixture."""

from __future__ import annotations

from .lease_contract import LeaseContract
from .race_contract import RaceContract
from .value_contract import ValueContract
from .watch_contract import WatchContract


class StoreContract(ValueContract, RaceContract, WatchContract, LeaseContract):
    """All that every store promises."""
