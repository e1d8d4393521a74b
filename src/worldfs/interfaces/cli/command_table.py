"""The table of commands: names, words of help, arguments, and the function that does each."""

from __future__ import annotations

from .agent.agent_commands import AGENTS
from .command_spec import ArgumentSpec, CommandSpec
from .dataset_commands import DATASET_COMMANDS

ROLES = ("operator", "planner", "critic", "watchdog", "orchestrator", "runtime_watchdog", "agent")
SHELLS = ("bash", "zsh", "fish")
PROGRAMS = ("claude-code", "codex", "gemini", "opencode")  # that `paos setup` knows

GLOBAL = (
    ArgumentSpec(("--home",), "the home directory (default: $PAOS_HOME, else ~/.PhyAgentOS)", "DIR", completes="file"),
    ArgumentSpec(("--workspace",), "open this directory as the workspace", "DIR", completes="file"),
    ArgumentSpec(
        ("--agents",), "where agents live (default: $PAOS_AGENTS, else agents in the home)", "DIR", completes="file"
    ),
    ArgumentSpec(("--as",), "act with the rights of this role (default: operator)", "ROLE", completes="role"),
    ArgumentSpec(("--connect",), "use a served world instead of a local one: ws://HOST:PORT (or $PAOS_CONNECT)", "URL"),
    ArgumentSpec(
        ("--token-file",),
        "file with the server's token (default: $PAOS_TOKEN, else auth_tokens.json in the home)",
        "FILE",
        completes="file",
    ),
    ArgumentSpec(
        ("--agent",), "with --connect and for `paos mcp`: act as this agent (default: the token's own)", "NAME"
    ),
    ArgumentSpec(
        ("--project",), "with --connect: the project; its token, if it has one, is in $PAOS_PROJECT_TOKEN", "ID"
    ),
    ArgumentSpec(("--json",), "print JSON: one object, or one per line for events", takes="switch"),
)

_TREE_PATH = ArgumentSpec(
    ("path",), "a file's name (ENVIRONMENT.md) or its place in the tree", "PATH", completes="tree"
)
_BODY = (
    ArgumentSpec(("--driver",), "driver to start, instead of the one that the profile names", "NAME"),
    ArgumentSpec(("--seed",), "scene to create if ENVIRONMENT.md has none", "N", takes="count"),
    ArgumentSpec(("--no-cameras",), "render no pictures", takes="switch"),
)

_PORT = ArgumentSpec(
    ("--port",), "port to listen on (default: 18790; 0: any free one)", "N", takes="count", default=18_790
)
_SOCKET = (
    ArgumentSpec(
        ("--host",), "address to listen on (default: 127.0.0.1, this machine alone)", "ADDRESS", default="127.0.0.1"
    ),
    _PORT,
    ArgumentSpec(("--metrics-port",), "health and metrics over HTTP on this port, too", "N", takes="count"),
    ArgumentSpec(("--tls-cert",), "certificate (PEM): the port speaks TLS", "FILE", completes="file"),
    ArgumentSpec(("--tls-key",), "its key (PEM)", "FILE", completes="file"),
)

