"""config.json: what the operator set, read from file and environment (workspace §3.13); secrets never printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.json_text import KeyTwice, each_key_once, parse_json
from worldfs.base.json_values import as_text
from worldfs.base.messages import CodedText, coded
from worldfs.base.model import ApprovalPolicy

from . import config_models, config_services, entry_ids, prose
from .config_fields import PATH, Json, Refusals, bad_field, kind_of
from .config_fields import mapping as _mapping
from .config_fields import read_or_refuse as _kept
from .config_fields import text as _text
from .config_keys import APPROVAL as _IDS
from .config_keys import UnreadKey, bare, slip_of_id, unread_keys
from .config_models import ModelConfig
from .config_services import ResponderConfig, WebSearch

if TYPE_CHECKING:
    from worldfs.base.model import Finding

PREFIX = "PhyAgentOS_"
_ASK = {"": ApprovalPolicy.ALWAYS}  # where the policy cannot be read
MASK = "***"
SHARED = "~/.PhyAgentOS/workspaces/shared"  # what other programs write for a shared workspace that nobody chose


class Instance(NamedTuple):
    """One body of `embodiments.instances`."""

    robot_id: str
    driver: str = ""
    workspace: str = ""  # as written; "" = the layout's own place
    enabled: bool = True
    profile_name: str = ""  # "" = the driver's name
    shared_environment: bool = True
    store: str = ""  # of the driver `workspace`: the address of the robot's own workspace, as of `paos up --store`

    @property
    def profile(self) -> str:
        return self.profile_name or self.driver


class Config(NamedTuple):
    """The settings we act on; `raw` is the file as it is, comments and unknown keys included."""

    mode: str = "single"  # single | fleet
    instances: tuple[Instance, ...] = ()
    twice: frozenset[str] = frozenset()  # robots that are listed more than once; the first entry is in `instances`
    refused: tuple[Instance, ...] = ()  # robots of a fleet that cannot be served; `findings` says why
    language: str = ""  # en | zh; "" = not set
    workspace: str = ""  # agents.defaults.workspace as written
    shared_workspace: str = ""  # as written; "" = the layout's own place
    approval: Mapping[str, ApprovalPolicy] = {}  # a NamedTuple's default; by id; "": all others
    brains: tuple[ResponderConfig, ...] = ()  # agents.brains: which program answers the messages of which agent
    web_search: WebSearch = WebSearch()
    real_time: float = 0.0  # simulation.realTime: seconds of a simulation in a second; 0: as many as can
    models: Mapping[str, ModelConfig] = {}  # a NamedTuple's default; never written into
    home: str = ""  # the directory of this file; "": it is in none
    profiles: str = ""  # directory of the operator's own profiles; the home's, not the file's
    findings: tuple[Finding, ...] = ()  # parts that cannot be used: the settings are without them
    unread: tuple[Finding, ...] = ()  # keys that nothing reads and that concern no safety: `paos check` names them
    raw: Json = {}  # noqa: RUF012 # a NamedTuple's default; never written into

    def brain(self, agent: str) -> ResponderConfig | None:
        """The entry that names this agent, else the one for all."""
        named = {brain.agent: brain for brain in self.brains}
        return named.get(agent) or named.get(config_services.ALL)

    def approval_of(self, node: str) -> ApprovalPolicy | None:
        """The policy of a robot or target; None where the file says nothing."""
        return self.approval.get(node) or self.approval.get("")

    def instance(self, robot_id: str) -> Instance | None:
        return next((i for i in self.instances if i.robot_id == robot_id), None)


def read(data: bytes, environ: Mapping[str, str] | None = None, *, where: str = PATH) -> Config:
    """The configuration. Keys in camelCase or snake_case; `environ` entries `PhyAgentOS_a__b` override `a.b`.

    No bytes (no file, workspace D36) are the defaults. A part that cannot be used is a finding, and the rest goes on.
    Raises `BadInput` naming `where` for: no JSON (with line and column), `embodiments` that say
    neither mode nor robots, robots of which none can be used. An unreadable file never becomes the defaults.
    """
    try:
        return _config(_parse(data), environ or {})
    except BadInput as error:
        error.path = where
        raise


def _config(raw: Json, environ: Mapping[str, str]) -> Config:
    merged = _overlaid(_bare_once(pair for name in raw for pair in _section(name, raw[name])), environ)
    refused: list[BadInput] = []
    bodies = _mapping(merged, "embodiments")
    mode = _text(bodies, "mode", "embodiments.mode", "single").lower()
    if mode not in ("single", "fleet"):
        raise bad_field("embodiments.mode", repr(mode), coded("runtime.or", one="single", other="fleet"))
    unread = tuple(unread_keys(merged, raw))
    if not bodies.get("instances") and (lost := next((key for key in unread if key.lists), None)):
        raise lost._replace(safety=False).refusal()  # no robot is made up for those that it lists
    in_robots = {key.level: key for key in unread if key.safety and key.in_robot}
    instances, twice = _instances(bodies.get("instances"), in_robots, refused)
    agents: Json = _kept(refused, lambda: _mapping(merged, "agents"), {})
    defaults: Json = _kept(refused, lambda: _mapping(agents, "defaults", "agents.defaults"), {})

    def words(document: Json, key: str, where: str, default: str = "") -> str:
        return _kept(refused, lambda: _text(document, key, where, default), default)

    language = words(merged, "language", "language") or words(defaults, "language", "agents.defaults.language")
    workspace = words(defaults, "workspace", "agents.defaults.workspace")
    shared = words(bodies, "sharedworkspace", "embodiments.sharedWorkspace")
    approval: Mapping[str, ApprovalPolicy] = _kept(
        refused, lambda: _approval(merged.get("approval"), [one.robot_id for one in instances]), _ASK
    )
    if misspelt := [key.refusal() for key in unread if key.safety and not key.in_robot]:
        refused += misspelt
        approval = _ASK
    brains = config_services.read_responders(agents.get("brains"), refused)
    models = config_models.read_models(merged.get("models"), refused)
    real_time = _kept(refused, lambda: config_services.read_real_time(_mapping(merged, "simulation")), 0.0)
    search = _kept(
        refused, lambda: config_services.read_web_search(_mapping(merged, "websearch", "webSearch")), WebSearch()
    )
    return Config(
        mode=mode,
        instances=instances,
        twice=twice,
        language="" if not language else "zh" if language.lower().startswith("zh") else "en",
        workspace=workspace,
        shared_workspace=shared,
        approval=approval,
        brains=brains,
        web_search=search,
        real_time=real_time,
        models=models,
        findings=tuple(_finding(error) for error in refused),
        unread=tuple(_finding(key.refusal(), warning=True) for key in unread if not key.safety),
        raw=raw,
    )


def _approval(value: Any, robots: Sequence[str]) -> Mapping[str, ApprovalPolicy]:
    """One policy for all, or an object of robots and targets, with `default`. Where one cannot be read, all ask.

    Ids are taken as they are written: a policy of `arm_1` is none of `arm1`. One that is `default` or a robot's id but
    for a slip is none that can be read.
    """
    found: dict[str, ApprovalPolicy] = {}
    for name, said in value.items() if isinstance(value, dict) else [("default", value)] if value is not None else ():
        if name.startswith("_"):
            continue
        where = f"approval.{name:.80}" if isinstance(value, dict) else "approval"
        if said not in tuple(ApprovalPolicy):
            raise bad_field(where, f"{said!r:.40}", coded("approval.three"))
        likely = slip_of_id(name, robots) if name.lower() != "default" else ""
        if likely and likely not in value:  # where that is said too, this may be another robot's
            raise bad_field(where, f"{said!r:.40}", coded("world.did_you_mean", likely=likely))
        found["" if name.lower() == "default" else name] = ApprovalPolicy(said)
    return found


def _finding(error: BadInput, *, warning: bool = False) -> Finding:
    """The error of `bad_field` as a finding at that field."""
    from worldfs.base.model import Finding

    where, found = "", error.found
    if isinstance(found, CodedText):
        where, found = as_text(found.args["where"]), as_text(found.args["found"])
    return Finding(error.code, f"{PATH} {where}".strip(), error.expected, found, error.fix, warning=warning)


def template(
    *robot_ids: str,
    driver: str = "simulation",
    profile_name: str = "franka_panda",
    language: str = "",
    shared_workspace: str = "",
) -> bytes:
    """A new config.json for `paos onboard`, without a secret: one body and a single workspace, or with
    `shared_workspace` a fleet, each robot in a directory of its id beside it. The caller writes it 0600."""
    common: Json = {"driver": driver, "enabled": True, "profileName": profile_name}
    bodies: Json = {"mode": "single", "instances": [{"robotId": id, **common} for id in robot_ids or ("franka_001",)]}
    if shared_workspace:
        bodies |= {"mode": "fleet", "sharedWorkspace": shared_workspace}
        bodies["instances"] = [{**item, "workspace": item["robotId"]} for item in bodies["instances"]]
    document: Json = {"language": language} if language else {}
    return (json.dumps({**document, "embodiments": bodies}, indent=2, ensure_ascii=False) + "\n").encode()


_SECRET = re.compile(
    r"(apikey|accesskey|secretkey|privatekey|signingkey|encryptkey|password|passwd|passphrase|secret|token|credentials?"
    r"|authorization|cookie|signature)$|^(secret|password|passwd|auth)"
    r"|^(tokens|authtokens|accesstokens|apikeys|credentials)$"  # but maxTokens is a number of words
)
_SECRET_VALUES = frozenset(("extraheaders", "headers", "env", "environment"))
_LOGIN = re.compile(r"(?<=://)([^/\s:@]*):([^/\s@]+)(?=@)")


def redact(document: Mapping[str, Any]) -> Json:
    """The same document with every secret masked (keys, tokens, passwords, header values, logins in addresses)."""
    return {key: _redacted(key, value, False) for key, value in document.items()}


def _redacted(key: str, value: Any, inside: bool) -> Any:
    name = bare(key)
    secret = inside or bool(_SECRET.search(name))
    if isinstance(value, Mapping):
        below = secret or name in _SECRET_VALUES
        return {k: _redacted(k, v, below) for k, v in value.items()}
    if isinstance(value, list):
        return [_redacted(key if not isinstance(v, Mapping) else "", v, secret) for v in value]
    if secret and not isinstance(value, bool) and value not in (None, ""):
        return MASK
    return _LOGIN.sub(rf"\1:{MASK}", value) if isinstance(value, str) else value


def _parse(data: bytes) -> Json:
    if not data:
        return {}
    text = prose.decode(data, PATH).removeprefix(prose.BOM)
    try:
        document = parse_json(text, object_pairs_hook=_mapping_once)
    except KeyTwice as error:
        raise _twice(error.key) from None
    except json.JSONDecodeError as error:
        raise BadInput(
            coded("file.json_error", problem=error.msg, line=error.lineno, column=error.colno),
            path=PATH,
            op="read",
            expected=coded("file.json_object"),
            fix=coded("file.fix_or_onboard"),
        ) from None
    except ValueError as error:
        raise BadInput(
            coded("file.unreadable", why=str(error)), path=PATH, op="read", expected=coded("file.json_object")
        ) from None
    if not isinstance(document, dict):
        raise BadInput(
            coded("file.other_kind", kind=type(document).__name__),
            path=PATH,
            op="read",
            expected=coded("file.json_object"),
        )
    return document


def _mapping_once(pairs: list[tuple[str, Any]]) -> Json:
    each_key_once([pair for pair in pairs if not pair[0].startswith("_")])  # comments may be repeated
    return dict(pairs)


def _twice(key: str) -> BadInput:
    return bad_field(key, coded("file.key_twice", key=key), coded("file.each_once"))


def _bare_once(pairs: Iterable[tuple[str, Any]]) -> Json:
    """A mapping by bare keys, of which two spellings in one mapping are one key that is written twice."""
    found: Json = {}
    for key, value in pairs:
        if key in found:
            raise _twice(key)
        found[key] = value
    return found


def _known(value: Any) -> Any:
    """Keys without case and underscores; those that begin with `_` are comments."""
    if isinstance(value, dict):
        return _bare_once((bare(key), _known(v)) for key, v in value.items() if not key.startswith("_"))
    return [_known(v) for v in value] if isinstance(value, list) else value


def _section(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A section of the file by its bare name; below `approval` stand ids, which are kept as they are written."""
    if not name.startswith("_"):
        key = bare(name)
        yield key, value if key == _IDS else _known(value)


