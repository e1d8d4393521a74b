"""The table of commands: names, words of help, arguments, and the function that does each."""

from __future__ import annotations

from .agent.table import AGENTS
from .command import Argument, Command
from .lab import LAB

ROLES = ("operator", "planner", "critic", "watchdog", "orchestrator", "runtime_watchdog", "agent")
SHELLS = ("bash", "zsh", "fish")

GLOBAL = (
    Argument(("--home",), "the home directory (default: $PAOS_HOME, else ~/.PhyAgentOS)", "DIR", completes="file"),
    Argument(("--workspace",), "open this directory as the workspace, whoever made it", "DIR", completes="file"),
    Argument(
        ("--agents",), "where agents live (default: $PAOS_AGENTS, else agents in the home)", "DIR", completes="file"
    ),
    Argument(("--as",), "act with the rights of this role (default: operator)", "ROLE", completes="role"),
    Argument(("--connect",), "a served world instead of one on this disk: ws://HOST:PORT (or $PAOS_CONNECT)", "URL"),
    Argument(
        ("--token-file",),
        "file with the server's token (default: $PAOS_TOKEN, else auth_tokens.json in the home)",
        "FILE",
        completes="file",
    ),
    Argument(("--agent",), "with --connect: the agent that this command is (default: the token's own)", "NAME"),
    Argument(("--project",), "with --connect: the project; its token, if it has one, is in $PAOS_PROJECT_TOKEN", "ID"),
    Argument(("--json",), "print JSON: one object, or one a line for what goes on", takes="switch"),
)

_TREE_PATH = Argument(("path",), "a file's name (ENVIRONMENT.md) or its place in the tree", "PATH", completes="tree")
_BODY = (
    Argument(("--driver",), "body to start, instead of the one that the profile names", "NAME"),
    Argument(("--seed",), "scene to make where ENVIRONMENT.md holds none", "N", takes="count"),
    Argument(("--no-cameras",), "render no pictures", takes="switch"),
)

_PORT = Argument(("--port",), "port to listen on (default: 18790; 0: any free one)", "N", takes="count", default=18_790)
_SOCKET = (
    Argument(
        ("--host",), "address to listen on (default: 127.0.0.1, this machine alone)", "ADDRESS", default="127.0.0.1"
    ),
    _PORT,
    Argument(("--metrics-port",), "health and metrics over HTTP on this port, too", "N", takes="count"),
    Argument(("--tls-cert",), "certificate (PEM): the port speaks TLS", "FILE", completes="file"),
    Argument(("--tls-key",), "its key (PEM)", "FILE", completes="file"),
)