_WORLD = (
    CommandSpec(
        "onboard",
        "create a home, its configuration and a workspace; existing files stay",
        "onboard_command:run",
        (
            ArgumentSpec(
                ("--profile",),
                "profile of the robot: of HOME/hal/profiles or built in (default: franka_panda)",
                "NAME",
                default="",
            ),
            ArgumentSpec(("--language",), "language of headings", choices=("en", "zh"), default="en"),
            ArgumentSpec(("--robot-id",), "the robot's id (default: franka_001)", "ID", default=""),
        ),
    ),
    CommandSpec(
        "up",
        "run the kernel and the drivers until Ctrl-C",
        "up:run",
        (
            ArgumentSpec(("--until-idle",), "end when no job is left, or none may begin (then exit 1)", takes="switch"),
            *_BODY,
            ArgumentSpec(("--serve",), "also serve the tree over a WebSocket (`paos serve`)", takes="switch"),
            *_SOCKET,
        ),
        "One line is printed for each event. A second kernel on the same workspace is refused.",
        instead="the server's own `paos up` carries out what is asked",
    ),
    CommandSpec(
        "do",
        'carry out an instruction: paos do "clear the table"',
        "do_command:run",
        (
            ArgumentSpec(("instruction",), "the instruction, in English or Chinese", "TEXT", many="+"),
            ArgumentSpec(("--node",), "the robot to use", "ID"),
            ArgumentSpec(("--timeout",), "time limit in seconds", "SECONDS", takes="number"),
            ArgumentSpec(("--confirm",), "carry out the model's reading that was shown with this code", "CODE"),
            ArgumentSpec(("--record",), "record the camera: FILE.mp4 or FILE.gif", "FILE", completes="file"),
            *_BODY,
        ),
        "Exit 0: the goal holds in the world, or the question was answered; 1: it does not, or the world refuses; "
        "2: not understood or not answered; 130: interrupted. "
        "The first Ctrl-C stops the robot safely, the second ends the command.",
        remote="remote_commands:do",
    ),
    CommandSpec(
        "stop",
        "stop every robot at once, or one of them",
        "stop_command:run",
        (
            ArgumentSpec(("--node",), "only this robot", "ID"),
            ArgumentSpec(("--all",), "every robot (the default), also those added later", takes="switch"),
        ),
        "It goes ahead of everything, and needs no kernel that runs: a world that is stopped starts stopped. What ran "
        "ends as cancelled, what waits is held until `paos resume`. Whoever may see a robot may stop it. "
        "Exit 1: a robot has not confirmed that it holds still.",
        remote="stop_command:remote_stop",
    ),
    CommandSpec(
        "resume",
        "let stopped robots move again",
        "stop_command:resume",
        (
            ArgumentSpec(("--node",), "only this robot", "ID"),
            ArgumentSpec(("--all",), "every robot", takes="switch"),
        ),
        "Queued jobs go on; stopped jobs do not start again.",
        remote="stop_command:remote_resume",
    ),
    CommandSpec(
        "approve",
        "approve a plan that waits before a robot moves, or list what waits",
        "approve_command:run",
        (
            ArgumentSpec(("plan",), "the plan's hash; none: list what waits", "PLAN", many="?", default=None),
            ArgumentSpec(("--refuse",), "refuse it", takes="switch"),
        ),
        "config.json `approval` says which robots ask: never, risky or always. Whoever planned cannot approve. "
        "An approval holds for the steps that are listed, and for 10 minutes.",
        remote="approve_command:run",
    ),
    CommandSpec(
        "serve",
        "serve the tree over a WebSocket until Ctrl-C",
        "serve:run",
        _SOCKET,
        "Tokens are in HOME/auth_tokens.json. With --json one line tells the port when it listens. "
        "Bodies are run by `paos up`.",
    ),
    CommandSpec(
        "mcp",
        "serve the tree to a command-line agent over stdio (Model Context Protocol)",
        "mcp_command:run",
        (),
        "The client starts it; it ends with its input. Rights are those of --as, over --connect those of the token. "
        "`paos serve` answers the same protocol over HTTP at /mcp.",
        remote="mcp_command:run",
    ),
    CommandSpec(
        "setup",
        "set up a command-line agent: the MCP server, session hooks and a guide; shows the difference first",
        "setup_command:run",
        (
            ArgumentSpec(("program",), "the command-line agent", "PROGRAM", choices=PROGRAMS),
            ArgumentSpec(("directory",), "its project (default: here)", "DIR", completes="file", default=".", many="?"),
            ArgumentSpec(("--yes",), "do not ask for confirmation", takes="switch"),
            ArgumentSpec(("--undo",), "take out what was put in, and nothing else", takes="switch"),
        ),
        "--agent names the agent (default: that of the program), --as its role (default: planner). Without a terminal "
        "it changes nothing without --yes. Over --connect the settings name the server and --token-file, and there are "
        "no hooks. Exit 1: the user declined.",
        remote="setup_command:run",
    ),
    CommandSpec(
        "token add",
        "create a token of the served tree for one agent",
        "token:add",
        (
            ArgumentSpec(("agent",), "the agent of the token", "AGENT", completes="agent"),
            ArgumentSpec(("--role",), "what it may", default="user", choices=("user", "admin")),
        ),
        "The token is printed only now. It allows attaching as that agent and as no other.",
    ),
    CommandSpec("token list", "list the tokens of the served tree (masked)", "token:list_tokens"),
    CommandSpec(
        "token revoke",
        "revoke a token of the served tree",
        "token:revoke",
        (ArgumentSpec(("name",), "the token's id, all of an agent, or `user`: the shared one", "ID"),),
        "New connections are refused at once, open ones end within seconds. After revoking `user`, only tokens "
        "of one agent are accepted.",
    ),
    CommandSpec(
        "policy serve",
        "serve a policy to skills: /predict, OpenVLA's /act and openpi's WebSocket on one port",
        "policy_command:serve",
        (
            ArgumentSpec(
                ("--policy",), "hold, reach, scripted, or a file that `local` reads", "NAME", default="scripted"
            ),
            _SOCKET[0],
            ArgumentSpec(("--port",), "port (default: 8765; 0: any free one)", "N", takes="count", default=8765),
        ),
        "Callers must bring the token of --token-file, if one is named; without, only this machine is served. "
        "With --json one line tells the port when it listens.",
        remote="policy_command:serve",
    ),
    CommandSpec(
        "model check",
        "ask a configured language model one short question",
        "model_command:check",
        (
            ArgumentSpec(
                ("name",), "its name in `models` of config.json (default: planner)", "NAME", many="?", default="planner"
            ),
        ),
        "Exit 0: it answered as asked; 1: it did not; 2: it is not configured, or its key cannot be used.",
    ),
    CommandSpec(
        "skill try",
        "try a skill file in simulation, with something going wrong midway, and record each trial",
        "skill_commands:try_skill",
        (
            ArgumentSpec(("name",), "its name: skills/NAME.md", "NAME"),
            ArgumentSpec(("--seeds",), "tables to try it on (default: 100)", "N", takes="count", default=100),
        ),
        "A trial that is finished is never done again: stopped or killed, the same command goes on. An edited file "
        "begins anew. Exit 0: it may be allowed on real targets; 1: it is a draft; 2: its text is refused.",
        instead="the server's own `paos skill try` simulates",
    ),
    CommandSpec(
        "skill list",
        "list the skill files: draft, simulated, or allowed on which real target, and why",
        "skill_commands:list_skills",
        remote="skill_commands:list_skills",
    ),
    CommandSpec(
        "skill allow",
        "allow a skill file, as it is now, on a real target",
        "skill_commands:allow",
        (
            ArgumentSpec(("name",), "its name: skills/NAME.md", "NAME"),
            ArgumentSpec(("body",), "the real target in TARGETS.md", "TARGET"),
        ),
        "It needs 100 trials in simulation, and a lower end of the interval of successes of at least 0.9. An edit of "
        "the file or of the target's declaration takes it back.",
        remote="skill_commands:allow",
    ),
    CommandSpec(
        "status",
        "show the kernel, robots, jobs and last events",
        "status_command:run",
        (ArgumentSpec(("--watch",), "refresh on every change, until Ctrl-C", takes="switch"),),
        remote="remote_commands:status",
    ),
    CommandSpec(
        "watch",
        "print changes as they happen",
        "watch_command:run",
        (ArgumentSpec(("path",), "only at or below this path", "PATH", completes="tree", many="?", default=""),),
        remote="remote_commands:watch",
    ),
    CommandSpec(
        "ls",
        "list a directory of the tree",
        "file_commands:ls",
        (
            ArgumentSpec(
                ("path",),
                "a directory of the tree; none: files with short names",
                "PATH",
                "text",
                "tree",
                many="?",
                default="",
            ),
            ArgumentSpec(("-l", "--long"), "with rights and kinds", takes="switch"),
        ),
        remote="file_commands:ls",
    ),
    CommandSpec(
        "walk",
        "print every path at and below a path, parents first",
        "file_commands:walk",
        (
            ArgumentSpec(("path",), "where to begin (default: /)", "PATH", completes="tree", many="?", default="/"),
            ArgumentSpec(("--depth",), "at most so many levels", "N", takes="count"),
        ),
        remote="file_commands:walk",
    ),
    CommandSpec(
        "stat",
        "show the kind, size and rights of a path",
        "file_commands:stat",
        (_TREE_PATH._replace(many="+"),),
        remote="file_commands:stat",
    ),
    CommandSpec(
        "cat",
        "print files of the tree",
        "file_commands:cat",
        (_TREE_PATH._replace(many="+"),),
        "Over --connect, a file that blocks (a job's result.txt, events/next.json) prints on each change.",
        remote="file_commands:cat",
    ),
    CommandSpec(
        "write",
        "replace a file of the tree atomically",
        "file_commands:write",
        (
            _TREE_PATH,
            ArgumentSpec(
                ("source",), "file to read; - or nothing: standard input", "FILE", "text", "file", (), "-", "?"
            ),
            ArgumentSpec(("--expect",), "write only if the file still has this revision", "REVISION"),
        ),
        remote="file_commands:write",
    ),
    CommandSpec(
        "rm",
        "remove files of the tree",
        "tree_commands:rm",
        (
            _TREE_PATH._replace(many="+"),
            ArgumentSpec(("-r", "--recursive"), "directories with their content", takes="switch"),
        ),
        "Fixed and computed files cannot be removed. Over --connect also in exports of nodes.",
        remote="tree_commands:rm",
    ),
    CommandSpec(
        "mkdir",
        "make directories in the tree",
        "tree_commands:mkdir",
        (_TREE_PATH._replace(many="+"),),
        "Below artifacts/, and in what nodes export (--connect).",
        remote="tree_commands:mkdir",
    ),
    CommandSpec(
        "mv",
        "rename a file of the tree",
        "tree_commands:mv",
        (_TREE_PATH._replace(flags=("source",)), _TREE_PATH._replace(flags=("destination",))),
        "Within one node's exports, or below artifacts/.",
        remote="tree_commands:mv",
    ),
    CommandSpec(
        "cp",
        "copy files within the tree",
        "tree_commands:cp",
        (
            _TREE_PATH._replace(flags=("source",), many="+"),
            _TREE_PATH._replace(flags=("destination",)),
            ArgumentSpec(("-r", "--recursive"), "directories with their content", takes="switch"),
        ),
        "An existing file is replaced atomically. Copying onto a Control sends an order.",
        remote="tree_commands:cp",
    ),
    CommandSpec(
        "grep",
        "search files of the tree for lines that match a regular expression",
        "tree_commands:grep",
        (
            ArgumentSpec(("pattern",), "a Python regular expression", "PATTERN"),
            _TREE_PATH._replace(many="*"),
            ArgumentSpec(("-i", "--ignore-case"), "ignore case", takes="switch"),
            ArgumentSpec(("-l", "--files"), "print the names of the files only", takes="switch"),
        ),
        "Directories are searched recursively; without a path, the whole tree. Exit 0: found; 1: not found; "
        "2: something could not be read.",
        remote="tree_commands:grep",
    ),
    CommandSpec(
        "wait",
        "wait until a file changes, or contains a text",
        "file_commands:wait",
        (
            _TREE_PATH,
            ArgumentSpec(("--until",), "wait until the file contains this text", "TEXT"),
            ArgumentSpec(("--timeout",), "time limit in seconds (then exit 1)", "SECONDS", takes="number"),
        ),
        remote="file_commands:wait",
    ),
    CommandSpec(
        "reset",
        "reset to a fresh scene, which the next `paos up` creates",
        "reset_command:run",
        (
            ArgumentSpec(("--yes",), "do not ask for confirmation", takes="switch"),
            ArgumentSpec(("--undo",), "restore what the last reset backed up", takes="switch"),
        ),
        "ENVIRONMENT.md, ACTION.md, TASK.md and SESSIONS.md are reset, and queued jobs are cancelled. Lessons, "
        "declarations, results and films stay. Refused while a kernel runs. `paos up --seed N` selects the scene.",
    ),
    CommandSpec(
        "cancel",
        "cancel a running or queued job",
        "cancel:run",
        (ArgumentSpec(("job",), "its id", "JOB", completes="job"),),
        remote="remote_commands:cancel",
    ),
    CommandSpec(
        "lessons",
        "search the lessons",
        "lessons_command:run",
        (
            ArgumentSpec(("query",), "search words (default: the newest lessons)", "TEXT", many="*"),
            ArgumentSpec(("--limit",), "at most so many (default: 10)", "N", takes="count", default=10),
        ),
        instead="paos cat /projects/PROJECT/LESSONS.md, or paos grep",
    ),
    CommandSpec(
        "check",
        "check every file; report what was found, what was expected, and the fix",
        "check_command:run",
        (ArgumentSpec(("--fix",), "fix problems that can be fixed without losing data", takes="switch"),),
        "Exit 0: no problems (warnings allowed); 1: problems found.",
        instead="paos cat /meta/alerts.json",
    ),
    CommandSpec(
        "node",
        "make this machine a node of a served world (with --connect)",
        "node_command:run",
        (
            ArgumentSpec(
                ("--export",),
                "a directory to export: NAME=PATH, NAME=PATH:rw (the same) or NAME=PATH:ro; may be repeated",
                "EXPORT",
                many="*",
            ),
            ArgumentSpec(
                ("--service",),
                "a manifest of a service to offer (runtime.type native_proc); may be repeated",
                "FILE",
                completes="file",
                many="*",
            ),
            ArgumentSpec(("--invite",), "join with this invite of the server (or $PAOS_INVITE)", "TOKEN"),
            ArgumentSpec(("--name",), "name of the node (default: this machine's name)", "NAME"),
            ArgumentSpec(
                ("--state",),
                "directory of the id and secret (default: .paos/nodes in the home)",
                "FILE",
                completes="file",
            ),
            ArgumentSpec(
                ("--lease",),
                "seconds without contact until the node counts as offline (default: 900)",
                "SECONDS",
                takes="number",
            ),
        ),
        "Without an invite it sends a join request (a user token in $PAOS_TOKEN or --token-file), and waits for "
        "the operator's approval. Ctrl-C leaves cleanly; after any other interruption it reconnects.",
        remote="node_command:run",
    ),
    CommandSpec(
        "completion",
        "print a completion script for a shell",
        "completion:run",
        (ArgumentSpec(("shell",), "the shell", choices=SHELLS),),
        'bash: eval "$(paos completion bash)" · zsh: paos completion zsh > _paos in $fpath · '
        "fish: paos completion fish | source",
        remote="completion:run",
    ),
    CommandSpec("version", "print the version", "version:run", remote="version:run"),
)

_THERE = "paos ls /agents, paos cat /agents/NAME/report.json, and a message into /agents/NAME/inbox/"
COMMANDS = (
    *_WORLD[:-2],
    *(item._replace(remote=item.target) for item in DATASET_COMMANDS),  # without a world
    *(
        item._replace(instead=_THERE) if item.name != "agent schema" else item._replace(remote=item.target)
        for item in AGENTS
    ),
    *_WORLD[-2:],
)
