"""Settings of language models: `models` of config.json, by name; the planner asks the one named `planner`, and
second opinions come from `critic`, before an order, and `judge`, after an instruction.

    "models": {
        "planner": {"kind": "openai", "model": "qwen2.5-7b", "baseUrl": "http://127.0.0.1:8080/v1"},
        "critic": {"kind": "anthropic", "model": "claude-haiku-4-5", "apiKeyFile": "secrets/anthropic"}
    }

No key is in config.json: it comes from an environment variable or from a file of mode 0600, relative to the home.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.plugin_registry import installed

from .config_fields import Json, Refusals, bad_field, kind_of, seconds, text

SECOND_OPINION: Final = "critic"  # the name of the model that reviews orders
JUDGE: Final = "judge"  # the name of the model that may doubt what an instruction was measured to have reached
MODELS_GROUP: Final = "worldfs.models"  # the group of packages' models
OFFICIAL: Final[Mapping[str, str]] = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_KNOWN: Final = frozenset(
    ("kind", "model", "baseurl", "apikey", "apikeyenv", "apikeyfile", "timeoutseconds", "retries", "maxtokens",
     "tokenbudget", "costbudget", "inputprice", "outputprice")
)  # fmt: skip
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class ModelConfig(NamedTuple):
    """One model. Budgets are those of one instruction; prices and `cost_budget` are in US dollars.

    `kind`: openai (chat completions), anthropic (messages), or the name of a package's model, whose own keys are in
    `more`.
    """

    name: str
    kind: str
    model: str = ""
    base_url: str = ""  # "": the maker's own address
    api_key_env: str = ""
    api_key_file: str = ""
    timeout_s: float = 60.0  # one call
    retries: int = 2  # of a call that was not answered
    max_tokens: int = 2_000  # of one answer
    token_budget: int = 100_000
    cost_budget: float | None = None
    input_price: float | None = None  # of a million tokens
    output_price: float | None = None
    required: bool = False  # of the critic: without its answer nothing moves
    more: Mapping[str, Any] = _NOTHING


def read_models(value: Any, refused: Refusals) -> dict[str, ModelConfig]:
    """Keys come without case and underscores (config.py). A model whose entry is refused is as if not configured."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        refused.append(bad_field("models", kind_of(value), coded("config.models")))
        return {}
    found: dict[str, ModelConfig] = {}
    for name, entry in value.items():
        where = f"models.{name}"
        try:
            if not isinstance(entry, dict):
                raise bad_field(where, kind_of(entry), coded("config.object_with", one="kind", other="model"))
            found[name] = _model(name, entry, where)
        except BadInput as error:
            refused.append(error)
    return found


def _model(name: str, entry: Json, where: str) -> ModelConfig:
    kind = text(entry, "kind", f"{where}.kind").lower()
    if kind not in OFFICIAL and kind not in (added := installed(MODELS_GROUP)):
        raise bad_field(f"{where}.kind", repr(kind), " | ".join((*OFFICIAL, *sorted(added))))
    if entry.get("apikey") is not None:
        raise bad_field(f"{where}.apiKey", coded("config.secret"), coded("config.secret_place"))
    model = text(entry, "model", f"{where}.model")
    if kind in OFFICIAL and not model:
        raise bad_field(f"{where}.model", coded("common.nothing"), coded("config.model_name"))
    known = _KNOWN | {"required"} if name == SECOND_OPINION else _KNOWN
    more = {key: item for key, item in entry.items() if key not in known}
    required = entry.get("required", False) if name == SECOND_OPINION else False
    if not isinstance(required, bool):
        raise bad_field(f"{where}.required", f"{required!r:.40}", coded("file.true_or_false"))
    if kind in OFFICIAL and more:
        raise bad_field(f"{where}.{min(more)}", coded("config.unread_key"), coded("config.model_keys"))
    env, file = text(entry, "apikeyenv", f"{where}.apiKeyEnv"), text(entry, "apikeyfile", f"{where}.apiKeyFile")
    base_url = _address(entry, where, keyed=bool(env or file))
    input_price = _amount(entry, "inputprice", f"{where}.inputPrice")
    output_price = _amount(entry, "outputprice", f"{where}.outputPrice")
    if (input_price is None) != (output_price is None):
        raise bad_field(f"{where}.inputPrice", coded("config.one_price"), coded("config.both_prices"))
    return ModelConfig(
        name,
        kind,
        model,
        base_url,
        env or ("" if base_url or file else OFFICIAL.get(kind, "")),
        file,
        seconds(entry, "timeoutseconds", f"{where}.timeoutSeconds", 60.0),
        _count(entry, "retries", f"{where}.retries", 2, (0, 10)),
        _count(entry, "maxtokens", f"{where}.maxTokens", 2_000, (1, 1_000_000)),
        _count(entry, "tokenbudget", f"{where}.tokenBudget", 100_000, (1, 1_000_000_000)),
        _amount(entry, "costbudget", f"{where}.costBudget"),
        input_price,
        output_price,
        required,
        more,
    )


def _address(entry: Json, where: str, *, keyed: bool) -> str:
    """The base URL. A key goes over TLS, or stays on this machine; no login stands in the address."""
    address = text(entry, "baseurl", f"{where}.baseUrl").rstrip("/")
    if not address:
        return ""
    try:
        url = urlsplit(address)
        good = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        good = False
    if not good or url.username or url.password or url.query or url.fragment:
        found = coded("config.login_in_address") if "@" in address else repr(address)[:80]
        raise bad_field(f"{where}.baseUrl", found, coded("config.address"))
    if keyed and url.scheme == "http" and url.hostname not in LOOPBACK:
        raise bad_field(f"{where}.baseUrl", coded("config.plain_http"), coded("config.https"))
    return address


def _count(entry: Json, key: str, where: str, default: int, limits: tuple[int, int]) -> int:
    value = entry.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not limits[0] <= value <= limits[1]:
        raise bad_field(where, f"{value!r:.40}", coded("config.whole_range", low=limits[0], high=limits[1]))
    return value


def _amount(entry: Json, key: str, where: str) -> float | None:
    value = entry.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise bad_field(where, f"{value!r:.40}", coded("config.dollars"))
    return float(value)