def _overlaid(document: Json, environ: Mapping[str, str]) -> Json:
    for name in sorted(environ):
        if not name.lower().startswith(PREFIX.lower()):
            continue
        first, *rest = name[len(PREFIX) :].split("__")
        keys = [bare(first), *(rest if bare(first) == _IDS else map(bare, rest))]
        if not all(keys):
            continue
        try:
            value = parse_json(environ[name])
            value = value if keys[0] == _IDS else _known(value)
        except ValueError:
            value = environ[name]
        _put(document, keys, value, name)
    return document


def _put(node: Any, keys: list[str], value: Any, name: str) -> None:
    for i, key in enumerate(keys):
        last = i == len(keys) - 1
        if isinstance(node, list):
            if not key.isdigit() or int(key) >= len(node):
                raise bad_field(name, coded("config.no_entry", key=key), coded("config.below", n=len(node)))
            index = int(key)
            if last:
                node[index] = value
            node = node[index]
        elif isinstance(node, dict):
            if last:
                node[key] = value
            node = node.setdefault(key, {})
        else:
            raise bad_field(name, coded("config.plain_value", key=".".join(keys[:i])), coded("config.section"))


def _instances(
    value: Any, misspelt: Mapping[str, UnreadKey], refused: Refusals
) -> tuple[tuple[Instance, ...], frozenset[str]]:
    """The robots, and which of them are listed more than once.

    Raises `BadInput` where robots are listed and none of them can be used: no other robot is made up for them.
    """
    if value is None:
        return (), frozenset()
    if not isinstance(value, list):
        raise bad_field("embodiments.instances", kind_of(value), coded("file.list"))
    found: dict[str, Instance] = {}
    twice: set[str] = set()
    for number, entry in enumerate(value):
        try:
            where = f"embodiments.instances[{number}]"
            one = _instance(entry, where, misspelt.get(where))
            if one.robot_id in found:
                twice.add(one.robot_id)
                raise bad_field(
                    f"{where}.robotId", coded("config.again", name=repr(one.robot_id)), coded("file.entry_a_robot")
                )
            found[one.robot_id] = one
        except BadInput as error:
            refused.append(error)
    if value and not found:
        raise refused[0]
    return tuple(found.values()), frozenset(twice)


def _instance(entry: Any, where: str, misspelt: UnreadKey | None) -> Instance:
    if not isinstance(entry, dict):
        raise bad_field(where, kind_of(entry), coded("config.object_with", one="robotId", other="driver"))
    robot_id = _text(entry, "robotid", f"{where}.robotId")
    if reason := entry_ids.unsafe(robot_id):
        found = coded("file.at", where=repr(robot_id[:80]), found=reason)
        raise bad_field(f"{where}.robotId", found, coded("file.file_id"))
    flags = {}
    for key, name in (("enabled", "enabled"), ("sharedenvironment", "sharedEnvironment")):
        flags[key] = entry.get(key, True)
        if not isinstance(flags[key], bool):
            raise bad_field(f"{where}.{name}", repr(flags[key])[:80], coded("file.true_or_false"))
    if misspelt is not None:
        raise misspelt.refusal()
    return Instance(
        robot_id,
        _text(entry, "driver", f"{where}.driver"),
        _text(entry, "workspace", f"{where}.workspace"),
        flags["enabled"],
        _text(entry, "profilename", f"{where}.profileName"),
        flags["sharedenvironment"],
        _text(entry, "store", f"{where}.store"),
    )
