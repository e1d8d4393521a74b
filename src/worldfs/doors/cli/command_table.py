"""The table of commands: names, words of help, arguments, and the function that does each."""

from __future__ import annotations

from .agent.agent_commands import AGENTS
from .command_spec import ArgumentSpec, CommandSpec
from .dataset_commands import DATASET_COMMANDS

ROLES = ("operator", "planner", "critic", "watchdog", "orchestrator", "runtime_watchdog", "agent")
SHELLS = ("bash", "zsh", "fish")

GLOBAL = (
    ArgumentSpec(("--home",), "the home directory (default: $PAOS_HOME, else ~/.PhyAgentOS)", "DIR", completes="file"),
    ArgumentSpec(("--workspace",), "open this directory as the workspace, whoever made it", "DIR", completes="file"),
    ArgumentSpec(
        ("--agents",), "where agents live (default: $PAOS_AGENTS, else agents in the home)", "DIR", completes="file"
    ),
    ArgumentSpec(("--as",), "act with the rights of this role (default: operator)", "ROLE", completes="role"),
    ArgumentSpec(
        ("--connect",), "a served world instead of one on this disk: ws://HOST:PORT (or $PAOS_CONNECT)", "URL"
    ),
    ArgumentSpec(
        ("--token-file",),
        "file with the server's token (default: $PAOS_TOKEN, else auth_tokens.json in the home)",
        "FILE",
        completes="file",
    ),
    ArgumentSpec(("--agent",), "with --connect: the agent that this command is (default: the token's own)", "NAME"),
    ArgumentSpec(
        ("--project",), "with --connect: the project; its token, if it has one, is in $PAOS_PROJECT_TOKEN", "ID"
    ),
    ArgumentSpec(("--json",), "print JSON: one object, or one a line for what goes on", takes="switch"),
)

