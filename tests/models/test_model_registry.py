"""The port of models: a package's model is found by name, and is given operations as their JSON Schemas."""

from worldfs.base.chat_model import ModelMessage, ModelTool, RequestedCall
from worldfs.base.driver import PluginContext, Run
from worldfs.base.standard_operations import MOVE_TO, PICK_UP
from worldfs.models.model_registry import MODELS
from worldfs.testing.manual_clock import ManualClock

ECHO = """
from worldfs.base.chat_model import ModelReply, RequestedCall

class Echo:
    def __init__(self, settings, context):
        self.name = settings["name"]

    def reply(self, messages, tools, run):
        wanted = [tool for tool in tools if tool.schema["required"] == ["object_id"]]
        told = {"object_id": messages[-1].text}
        return ModelReply(self.name, tuple(RequestedCall(tool.name, told) for tool in wanted))
"""


def test_a_package_s_model_chooses_among_operations_by_their_schemas(install):
    install("echo", {"worldfs.models": {"echo": "echo_model:Echo"}}, echo_model=ECHO)
    clock = ManualClock()
    model = MODELS["echo"]({"name": "tiny"}, PluginContext(clock))
    reply = model.reply(
        [ModelMessage("user", "apple_01")],
        [ModelTool(one.name, one.description, one.json_schema()) for one in (MOVE_TO, PICK_UP)],
        Run(clock, 1e9),
    )
    assert reply.text == "tiny" and reply.calls == (RequestedCall("pick_up", {"object_id": "apple_01"}),)