_WORLD = (
    Command(
        "onboard",
        "make a home, its configuration and a workspace; overwrite nothing",
        "onboard:run",
        (
            Argument(
                ("--profile",),
                "body of the robot: a profile of HOME/hal/profiles or ours (default: franka_panda)",
                "NAME",
                default="",
            ),
            Argument(("--language",), "language of headings", choices=("en", "zh"), default="en"),
            Argument(("--robot-id",), "the robot's id (default: franka_001)", "ID", default=""),
        ),
    ),
    Command(
        "up",
        "start the kernel and the bodies, and stay until Ctrl-C",
        "up:run",
        (
            Argument(("--until-idle",), "end when nothing is left to do", takes="switch"),
            *_BODY,
            Argument(("--serve",), "serve the tree over a WebSocket, too (`paos serve`)", takes="switch"),
            *_SOCKET,
        ),
        "One line is printed for each event. A second kernel on the same workspace is refused.",
        instead="the server's own `paos up` carries out what is asked",
    ),
    Command(
        "do",
        'carry out an instruction: paos do "clear the table"',
        "do:run",
        (
            Argument(("instruction",), "what is wanted, in English or Chinese", "TEXT", many="+"),
            Argument(("--node",), "the robot that shall do it", "ID"),
            Argument(("--timeout",), "give up after so many seconds", "SECONDS", takes="number"),
            Argument(("--record",), "film of the camera: FILE.mp4 or FILE.gif", "FILE", completes="file"),
            *_BODY,
        ),
        "Exit 0: the goal holds in the world, or the question was answered; 1: it does not, or the world refuses; "
        "2: not understood or not answered; 130: interrupted. "
        "The first Ctrl-C stops the robot safely, the second ends the command.",
        far="far:do",
    ),
    Command(
        "stop",
        "stop every robot at once, or one of them",
        "stop:run",
        (
            Argument(("--node",), "only this robot", "ID"),
            Argument(("--all",), "every robot (the default), those to come as well", takes="switch"),
        ),
        "It goes ahead of everything, and needs no kernel that runs: a world that is stopped starts stopped. What ran "
        "ends as cancelled, what waits is held until `paos resume`. Whoever may see a robot may stop it. "
        "Exit 1: a robot has not confirmed that it holds still.",
        far="stop:far_stop",
    ),
    Command(
        "resume",
        "let stopped robots work again",
        "stop:resume",
        (
            Argument(("--node",), "only this robot", "ID"),
            Argument(("--all",), "every robot", takes="switch"),
        ),
        "What waited goes on; what was stopped does not begin again.",
        far="stop:far_resume",
    ),
    Command(
        "serve",
        "serve the tree over a WebSocket, and stay until Ctrl-C",
        "serve:run",
        _SOCKET,
        "Tokens are in HOME/auth_tokens.json. With --json one line tells the port when it listens. "
        "Bodies are run by `paos up`.",
    ),
    Command(
        "token add",
        "make a token of the served tree that speaks for one agent",
        "token:add",
        (
            Argument(("agent",), "whom it speaks for", "AGENT", completes="agent"),
            Argument(("--role",), "what it may", default="user", choices=("user", "admin")),
        ),
        "The token is printed, this once. Who shows it may attach as that agent and as no other.",
    ),
    Command("token list", "the tokens of the served tree, without their words", "token:listed"),
    Command(
        "token revoke",
        "take a token of the served tree back",
        "token:revoke",
        (Argument(("name",), "the token's id, all of an agent, or `user`: the shared one", "ID"),),
        "New connections are refused at once, open ones end within seconds. Without `user`, only named tokens get in.",
    ),
    Command(
        "policy serve",
        "serve a policy to skills: /predict, OpenVLA's /act and openpi's WebSocket on one port",
        "policy:serve",
        (
            Argument(("--policy",), "hold, reach, scripted, or a file that `local` reads", "NAME", default="scripted"),
            _SOCKET[0],
            Argument(("--port",), "port (default: 8765; 0: any free one)", "N", takes="count", default=8765),
        ),
        "Callers must bring the token of --token-file, if one is named; without, only this machine is served. "
        "With --json one line tells the port when it listens.",
        far="policy:serve",
    ),
    Command(
        "status",
        "who runs, what waits, what happened last",
        "status:run",
        (Argument(("--watch",), "again whenever it changes, until Ctrl-C", takes="switch"),),
        far="far:status",
    ),
    Command(
        "watch",
        "print changes as they happen",
        "watch:run",
        (Argument(("path",), "only what lies at or below this path", "PATH", completes="tree", many="?", default=""),),
        far="far:watch",
    ),
    Command(
        "ls",
        "list a directory of the tree",
        "files:ls",
        (
            Argument(
                ("path",),
                "a directory of the tree; none: files with short names",
                "PATH",
                "text",
                "tree",
                many="?",
                default="",
            ),
            Argument(("-l", "--long"), "rights and kinds too", takes="switch"),
        ),
        far="connect:ls",
    ),
    Command(
        "walk",
        "print every place at and below a path, parents first",
        "files:walk",
        (
            Argument(("path",), "where to begin (default: /)", "PATH", completes="tree", many="?", default="/"),
            Argument(("--depth",), "go down so many levels", "N", takes="count"),
        ),
        far="connect:walk",
    ),
    Command(
        "stat",
        "what is at a path: its kind, its size, who may write it",
        "files:stat",
        (_TREE_PATH._replace(many="+"),),
        far="connect:stat",
    ),
    Command(
        "cat",
        "print files of the tree",
        "files:cat",
        (_TREE_PATH._replace(many="+"),),
        "Over --connect, a file that blocks (a job's result.txt, events/next.json) prints when there is news.",
        far="connect:cat",
    ),
    Command(
        "write",
        "replace a file of the tree, whole and atomically",
        "files:write",
        (
            _TREE_PATH,
            Argument(("source",), "file to read; - or nothing: standard input", "FILE", "text", "file", (), "-", "?"),
            Argument(("--expect",), "write only if the file still has this revision", "REVISION"),
        ),
        far="connect:write",
    ),
    Command(
        "rm",
        "remove files of the tree",
        "names:rm",
        (
            _TREE_PATH._replace(many="+"),
            Argument(("-r", "--recursive"), "directories, and all in them", takes="switch"),
        ),
        "What the layout names, and what is computed, stays. Over --connect: what nodes export, too.",
        far="names:rm",
    ),
    Command(
        "mkdir",
        "make directories in the tree",
        "names:mkdir",
        (_TREE_PATH._replace(many="+"),),
        "Below artifacts/, and in what nodes export (--connect).",
        far="names:mkdir",
    ),
    Command(
        "mv",
        "rename a file of the tree",
        "names:mv",
        (_TREE_PATH._replace(flags=("source",)), _TREE_PATH._replace(flags=("destination",))),
        "Within one node's exports, or below artifacts/.",
        far="names:mv",
    ),
    Command(
        "cp",
        "copy files within the tree",
        "names:cp",
        (
            _TREE_PATH._replace(flags=("source",), many="+"),
            _TREE_PATH._replace(flags=("destination",)),
            Argument(("-r", "--recursive"), "directories, and all in them", takes="switch"),
        ),
        "A file that is there is replaced, whole and atomically. Copied onto a Control, it is an order.",
        far="names:cp",
    ),
    Command(
        "grep",
        "search files of the tree for lines that fit a regular expression",
        "names:grep",
        (
            Argument(("pattern",), "a regular expression, as Python has them", "PATTERN"),
            _TREE_PATH._replace(many="*"),
            Argument(("-i", "--ignore-case"), "capitals and small letters are the same", takes="switch"),
            Argument(("-l", "--files"), "print the names of the files only", takes="switch"),
        ),
        "Directories are searched with all below them; without a path, the whole tree. Exit 0: found; 1: not found; "
        "2: something could not be read.",
        far="names:grep",
    ),
    Command(
        "wait",
        "wait until a file changes, or says something",
        "wait:run",
        (
            _TREE_PATH,
            Argument(("--until",), "wait until the file holds this text", "TEXT"),
            Argument(("--timeout",), "give up (exit 1) after so many seconds", "SECONDS", takes="number"),
        ),
        far="connect:wait",
    ),
    Command(
        "reset",
        "make a fresh scene: the next `paos up` begins with one",
        "reset:run",
        (
            Argument(("--yes",), "do not ask, where there is something to reset", takes="switch"),
            Argument(("--undo",), "put back what the last reset put aside", takes="switch"),
        ),
        "ENVIRONMENT.md, ACTION.md, TASK.md and SESSIONS.md begin anew, and jobs that wait are cancelled. Lessons, "
        "declarations, results and films stay. Refused while a kernel runs. `paos up --seed N` says which scene.",
    ),
    Command(
        "cancel",
        "stop a job, or keep it from starting",
        "cancel:run",
        (Argument(("job",), "its id", "JOB", completes="job"),),
        far="far:cancel",
    ),
    Command(
        "lessons",
        "search what was learned",
        "lessons:run",
        (
            Argument(("query",), "words; nothing: the newest lessons", "TEXT", many="*"),
            Argument(("--limit",), "at most so many (default: 10)", "N", takes="count", default=10),
        ),
        instead="paos cat /projects/PROJECT/LESSONS.md, or paos grep",
    ),
    Command(
        "check",
        "read every file; say what was found, what was expected, and the mend",
        "check:run",
        (Argument(("--fix",), "mend what can be mended without losing anything", takes="switch"),),
        "Exit 0: nothing is wrong (warnings allowed); 1: something is.",
        instead="paos cat /meta/alerts.json",
    ),
    Command(
        "node",
        "make this machine a node of a served world (with --connect)",
        "node:run",
        (
            Argument(
                ("--export",),
                "a directory to show: NAME=PATH, NAME=PATH:rw (the same) or NAME=PATH:ro; may be said again",
                "EXPORT",
                many="*",
            ),
            Argument(
                ("--service",),
                "a manifest of a service to offer (runtime.type native_proc); may be said again",
                "FILE",
                completes="file",
                many="*",
            ),
            Argument(("--invite",), "how to join: an invite of the server (or $PAOS_INVITE)", "TOKEN"),
            Argument(("--name",), "what to be called (default: this machine's name)", "NAME"),
            Argument(
                ("--state",), "where to keep id and secret (default: .paos/nodes in the home)", "FILE", completes="file"
            ),
            Argument(
                ("--lease",),
                "after how long unheard it counts as gone (default: 900)",
                "SECONDS",
                takes="number",
            ),
        ),
        "Without an invite it asks to be let in (a user token in $PAOS_TOKEN or --token-file), and waits for "
        "the operator. Ctrl-C leaves cleanly; whatever else happens, it comes back.",
        far="node:run",
    ),
    Command(
        "completion",
        "print a completion script for a shell",
        "completion:run",
        (Argument(("shell",), "the shell", choices=SHELLS),),
        'bash: eval "$(paos completion bash)" · zsh: paos completion zsh > _paos in $fpath · '
        "fish: paos completion fish | source",
        far="completion:run",
    ),
    Command("version", "print the version", "version:run", far="version:run"),
)

_THERE = "paos ls /agents, paos cat /agents/NAME/report.json, and a message into /agents/NAME/inbox/"
COMMANDS = (
    *_WORLD[:-2],
    *(item._replace(far=item.target) for item in LAB),  # of no world, here or there
    *(
        item._replace(instead=_THERE) if item.name != "agent schema" else item._replace(far=item.target)
        for item in AGENTS
    ),
    *_WORLD[-2:],
)
