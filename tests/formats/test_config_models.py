"""`models` of config.json: read in both spellings, refused by key, never with a secret."""

import json

import pytest

from worldfs.formats import config
from worldfs.formats.config_models import ModelConfig

LOCAL = {"kind": "openai", "model": "tiny", "baseUrl": "http://127.0.0.1:8080/v1"}


def read(models: object, environ: dict[str, str] | None = None) -> config.Config:
    return config.read(json.dumps({"models": models}).encode(), environ)


def test_a_model_has_an_address_a_key_and_limits() -> None:
    found = read(
        {
            "planner": LOCAL,
            "reviewer": {
                "kind": "anthropic", "model": "m", "api_key_file": "secrets/a", "timeout_seconds": 5, "retries": 0,
                "maxTokens": 9, "tokenBudget": 10, "costBudget": 0.5, "inputPrice": 1, "outputPrice": 5,
            },
        }
    )  # fmt: skip
    assert found.models["planner"] == ModelConfig("planner", "openai", "tiny", "http://127.0.0.1:8080/v1")
    one = found.models["reviewer"]
    assert (one.api_key_env, one.api_key_file, one.timeout_s, one.retries) == ("", "secrets/a", 5.0, 0)
    assert (one.max_tokens, one.token_budget, one.cost_budget, one.input_price, one.output_price) == (9, 10, 0.5, 1, 5)
    assert not found.findings and config.Config().models == {}


def test_the_maker_s_own_address_has_its_usual_key_and_no_other_address_gets_it() -> None:
    found = read({"planner": {"kind": "openai", "model": "m"}, "other": LOCAL})
    assert found.models["planner"].api_key_env == "OPENAI_API_KEY"
    assert found.models["other"].api_key_env == ""


def test_only_the_critic_can_be_required() -> None:
    found = read({"critic": {**LOCAL, "required": True}})
    assert found.models["critic"].required and not found.findings
    wrong = read({"critic": {**LOCAL, "required": "yes"}, "planner": {**LOCAL, "required": True}})
    assert [item.field.removeprefix("config.json ") for item in wrong.findings] == [
        "models.critic.required", "models.planner.required"
    ] and not wrong.models  # fmt: skip


def test_the_environment_may_set_one() -> None:
    environ = {"PhyAgentOS_models__planner__kind": "openai", "PhyAgentOS_models__planner__model": "m"}
    assert read({}, environ).models["planner"].model == "m"


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"kind": "oracle"}, "kind"),
        ({"kind": 3}, "kind"),
        ({"model": ""}, "model"),
        ({"baseUrl": "127.0.0.1:8080"}, "baseUrl"),
        ({"baseUrl": "ftp://host"}, "baseUrl"),
        ({"baseUrl": "https://me:pass@host/v1"}, "baseUrl"),
        ({"baseUrl": "http://far.example/v1", "apiKeyEnv": "K"}, "baseUrl"),
        ({"apiKey": "sk-secret-0815"}, "apiKey"),
        ({"timeoutSeconds": 0}, "timeoutSeconds"),
        ({"retries": -1}, "retries"),
        ({"retries": 1000}, "retries"),
        ({"retries": True}, "retries"),
        ({"maxTokens": "many"}, "maxTokens"),
        ({"tokenBudget": 1.5}, "tokenBudget"),
        ({"costBudget": -1}, "costBudget"),
        ({"costBudget": float("nan")}, "costBudget"),
        ({"inputPrice": 1}, "inputPrice"),
        ({"temprature": 1}, "temprature"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_name_and_the_others_stay(
    change: dict[str, object], key: str
) -> None:
    found = read({"planner": LOCAL | change, "other": LOCAL})
    assert list(found.models) == ["other"]
    (finding,) = found.findings
    assert finding.field == f"config.json models.planner.{key}"
    assert "sk-secret-0815" not in str(finding) and "pass@" not in str(finding)


def test_models_that_are_no_object_are_refused() -> None:
    assert [f.field for f in read(["gpt"]).findings] == ["config.json models"]
    assert [f.field for f in read({"planner": "gpt"}).findings] == ["config.json models.planner"]
