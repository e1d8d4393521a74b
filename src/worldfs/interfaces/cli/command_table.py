"""The table of commands: names, words of help, arguments, and the function that does each."""

from __future__ import annotations

from .agent.agent_commands import AGENTS
from .command_spec import ArgumentSpec, CommandSpec
from .dataset_commands import DATASET_COMMANDS
from .mission_commands import MISSION_COMMANDS
from .tree_command_table import TREE_COMMANDS

ROLES = ("operator", "planner", "critic", "watchdog", "orchestrator", "runtime_watchdog", "agent")
SHELLS = ("bash", "zsh", "fish")
PROGRAMS = ("claude-code", "codex", "gemini", "opencode")  # that `paos setup` knows

GLOBAL = (
    ArgumentSpec(("--home",), "help.home", "DIR", completes="file"),
    ArgumentSpec(("--workspace",), "help.workspace", "DIR", completes="file"),
    ArgumentSpec(("--agents",), "help.agents_place", "DIR", completes="file"),
    ArgumentSpec(("--as",), "help.as", "ROLE", completes="role"),
    ArgumentSpec(("--connect",), "help.connect", "URL"),
    ArgumentSpec(("--token-file",), "help.token_file", "FILE", completes="file"),
    ArgumentSpec(("--agent",), "help.agent", "NAME"),
    ArgumentSpec(("--project",), "help.project", "ID"),
    ArgumentSpec(("--json",), "help.json", takes="switch"),
)

_BODY = (
    ArgumentSpec(("--driver",), "help.driver", "NAME"),
    ArgumentSpec(("--seed",), "help.seed", "N", takes="count"),
    ArgumentSpec(("--no-cameras",), "help.no_cameras", takes="switch"),
)

_COPY = (ArgumentSpec(("directory",), "help.store_directory", "DIR", completes="file"),)
_PORT = ArgumentSpec(("--port",), "help.port", "N", takes="count", default=18790)
_SOCKET = (
    ArgumentSpec(("--host",), "help.host", "ADDRESS", default="127.0.0.1"),
    _PORT,
    ArgumentSpec(("--metrics-port",), "help.metrics_port", "N", takes="count"),
    ArgumentSpec(("--tls-cert",), "help.tls_cert", "FILE", completes="file"),
    ArgumentSpec(("--tls-key",), "help.tls_key", "FILE", completes="file"),
    ArgumentSpec(("--serve-9p",), "help.serve_9p", "ADDRESS", completes="file"),
)