_TREE_PATH = ArgumentSpec(
    ("path",), "a file's name (ENVIRONMENT.md) or its place in the tree", "PATH", completes="tree"
)
_BODY = (
    ArgumentSpec(("--driver",), "body to start, instead of the one that the profile names", "NAME"),
    ArgumentSpec(("--seed",), "scene to make where ENVIRONMENT.md holds none", "N", takes="count"),
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
        "make a home, its configuration and a workspace; overwrite nothing",
        "onboard_command:run",
        (
            ArgumentSpec(
                ("--profile",),
                "body of the robot: a profile of HOME/hal/profiles or ours (default: franka_panda)",
                "NAME",
                default="",
            ),
            ArgumentSpec(("--language",), "language of headings", choices=("en", "zh"), default="en"),
            ArgumentSpec(("--robot-id",), "the robot's id (default: franka_001)", "ID", default=""),
        ),
    ),
    CommandSpec(
        "up",
        "start the kernel and the bodies, and stay until Ctrl-C",
        "up:run",
        (
            ArgumentSpec(("--until-idle",), "end when nothing is left to do", takes="switch"),
            *_BODY,
            ArgumentSpec(("--serve",), "serve the tree over a WebSocket, too (`paos serve`)", takes="switch"),
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
            ArgumentSpec(("instruction",), "what is wanted, in English or Chinese", "TEXT", many="+"),
            ArgumentSpec(("--node",), "the robot that shall do it", "ID"),
            ArgumentSpec(("--timeout",), "give up after so many seconds", "SECONDS", takes="number"),
            ArgumentSpec(("--record",), "film of the camera: FILE.mp4 or FILE.gif", "FILE", completes="file"),
            *_BODY,
        ),
        "Exit 0: the goal holds in the world, or the question was answered; 1: it does not, or the world refuses; "
        "2: not understood or not answered; 130: interrupted. "
        "The first Ctrl-C stops the robot safely, the second ends the command.",
        far="remote_commands:do",
    ),
    CommandSpec(
        "stop",
        "stop every robot at once, or one of them",
        "stop_command:run",
        (
            ArgumentSpec(("--node",), "only this robot", "ID"),
            ArgumentSpec(("--all",), "every robot (the default), those to come as well", takes="switch"),
        ),
        "It goes ahead of everything, and needs no kernel that runs: a world that is stopped starts stopped. What ran "
        "ends as cancelled, what waits is held until `paos resume`. Whoever may see a robot may stop it. "
        "Exit 1: a robot has not confirmed that it holds still.",
        far="stop_command:far_stop",
    ),
    CommandSpec(
        "resume",
        "let stopped robots work again",
        "stop_command:resume",
        (
            ArgumentSpec(("--node",), "only this robot", "ID"),
            ArgumentSpec(("--all",), "every robot", takes="switch"),
        ),
        "What waited goes on; what was stopped does not begin again.",
        far="stop_command:far_resume",
    ),
    CommandSpec(
        "serve",
        "serve the tree over a WebSocket, and stay until Ctrl-C",
        "serve:run",
        _SOCKET,
        "Tokens are in HOME/auth_tokens.json. With --json one line tells the port when it listens. "
        "Bodies are run by `paos up`.",
    ),
    CommandSpec(
        "token add",
        "make a token of the served tree that speaks for one agent",
        "token:add",
        (
            ArgumentSpec(("agent",), "whom it speaks for", "AGENT", completes="agent"),
            ArgumentSpec(("--role",), "what it may", default="user", choices=("user", "admin")),
        ),
        "The token is printed, this once. Who shows it may attach as that agent and as no other.",
    ),
    CommandSpec("token list", "the tokens of the served tree, without their words", "token:list_tokens"),
    CommandSpec(
        "token revoke",
        "take a token of the served tree back",
        "token:revoke",
        (ArgumentSpec(("name",), "the token's id, all of an agent, or `user`: the shared one", "ID"),),
        "New connections are refused at once, open ones end within seconds. Without `user`, only named tokens get in.",
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
        far="policy_command:serve",
    ),
    CommandSpec(
        "status",
        "who runs, what waits, what happened last",
        "status_command:run",
        (ArgumentSpec(("--watch",), "again whenever it changes, until Ctrl-C", takes="switch"),),
        far="remote_commands:status",
    ),
    CommandSpec(
        "watch",
        "print changes as they happen",
        "watch_command:run",
        (
            ArgumentSpec(
                ("path",), "only what lies at or below this path", "PATH", completes="tree", many="?", default=""
            ),
        ),
        far="remote_commands:watch",
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
            ArgumentSpec(("-l", "--long"), "rights and kinds too", takes="switch"),
        ),
        far="connect_commands:ls",
    ),
    CommandSpec(
        "walk",
        "print every place at and below a path, parents first",
        "file_commands:walk",
        (
            ArgumentSpec(("path",), "where to begin (default: /)", "PATH", completes="tree", many="?", default="/"),
            ArgumentSpec(("--depth",), "go down so many levels", "N", takes="count"),
        ),
        far="connect_commands:walk",
    ),
    CommandSpec(
        "stat",
        "what is at a path: its kind, its size, who may write it",
        "file_commands:stat",
        (_TREE_PATH._replace(many="+"),),
        far="connect_commands:stat",
    ),
    CommandSpec(
        "cat",
        "print files of the tree",
        "file_commands:cat",
        (_TREE_PATH._replace(many="+"),),
        "Over --connect, a file that blocks (a job's result.txt, events/next.json) prints when there is news.",
        far="connect_commands:cat",
    ),
    CommandSpec(
        "write",
        "replace a file of the tree, whole and atomically",
        "file_commands:write",
        (
            _TREE_PATH,
            ArgumentSpec(
                ("source",), "file to read; - or nothing: standard input", "FILE", "text", "file", (), "-", "?"
            ),
            ArgumentSpec(("--expect",), "write only if the file still has this revision", "REVISION"),
        ),
        far="connect_commands:write",
    ),
    CommandSpec(
        "rm",
        "remove files of the tree",
        "tree_commands:rm",
        (
            _TREE_PATH._replace(many="+"),
            ArgumentSpec(("-r", "--recursive"), "directories, and all in them", takes="switch"),
        ),
        "What the layout names, and what is computed, stays. Over --connect: what nodes export, too.",
        far="tree_commands:rm",
    ),
    CommandSpec(
        "mkdir",
        "make directories in the tree",
        "tree_commands:mkdir",
        (_TREE_PATH._replace(many="+"),),
        "Below artifacts/, and in what nodes export (--connect).",
        far="tree_commands:mkdir",
    ),
    CommandSpec(
        "mv",
        "rename a file of the tree",
        "tree_commands:mv",
        (_TREE_PATH._replace(flags=("source",)), _TREE_PATH._replace(flags=("destination",))),
        "Within one node's exports, or below artifacts/.",
        far="tree_commands:mv",
    ),
    CommandSpec(
        "cp",
        "copy files within the tree",
        "tree_commands:cp",
        (
            _TREE_PATH._replace(flags=("source",), many="+"),
            _TREE_PATH._replace(flags=("destination",)),
            ArgumentSpec(("-r", "--recursive"), "directories, and all in them", takes="switch"),
        ),
        "A file that is there is replaced, whole and atomically. Copied onto a Control, it is an order.",
        far="tree_commands:cp",
    ),
    CommandSpec(
        "grep",
        "search files of the tree for lines that fit a regular expression",
        "tree_commands:grep",
        (
            ArgumentSpec(("pattern",), "a regular expression, as Python has them", "PATTERN"),
            _TREE_PATH._replace(many="*"),
            ArgumentSpec(("-i", "--ignore-case"), "capitals and small letters are the same", takes="switch"),
            ArgumentSpec(("-l", "--files"), "print the names of the files only", takes="switch"),
        ),
        "Directories are searched with all below them; without a path, the whole tree. Exit 0: found; 1: not found; "
        "2: something could not be read.",
        far="tree_commands:grep",
    ),
    CommandSpec(
        "wait",
        "wait until a file changes, or says something",
        "wait:run",
        (
            _TREE_PATH,
            ArgumentSpec(("--until",), "wait until the file holds this text", "TEXT"),
            ArgumentSpec(("--timeout",), "give up (exit 1) after so many seconds", "SECONDS", takes="number"),
        ),
        far="connect_commands:wait",
    ),
    CommandSpec(
        "reset",
        "make a fresh scene: the next `paos up` begins with one",
        "reset_command:run",
        (
            ArgumentSpec(("--yes",), "do not ask, where there is something to reset", takes="switch"),
            ArgumentSpec(("--undo",), "put back what the last reset put aside", takes="switch"),
        ),
        "ENVIRONMENT.md, ACTION.md, TASK.md and SESSIONS.md begin anew, and jobs that wait are cancelled. Lessons, "
        "declarations, results and films stay. Refused while a kernel runs. `paos up --seed N` says which scene.",
    ),
    CommandSpec(
        "cancel",
        "stop a job, or keep it from starting",
        "cancel:run",
        (ArgumentSpec(("job",), "its id", "JOB", completes="job"),),
        far="remote_commands:cancel",
    ),
    CommandSpec(
        "lessons",
        "search what was learned",
        "lessons_command:run",
        (
            ArgumentSpec(("query",), "words; nothing: the newest lessons", "TEXT", many="*"),
            ArgumentSpec(("--limit",), "at most so many (default: 10)", "N", takes="count", default=10),
        ),
        instead="paos cat /projects/PROJECT/LESSONS.md, or paos grep",
    ),
    CommandSpec(
        "check",
        "read every file; say what was found, what was expected, and the mend",
        "check_command:run",
        (ArgumentSpec(("--fix",), "mend what can be mended without losing anything", takes="switch"),),
        "Exit 0: nothing is wrong (warnings allowed); 1: something is.",
        instead="paos cat /meta/alerts.json",
    ),
    CommandSpec(
        "node",
        "make this machine a node of a served world (with --connect)",
        "node_command:run",
        (
            ArgumentSpec(
                ("--export",),
                "a directory to show: NAME=PATH, NAME=PATH:rw (the same) or NAME=PATH:ro; may be said again",
                "EXPORT",
                many="*",
            ),
            ArgumentSpec(
                ("--service",),
                "a manifest of a service to offer (runtime.type native_proc); may be said again",
                "FILE",
                completes="file",
                many="*",
            ),
            ArgumentSpec(("--invite",), "how to join: an invite of the server (or $PAOS_INVITE)", "TOKEN"),
            ArgumentSpec(("--name",), "what to be called (default: this machine's name)", "NAME"),
            ArgumentSpec(
                ("--state",), "where to keep id and secret (default: .paos/nodes in the home)", "FILE", completes="file"
            ),
            ArgumentSpec(
                ("--lease",),
                "after how long unheard it counts as gone (default: 900)",
                "SECONDS",
                takes="number",
            ),
        ),
        "Without an invite it asks to be let in (a user token in $PAOS_TOKEN or --token-file), and waits for "
        "the operator. Ctrl-C leaves cleanly; whatever else happens, it comes back.",
        far="node_command:run",
    ),
    CommandSpec(
        "completion",
        "print a completion script for a shell",
        "completion:run",
        (ArgumentSpec(("shell",), "the shell", choices=SHELLS),),
        'bash: eval "$(paos completion bash)" · zsh: paos completion zsh > _paos in $fpath · '
        "fish: paos completion fish | source",
        far="completion:run",
    ),
    CommandSpec("version", "print the version", "version:run", far="version:run"),
)

_THERE = "paos ls /agents, paos cat /agents/NAME/report.json, and a message into /agents/NAME/inbox/"
COMMANDS = (
    *_WORLD[:-2],
    *(item._replace(far=item.target) for item in DATASET_COMMANDS),  # of no world, here or there
    *(
        item._replace(instead=_THERE) if item.name != "agent schema" else item._replace(far=item.target)
        for item in AGENTS
    ),
    *_WORLD[-2:],
)