_WORLD = (
    CommandSpec(
        "onboard",
        "help.onboard",
        "onboard_command:run",
        (
            ArgumentSpec(("--profile",), "help.onboard_profile", "NAME", default=""),
            ArgumentSpec(("--language",), "help.onboard_language", choices=("en", "zh"), default="en"),
            ArgumentSpec(("--robot-id",), "help.onboard_robot_id", "ID", default=""),
            ArgumentSpec(("--fleet",), "help.onboard_fleet", takes="switch"),
        ),
    ),
    CommandSpec(
        "up",
        "help.up",
        "up:run",
        (
            ArgumentSpec(("--until-idle",), "help.up_until_idle", takes="switch"),
            ArgumentSpec(("--store",), "help.up_store", "ADDRESS"),
            ArgumentSpec(("--robot",), "help.up_robot", "ID", many="*"),
            ArgumentSpec(("--no-robots",), "help.up_no_robots", takes="switch"),
            ArgumentSpec(("--standby",), "help.up_standby", takes="switch"),
            ArgumentSpec(("--traces",), "help.up_traces", "URL"),
            *_BODY,
            ArgumentSpec(("--real-time",), "help.up_real_time", "FACTOR", takes="number", many="?"),
            ArgumentSpec(("--serve",), "help.up_serve", takes="switch"),
            *_SOCKET,
        ),
        "help.up_more",
        instead="command.instead_up",
    ),
    CommandSpec(
        "do",
        "help.do",
        "do_command:run",
        (
            ArgumentSpec(("instruction",), "help.do_instruction", "TEXT", many="+"),
            ArgumentSpec(("--node",), "help.do_node", "ID"),
            ArgumentSpec(("--timeout",), "help.time_limit", "SECONDS", takes="number"),
            ArgumentSpec(("--confirm",), "help.do_confirm", "CODE"),
            ArgumentSpec(("--record",), "help.do_record", "FILE", completes="file"),
            *_BODY,
        ),
        "help.do_more",
        remote="remote_commands:do",
    ),
    CommandSpec(
        "stop",
        "help.stop",
        "stop_command:run",
        (
            ArgumentSpec(("robot",), "help.one_robot", "ID", many="*"),
            ArgumentSpec(("--node",), "help.one_robot", "ID", many="*"),
            ArgumentSpec(("--all",), "help.stop_all", takes="switch"),
        ),
        "help.stop_more",
        remote="stop_command:remote_stop",
    ),
    CommandSpec(
        "resume",
        "help.resume",
        "stop_command:resume",
        (
            ArgumentSpec(("robot",), "help.one_robot", "ID", many="*"),
            ArgumentSpec(("--node",), "help.one_robot", "ID", many="*"),
            ArgumentSpec(("--all",), "help.every_robot", takes="switch"),
        ),
        "help.resume_more",
        remote="stop_command:remote_resume",
    ),
    CommandSpec(
        "approve",
        "help.approve",
        "approve_command:run",
        (
            ArgumentSpec(("plan",), "help.approve_plan", "PLAN", many="?", default=None),
            ArgumentSpec(("--refuse",), "help.approve_refuse", takes="switch"),
        ),
        "help.approve_more",
        remote="approve_command:run",
    ),
    CommandSpec("serve", "help.serve", "serve:run", _SOCKET, "help.serve_more"),
    CommandSpec(
        "mount",
        "help.mount",
        "mount_command:run",
        (
            ArgumentSpec(("directory",), "help.mount_directory", "DIR", completes="file"),
            ArgumentSpec(("--foreground",), "help.mount_foreground", takes="switch"),
            ArgumentSpec(("--read-only",), "help.mount_read_only", takes="switch"),
            ArgumentSpec(("--allow-other",), "help.mount_allow_other", "ROLE", completes="role"),
            ArgumentSpec(("--offline",), "help.mount_offline", takes="switch"),
        ),
        "help.mount_more",
        remote="mount_command:run",
    ),
    CommandSpec(
        "unmount",
        "help.unmount",
        "mount_command:unmount",
        (
            ArgumentSpec(("directory",), "help.unmount_directory", "DIR", completes="file"),
            ArgumentSpec(("--lazy",), "help.unmount_lazy", takes="switch"),
        ),
        remote="mount_command:unmount",
    ),
    CommandSpec("mcp", "help.mcp", "mcp_command:run", (), "help.mcp_more", remote="mcp_command:run"),
    CommandSpec(
        "setup",
        "help.setup",
        "setup_command:run",
        (
            ArgumentSpec(("program",), "help.setup_program", "PROGRAM", choices=PROGRAMS),
            ArgumentSpec(("directory",), "help.setup_directory", "DIR", completes="file", default=".", many="?"),
            ArgumentSpec(("--yes",), "help.yes", takes="switch"),
            ArgumentSpec(("--undo",), "help.setup_undo", takes="switch"),
        ),
        "help.setup_more",
        remote="setup_command:run",
    ),
    CommandSpec(
        "token add",
        "help.token_add",
        "token:add",
        (
            ArgumentSpec(("agent",), "help.token_add_agent", "AGENT", completes="agent"),
            ArgumentSpec(("--role",), "help.token_add_role", choices=("user", "admin")),
            ArgumentSpec(("--person",), "help.token_add_person", takes="switch"),
        ),
        "help.token_add_more",
    ),
    CommandSpec(
        "page",
        "help.page",
        "page_command:run",
        (
            ArgumentSpec(("--open",), "help.page_open", takes="switch"),
            ArgumentSpec(("--valid",), "help.page_valid", "TIME", default="12h"),
            ArgumentSpec(("--url",), "help.page_url", "URL"),
            ArgumentSpec(("--person",), "help.page_person", "NAME"),
        ),
        "help.page_more",
    ),
    CommandSpec("token list", "help.token_list", "token:list_tokens", reads=True),
    CommandSpec(
        "token revoke",
        "help.token_revoke",
        "token:revoke",
        (ArgumentSpec(("name",), "help.token_revoke_name", "ID"),),
        "help.token_revoke_more",
    ),
    CommandSpec(
        "policy serve",
        "help.policy_serve",
        "policy_command:serve",
        (
            ArgumentSpec(("--policy",), "help.policy_serve_policy", "NAME", default="scripted"),
            _SOCKET[0],
            ArgumentSpec(("--port",), "help.policy_serve_port", "N", takes="count", default=8765),
        ),
        "help.policy_serve_more",
        remote="policy_command:serve",
    ),
    CommandSpec(
        "model check",
        "help.model_check",
        "model_command:check",
        (ArgumentSpec(("name",), "help.model_check_name", "NAME", many="?", default="planner"),),
        "help.model_check_more",
    ),
    CommandSpec("model usage", "help.model_usage", "model_command:usage", (), "help.model_usage_more", reads=True),
    CommandSpec(
        "skill try",
        "help.skill_try",
        "skill_commands:try_skill",
        (
            ArgumentSpec(("name",), "help.skill_name", "NAME"),
            ArgumentSpec(("--seeds",), "help.skill_try_seeds", "N", takes="count", default=100),
        ),
        "help.skill_try_more",
        instead="command.instead_skill_try",
    ),
    CommandSpec(
        "skill list", "help.skill_list", "skill_commands:list_skills", remote="skill_commands:list_skills", reads=True
    ),
    CommandSpec(
        "skill allow",
        "help.skill_allow",
        "skill_commands:allow",
        (
            ArgumentSpec(("name",), "help.skill_name", "NAME"),
            ArgumentSpec(("body",), "help.skill_allow_body", "TARGET"),
        ),
        "help.skill_allow_more",
        remote="skill_commands:allow",
    ),
    CommandSpec(
        "robot add",
        "help.robot_add",
        "robot_commands:add",
        (
            ArgumentSpec(("robot",), "help.robot_id", "ID"),
            ArgumentSpec(("--profile",), "help.onboard_profile", "NAME", default="franka_panda"),
            ArgumentSpec(("--dir",), "help.robot_dir", "DIR", completes="file", default=""),
        ),
        "help.robot_add_more",
        instead="fleet.instead_robot",
    ),
    CommandSpec(
        "robot remove",
        "help.robot_remove",
        "robot_commands:remove",
        (
            ArgumentSpec(("robot",), "help.robot_id", "ID"),
            ArgumentSpec(("--cancel-jobs",), "help.robot_cancel_jobs", takes="switch"),
        ),
        "help.robot_remove_more",
        instead="fleet.instead_robot",
    ),
    CommandSpec(
        "robot list", "help.robot_list", "robot_commands:list_robots", instead="fleet.instead_list", reads=True
    ),
    CommandSpec(
        "robot scan",
        "help.robot_scan",
        "device_commands:scan",
        (ArgumentSpec(("ports",), "help.robot_scan_ports", "PORT", many="*"),),
        "help.robot_scan_more",
        instead="fleet.instead_robot",
        reads=True,
    ),
    CommandSpec(
        "robot calibrate",
        "help.robot_calibrate",
        "device_commands:calibrate",
        (ArgumentSpec(("device",), "help.robot_calibrate_device", "NAME"),),
        "help.robot_calibrate_more",
        instead="fleet.instead_robot",
    ),
    CommandSpec(
        "robot record",
        "help.robot_record",
        "session_record_command:run",
        (
            ArgumentSpec(("directory",), "help.robot_record_dir", "DIR", completes="file"),
            ArgumentSpec(("sessions",), "help.robot_record_sessions", "SESSION", many="+"),
        ),
        "help.robot_record_more",
        instead="fleet.instead_robot",
    ),
    CommandSpec(
        "robot hand-eye",
        "help.hand_eye",
        "hand_eye_command:run",
        (
            ArgumentSpec(("session",), "help.hand_eye_session", "SESSION", many="?"),
            ArgumentSpec(("--camera",), "help.hand_eye_camera", "NAME", default="wrist"),
            ArgumentSpec(("--across",), "help.hand_eye_across", "N", takes="count", default=7),
            ArgumentSpec(("--down",), "help.hand_eye_down", "N", takes="count", default=5),
            ArgumentSpec(("--square",), "help.hand_eye_square", "M", takes="number", default=0.03),
            ArgumentSpec(("--marker",), "help.hand_eye_marker", "M", takes="number", default=0.022),
            ArgumentSpec(("--print",), "help.hand_eye_print", "FILE", completes="file", default=""),
        ),
        "help.hand_eye_more",
        instead="fleet.instead_robot",
    ),
    CommandSpec(
        "status",
        "help.status",
        "status_command:run",
        (ArgumentSpec(("--watch",), "help.status_watch", takes="switch"),),
        remote="remote_commands:status",
        reads=True,
    ),
    CommandSpec(
        "top", "help.top", "top.top_command:run", (), "help.top_more", remote="top.top_command:remote", reads=True
    ),
    CommandSpec(
        "view", "help.view", "view_command:run", (), "help.view_more", remote="view_command:remote", reads=True
    ),
    *TREE_COMMANDS,
    CommandSpec(
        "reset",
        "help.reset",
        "reset_command:run",
        (
            ArgumentSpec(("--yes",), "help.yes", takes="switch"),
            ArgumentSpec(("--undo",), "help.reset_undo", takes="switch"),
        ),
        "help.reset_more",
    ),
    CommandSpec(
        "cancel",
        "help.cancel",
        "cancel:run",
        (ArgumentSpec(("job",), "help.cancel_job", "JOB", completes="job"),),
        "help.cancel_more",
        remote="remote_commands:cancel",
    ),
    CommandSpec(
        "lessons",
        "help.lessons",
        "lessons_command:run",
        (
            ArgumentSpec(("query",), "help.lessons_query", "TEXT", many="*"),
            ArgumentSpec(("--limit",), "help.lessons_limit", "N", takes="count", default=10),
        ),
        instead="command.instead_lessons",
        reads=True,
    ),
    CommandSpec(
        "check",
        "help.check",
        "check_command:run",
        (ArgumentSpec(("--fix",), "help.check_fix", takes="switch"),),
        "help.check_more",
        remote="check_command:remote",
        reads=True,
    ),
    CommandSpec(
        "node",
        "help.node",
        "node_command:run",
        (
            ArgumentSpec(("--export",), "help.node_export", "EXPORT", many="*"),
            ArgumentSpec(("--service",), "help.node_service", "FILE", completes="file", many="*"),
            ArgumentSpec(("--invite",), "help.node_invite", "TOKEN"),
            ArgumentSpec(("--name",), "help.node_name", "NAME"),
            ArgumentSpec(("--state",), "help.node_state", "FILE", completes="file"),
            ArgumentSpec(("--lease",), "help.node_lease", "SECONDS", takes="number"),
        ),
        "help.node_more",
        remote="node_command:run",
    ),
    CommandSpec(
        "store export",
        "help.store_export",
        "store_commands:export",
        _COPY,
        "help.store_more",
        instead="command.instead_store",
    ),
    CommandSpec(
        "store import",
        "help.store_import",
        "store_commands:take_in",
        _COPY,
        "help.store_more",
        instead="command.instead_store",
    ),
    CommandSpec(
        "store verify",
        "help.store_verify",
        "store_commands:verify",
        _COPY,
        "help.store_more",
        instead="command.instead_store",
        reads=True,
    ),
    CommandSpec(
        "completion",
        "help.completion",
        "completion:run",
        (ArgumentSpec(("shell",), "help.completion_shell", choices=SHELLS),),
        "help.completion_more",
        remote="completion:run",
        reads=True,
    ),
    CommandSpec("version", "help.print_version", "version:run", remote="version:run", reads=True),
)

_THERE = "command.instead_agents"
COMMANDS = (
    *_WORLD[:-2],
    *MISSION_COMMANDS,
    *(item._replace(remote=item.target) for item in DATASET_COMMANDS),  # without a world
    *(
        item._replace(instead=_THERE) if item.name != "agent schema" else item._replace(remote=item.target)
        for item in AGENTS
    ),
    *_WORLD[-2:],
)
