"""Texts of `--help`, in English and Chinese."""

# a row stays on its line
ROWS = {
    # -- of the page itself
    "help.about": (
        "An operating system for agents whose whole interface is files.",
        "以文件为全部接口的智能体操作系统。",
    ),
    "help.usage": ("usage: ", "用法："),
    "help.end": (".", "。"),
    "help.arguments": ("arguments:", "参数："),
    "help.options": ("options:", "选项："),
    "help.everywhere": ("options of every command:", "所有命令的选项："),
    "help.commands": ("commands:", "命令："),
    "help.print_help": ("print this page", "输出本页"),
    "help.print_version": ("print the version", "输出版本"),
    # -- of the table
    "help.home": (
        "the home directory (default: $PAOS_HOME, else ~/.PhyAgentOS)",
        "主目录(默认：$PAOS_HOME，否则 ~/.PhyAgentOS)",
    ),
    "help.workspace": ("open this directory as the workspace", "将此目录作为工作空间打开"),
    "help.agents_place": (
        "where agents live (default: $PAOS_AGENTS, else agents in the home)",
        "智能体所在的位置(默认：$PAOS_AGENTS，否则主目录中的 agents)",
    ),
    "help.as": ("act with the rights of this role (default: operator)", "以此角色的权限操作(默认：operator)"),
    "help.connect": (
        "use a served world instead of a local one: ws://HOST:PORT (or $PAOS_CONNECT)",
        "使用所提供的世界而非本地世界：ws://HOST:PORT(或 $PAOS_CONNECT)",
    ),
    "help.token_file": (
        "file with the server's token (default: $PAOS_TOKEN, else auth_tokens.json in the home)",
        "含服务器令牌的文件(默认：$PAOS_TOKEN，否则主目录中的 auth_tokens.json)",
    ),
    "help.agent": (
        "with --connect and for `paos mcp`: act as this agent (default: the token's own); a command that makes no "
        "agent refuses one that is not there",
        "用于 --connect 和 `paos mcp`：以此智能体的身份操作(默认：令牌的智能体)；不创建智能体的命令拒绝不存在的智能体",
    ),
    "help.project": (
        "with --connect: the project; its token, if it has one, is in $PAOS_PROJECT_TOKEN",
        "用于 --connect：项目；若项目有令牌，则放在 $PAOS_PROJECT_TOKEN 中",
    ),
    "help.json": ("print JSON: one object, or one per line for events", "输出 JSON：一个对象；事件则每行一个"),
    "help.tree_path": (
        "a file's name (ENVIRONMENT.md) or its place in the tree",
        "文件名(ENVIRONMENT.md)或其在树中的位置",
    ),
    "help.driver": (
        "driver to start, instead of the one that the profile names",
        "要启动的驱动，替代能力画像指定的驱动",
    ),
    "help.seed": ("scene to create if ENVIRONMENT.md has none", "ENVIRONMENT.md 中没有场景时所创建的场景"),
    "help.up_real_time": (
        "let simulations keep to the clock (--real-time=0.5: half as fast), to watch them and stop them on the way",
        "让仿真与时钟同步(--real-time=0.5：半速)，便于观看和中途停止",
    ),
    "help.no_cameras": ("render no pictures", "不渲染图像"),
    "help.port": ("port to listen on (default: 18790; 0: any free one)", "监听的端口(默认：18790；0：任一空闲端口)"),
    "help.host": (
        "address to listen on (default: 127.0.0.1, this machine alone)",
        "监听的地址(默认：127.0.0.1，仅限本机)",
    ),
    "help.metrics_port": ("health and metrics over HTTP on this port, too", "同时在此端口以 HTTP 提供健康状况与指标"),
    "help.tls_cert": ("certificate (PEM): the port speaks TLS", "证书(PEM)：端口使用 TLS"),
    "help.tls_key": ("its key (PEM)", "其密钥(PEM)"),
    "help.sh": ("open a shell whose files are the tree, without a mount", "以树为文件的 shell，无需挂载"),
    "help.sh_script": (
        "run this script and exit with its code (default: standard input, or a prompt at a terminal)",
        "运行此脚本并以其退出码结束(默认：标准输入，在终端上则为提示符)",
    ),
    "help.sh_more": (
        "An interpreter of bash in this process, with grep, sed, awk, jq and others: no host files, programs, "
        "environment or network. /tmp is in memory.",
        "本进程内的 bash 解释器，带有 grep、sed、awk、jq 等：没有主机的文件、程序、环境或网络。/tmp 在内存中。",
    ),
    "help.serve_9p": (
        "also serve the tree over 9P2000.L: the path of a UNIX socket, or HOST:PORT of this machine",
        "同时以 9P2000.L 提供树：UNIX 套接字的路径，或本机的 HOST:PORT",
    ),
    "help.onboard": (
        "create a home, its configuration and a workspace; existing files stay",
        "创建主目录、其配置和一个工作空间；已有的文件保持不变",
    ),
    "help.onboard_profile": (
        "profile of the robot: of HOME/hal/profiles or built in (default: franka_panda)",
        "机器人的能力画像：HOME/hal/profiles 中的或内置的(默认：franka_panda)",
    ),
    "help.onboard_language": ("language of headings", "标题的语言"),
    "help.onboard_robot_id": (
        "the robot's id (default: by its profile, as franka_001)",
        "机器人的 id(默认：按其档案，如 franka_001)",
    ),
    "help.onboard_fleet": (
        "a shared workspace, and two robots with a directory each",
        "一个共享工作空间和两个各有目录的机器人",
    ),
    "help.robot_add": ("add a robot to the fleet", "向 fleet 添加一个机器人"),
    "help.robot_add_more": (
        "A `paos up` that runs takes it up at once. The directory is made. Exit 2: the robot could not be served, "
        "and nothing has changed.",
        "正在运行的 `paos up` 会立即接纳它，并创建其目录。退出码 2：该机器人无法运行，且未作任何更改。",
    ),
    "help.robot_id": ("the robot's id", "机器人的 id"),
    "help.robot_dir": (
        "its directory (default: of its id, beside the shared workspace)",
        "其目录(默认：以其 id 为名，在共享工作空间旁)",
    ),
    "help.robot_remove": ("take a robot out of the fleet; its files stay", "从 fleet 中移除一个机器人；其文件保留"),
    "help.robot_remove_more": ("Exit 2: it has open jobs.", "退出码 2：它还有未结束的任务。"),
    "help.robot_cancel_jobs": ("end its open jobs first; a running one stops", "先结束其任务；正在执行的会停下"),
    "help.robot_list": (
        "list the robots of config.json: driver, profile, directory, and whether they are served",
        "列出 config.json 的机器人：驱动、能力画像、目录，以及是否在运行之列",
    ),
    "help.robot_scan": (
        "list this machine's serial ports, the arm motors that answer on them, and its cameras (LeRobot)",
        "列出本机的串口、其上应答的机械臂舵机，以及摄像头(LeRobot)",
    ),
    "help.robot_scan_more": (
        "Moves no motor. Ports that a process has open are skipped. Exit 1: no motor answers. Needs worldfs[lerobot].",
        "它不移动任何舵机。已被其他进程打开的端口不会被询问。退出码 1：没有舵机应答。需要 worldfs[lerobot]。",
    ),
    "help.robot_scan_ports": ("only these ports (default: all)", "仅这些端口(默认：全部)"),
    "help.robot_calibrate": (
        "calibrate an arm that LeRobot drives, by its own questions at this terminal",
        "在此终端按 LeRobot 的提问校准一台由它驱动的机械臂",
    ),
    "help.robot_calibrate_more": (
        "Its motors are let go: hold the arm. The file is saved where LeRobot keeps such files.",
        "电机会松开：请扶住机械臂。文件保存在 LeRobot 存放校准文件之处。",
    ),
    "help.robot_calibrate_device": (
        "a target of TARGETS.md with the driver lerobot, or a skill of SKILLS.md that a leader arm leads",
        "TARGETS.md 中以 lerobot 为驱动的目标，或 SKILLS.md 中由主臂引导的技能",
    ),
    "help.robot_record": (
        "make episodes of a LeRobot dataset from sessions that kept their pictures",
        "把保存了图像的会话写成 LeRobot 数据集的片段",
    ),
    "help.robot_record_more": (
        "A session keeps them with execution: {record: true} in SESSIONS.md, led by a person or by a policy.",
        "在 SESSIONS.md 中写 execution: {record: true} 的会话会保存图像，无论由人还是策略引导。",
    ),
    "help.robot_record_dir": ("a new directory, or a dataset of such sessions", "新目录，或已有的同类会话数据集"),
    "help.robot_record_sessions": ("ids of SESSIONS.md, each of them ended", "SESSIONS.md 中已结束的会话的标识"),
    "help.hand_eye": (
        "measure where a camera sits on the hand, from a recorded session that looked at a printed marker board",
        "根据看过标定板的已记录会话，求相机在手上的位置",
    ),
    "help.hand_eye_more": (
        "Print the board (--print board.png), lay it flat, and lead the arm round it in a session with execution: "
        "{record: true}: at least six views, the hand turned about two axes.",
        "打印标定板(--print board.png)并平放，在 execution: {record: true} 的会话中引导机械臂环绕它："
        "至少六个视角，手绕两个轴转动。",
    ),
    "help.hand_eye_session": ("the recorded session", "已记录的会话"),
    "help.hand_eye_camera": ("its camera", "其相机"),
    "help.hand_eye_across": ("squares of the board from left to right", "标定板横向的方格数"),
    "help.hand_eye_down": ("squares from top to bottom", "纵向的方格数"),
    "help.hand_eye_square": ("a square's side on the paper, in metres", "纸上方格的边长，单位米"),
    "help.hand_eye_marker": ("a marker's side on the paper, in metres", "纸上标记的边长，单位米"),
    "help.hand_eye_print": ("write the board as a picture to be printed", "把标定板写成供打印的图像"),
    "help.up": ("run the kernel and the drivers until Ctrl-C", "运行内核和驱动，直到按下 Ctrl-C"),
    "help.up_more": (
        "One line is printed for each event. A second kernel on the same workspace is refused.",
        "每个事件输出一行。同一工作空间的第二个内核会被拒绝。",
    ),
    "help.up_until_idle": (
        "end when no job is left, or none may begin or a sheet cannot be read (then exit 1)",
        "没有剩余任务时结束；没有任务可以开始，或有任务表无法读取时也结束(退出码为 1)",
    ),
    "help.up_store": (
        "keep the workspace in this engine from now on: nats, nats://HOST:PORT/BUCKET, or disk",
        "从现在起把工作空间保存在此引擎中：nats、nats://HOST:PORT/BUCKET，或 disk",
    ),
    "help.up_robot": (
        "of a fleet, serve only the robots named so, beside the process that has the shared workspace",
        "只运行 fleet 中的这些机器人，与负责共享工作空间的进程并存",
    ),
    "help.up_no_robots": (
        "of a fleet, serve only the shared workspace and its missions; other processes serve the robots",
        "只负责 fleet 的共享工作空间及其任务；机器人由其他进程运行",
    ),
    "help.up_traces": (
        "send each ended job as an OpenTelemetry trace to this OTLP/HTTP receiver (or $OTEL_EXPORTER_OTLP_ENDPOINT)",
        "将每个已结束的任务作为 OpenTelemetry 追踪发送到此 OTLP/HTTP 接收端(或 $OTEL_EXPORTER_OTLP_ENDPOINT)",
    ),
    "help.up_standby": (
        "where another process serves it, wait, and take over when that one has gone",
        "如已有其他进程在运行，则等待，并在其离开后接管",
    ),
    "help.store_export": ("copy all files of the engine into a directory", "把引擎中的所有文件复制到目录"),
    "help.store_import": ("copy all files of a directory into the engine", "把目录中的所有文件复制到引擎"),
    "help.store_verify": ("compare the engine with a directory, by hash", "按散列比较引擎与目录"),
    "help.store_more": (
        "Nothing is replaced: what the other side has otherwise is named, and the exit is 1. No kernel may run then.",
        "不替换任何内容：另一侧不同的文件会被列出，退出码为 1。期间不能有内核运行。",
    ),
    "help.store_directory": ("a directory, as `paos store export` writes it", "目录，形式如 `paos store export` 所写"),
    "help.up_serve": ("also serve the tree over a WebSocket (`paos serve`)", "同时通过 WebSocket 提供树(`paos serve`)"),
    "help.do": ('carry out an instruction: paos do "clear the table"', '执行一条指令：paos do "清空桌子"'),
    "help.do_more": (
        "Exit 0: the goal holds in the world, or the question was answered; 1: it does not, or the world refuses; "
        "2: not understood or not answered; 130: interrupted. The first Ctrl-C stops the robot safely, the second "
        "ends the command.",
        "退出码 0：目标在世界中已达到，或问题已回答；1：未达到，或世界拒绝；2：未理解或未回答；130：被中断。第一"
        "次 Ctrl-C 安全地停止机器人，第二次结束命令。",
    ),
    "help.do_instruction": ("the instruction, in English or Chinese", "指令，英文或中文"),
    "help.do_node": ("the robot to use", "要使用的机器人"),
    "help.time_limit": ("time limit in seconds", "时限，单位秒"),
    "help.do_confirm": ("carry out the model's reading that was shown with this code", "执行以此代码显示的模型解读"),
    "help.do_record": ("record the camera: FILE.mp4 or FILE.gif", "录制相机画面：FILE.mp4 或 FILE.gif"),
    "help.stop": ("stop every robot at once, or one of them", "立即停止所有机器人，或其中之一"),
    "help.stop_more": (
        "It goes ahead of everything, and needs no kernel that runs: a world that is stopped starts stopped. What "
        "ran ends as cancelled, what waits is held until `paos resume`. Every actor that sees a robot may stop it. "
        "Exit 1: a robot has not confirmed that it holds still.",
        "它先于一切其他任务，也不需要有内核在运行：已停止的世界启动后仍是停止的。正在执行的任务以取消结束，等待的"
        "任务保留到 `paos resume`。能看到机器人的都可以停止它。退出码 1：有机器人尚未确认静止。",
    ),
    "help.one_robot": ("only this robot", "只对此机器人"),
    "help.stop_all": ("every robot (the default), also those added later", "所有机器人(默认)，包括以后添加的"),
    "help.resume": ("let stopped robots move again", "让已停止的机器人重新可以移动"),
    "help.resume_more": (
        "Queued jobs go on; stopped jobs do not start again.",
        "排队的任务继续；已停止的任务不会重新开始。",
    ),
    "help.every_robot": ("every robot", "所有机器人"),
    "help.approve": (
        "approve a plan that waits before a robot moves, or list what waits",
        "批准在机器人移动之前等待的计划，或列出等待的计划",
    ),
    "help.approve_more": (
        "config.json `approval` says which robots ask: never, risky or always. Only a person approves: another one "
        "than ordered the plan, or the only person, who reads it and types its hash. An approval holds for the steps "
        "that are listed, and for 10 minutes.",
        "config.json 的 `approval` 说明哪些机器人需要批准：never、risky 或 always。只有人可以批准：由下令者以外的人"
        "批准，或者在只有一个人时，由其阅读计划并输入哈希。批准只对所列的步骤有效，有效期 10 分钟。",
    ),
    "help.approve_plan": ("the plan's hash; none: list what waits", "计划的哈希；不给出：列出等待的计划"),
    "help.approve_refuse": ("refuse it", "拒绝它"),
    "help.serve": ("serve the tree over a WebSocket until Ctrl-C", "通过 WebSocket 提供树，直到按下 Ctrl-C"),
    "help.serve_more": (
        "Tokens are in HOME/auth_tokens.json. With --json one line tells the port when it listens. Bodies are run "
        "by `paos up`.",
        "令牌在 HOME/auth_tokens.json 中。使用 --json 时，开始监听后用一行给出端口。机体由 `paos up` 运行。",
    ),
    "help.mount": ("mount the tree as a directory of this machine", "将树挂载为本机的目录"),
    "help.mount_directory": ("an empty directory", "一个空目录"),
    "help.mount_foreground": ("serve it in this process until Ctrl-C", "在本进程中提供，直到按下 Ctrl-C"),
    "help.mount_read_only": ("refuse every change", "拒绝一切改动"),
    "help.mount_offline": (
        "keep copies of what is read, to be read while the server of --connect cannot be reached",
        "保存读过内容的副本，在无法连接 --connect 的服务器时可读",
    ),
    "help.mount_allow_other": (
        "let every user of this machine act as ROLE, which must be that of the mount",
        "允许本机的所有用户以 ROLE 的身份操作；必须与挂载的角色相同",
    ),
    "help.mount_more": (
        "Every program works there with the rights of --as, over --connect those of the token. Reading result.txt of a "
        "job waits for its end; Ctrl-C ends the wait. Why a write was refused stands in `last_error` beside the file.",
        "任何程序在其中都以 --as 的权限工作，通过 --connect 时为令牌的权限。读取任务的 result.txt 会等到"
        "任务结束；按 Ctrl-C 结束等待。写入被拒绝的原因写在文件旁的 `last_error` 中。",
    ),
    "help.unmount": ("unmount a mounted tree", "卸载已挂载的树"),
    "help.unmount_directory": ("where it is mounted", "挂载所在的目录"),
    "help.unmount_lazy": ("detach it also while programs use it", "即使有程序在使用也将其分离"),
    "help.mcp": (
        "serve the tree to a command-line agent over stdio (Model Context Protocol)",
        "通过 stdio 将树提供给命令行智能体(Model Context Protocol)",
    ),
    "help.mcp_more": (
        "The client starts it; it ends with its input. Rights are those of --as, over --connect those of the "
        "token. `paos serve` answers the same protocol over HTTP at /mcp.",
        "由客户端启动；输入结束时它也结束。权限为 --as 的权限，通过 --connect 时为令牌的权限。`paos serve` 在 "
        "/mcp 以 HTTP 提供同一协议。",
    ),
    "help.setup": (
        "set up a command-line agent: the MCP server, session hooks and a guide; shows the difference first",
        "设置命令行智能体：MCP 服务器、会话钩子和说明；先显示差异",
    ),
    "help.setup_more": (
        "--agent names the agent (default: that of the program), --as its role (default: planner). Without a "
        "terminal it changes nothing without --yes. Over --connect the settings name the server and --token-file, "
        "and there are no hooks. Exit 1: the user declined.",
        "--agent 指定智能体(默认：该程序的智能体)，--as 指定其角色(默认：planner)。没有终端时，不加 --yes 则不作"
        "任何更改。通过 --connect 时，设置中写明服务器和 --token-file，且没有钩子。退出码 1：用户谢绝。",
    ),
    "help.setup_program": ("the command-line agent", "命令行智能体"),
    "help.setup_directory": ("its project (default: here)", "其项目(默认：当前目录)"),
    "help.yes": ("do not ask for confirmation", "不询问确认"),
    "help.setup_undo": ("take out what was put in, and nothing else", "取出所放入的内容，不动其他内容"),
    "help.page": ("print an address that signs a browser in to the served tree", "打印让浏览器登录所提供的树的地址"),
    "help.page_open": ("open it in a browser", "在浏览器中打开"),
    "help.page_valid": (
        "how long its token is valid: 90s, 30m, 12h (default), 7d",
        "令牌的有效期：90s、30m、12h(默认)、7d",
    ),
    "help.page_url": (
        "the page's address, if not the one that this home is served at",
        "页面地址，若不是此主目录所在的地址",
    ),
    "help.page_more": (
        "By default the page is the operator's; with --as planner it sees what a user of the tree sees, as the agent "
        "of --agent. The token is in the part of the address that browsers do not send. "
        "`paos token revoke` ends it early.",
        "默认是操作员的页面；加 --as planner 时，以 --agent 的智能体身份看到该树的用户所能看到的内容。"
        "令牌在浏览器不会发送的地址部分中。`paos token revoke` 可提前终止它。",
    ),
    "help.token_add": ("create a token of the served tree for one agent", "为一个智能体创建所提供的树的令牌"),
    "help.token_add_more": (
        "The token is printed only now. It allows attaching as that agent and as no other.",
        "令牌只在此时显示。它只允许以该智能体的身份连接。",
    ),
    "help.token_add_agent": ("the agent of the token", "令牌所属的智能体"),
    "help.token_add_person": (
        "the name is of a person, who works as the operator does (role admin)",
        "该名字属于一个人，其权限与操作员相同（角色 admin）",
    ),
    "help.page_person": ("sign another person in, by name", "以另一人的名字登录"),
    "help.token_add_role": ("what it may (default: user)", "它的权限（默认：user）"),
    "help.token_list": ("list the tokens of the served tree (masked)", "列出所提供的树的令牌(已遮盖)"),
    "help.token_revoke": ("revoke a token of the served tree", "撤销所提供的树的一个令牌"),
    "help.token_revoke_more": (
        "New connections are refused at once, open ones end within seconds. After revoking `user`, only tokens of "
        "one agent are accepted.",
        "新连接立即被拒绝，已有的连接在数秒内结束。撤销 `user` 之后，只接受属于某个智能体的令牌。",
    ),
    "help.token_revoke_name": (
        "the token's id, all of an agent, or `user`: the shared one",
        "令牌的 id、某个智能体的所有令牌，或 `user`：共用的令牌",
    ),
    "help.policy_serve": (
        "serve a policy to skills: /predict, OpenVLA's /act and openpi's WebSocket on one port",
        "向技能提供策略：/predict、OpenVLA 的 /act 和 openpi 的 WebSocket，使用同一端口",
    ),
    "help.policy_serve_more": (
        "Callers must bring the token of --token-file, if one is named; without, only this machine is served. "
        "With --json one line tells the port when it listens.",
        "若指定了 --token-file，调用方须带上其中的令牌；否则只为本机服务。使用 --json 时，开始监听后用一行给出端口。",
    ),
    "help.policy_serve_policy": (
        "hold, reach, scripted, or a file that `local` reads",
        "hold、reach、scripted，或 `local` 能读取的文件",
    ),
    "help.policy_serve_port": ("port (default: 8765; 0: any free one)", "端口(默认：8765；0：任一空闲端口)"),
    "help.model_check": ("ask a configured language model one short question", "向已配置的语言模型提一个简短的问题"),
    "help.model_check_more": (
        "Exit 0: it answered as asked; 1: it did not; 2: it is not configured, or its key cannot be used.",
        "退出码 0：按要求作了回答；1：没有；2：未配置，或其密钥无法使用。",
    ),
    "help.model_check_name": (
        "its name in `models` of config.json (default: planner)",
        "其在 config.json 的 `models` 中的名称(默认：planner)",
    ),
    "help.model_usage": (
        "what the calls of this home's language models came to",
        "本主目录中语言模型调用的合计",
    ),
    "help.model_usage_more": (
        "One line for each use (planner, critic, judge, chat …) and model: calls, tokens, cost, seconds.",
        "每种用途（planner、critic、judge、chat 等）和模型一行：调用次数、token、费用、秒数。",
    ),
    "help.skill_try": (
        "try a skill file in simulation, with something going wrong midway, and record each trial",
        "在仿真中试验技能文件，中途制造干扰，并记录每次试验",
    ),
    "help.skill_try_more": (
        "A trial that is finished is never done again: stopped or killed, the same command goes on. An edited "
        "file starts from the beginning. Exit 0: it may be allowed on real targets; 1: it is a draft; 2: its text is "
        "refused.",
        "已完成的试验不再重做：停止或被杀死后，同一命令会继续。文件修改后重新开始。退出码 0：可在真实目标上获准；"
        "1：仍是草稿；2：其文本被拒绝。",
    ),
    "help.skill_name": ("its name: skills/NAME.md", "其名称：skills/NAME.md"),
    "help.skill_try_seeds": ("tables to try it on (default: 100)", "用于试验的桌面数(默认：100)"),
    "help.skill_list": (
        "list the skill files: draft, simulated, or allowed on which real target, and why",
        "列出技能文件：草稿、已仿真，或获准在哪个真实目标上执行，以及原因",
    ),
    "help.skill_allow": (
        "allow a skill file, as it is now, on a real target",
        "允许以目前内容的技能文件在真实目标上执行",
    ),
    "help.skill_allow_more": (
        "It needs 100 trials in simulation, and a lower end of the interval of successes of at least 0.9. An edit "
        "of the file or of the target's declaration takes it back.",
        "需要 100 次仿真试验，且成功率区间的下限至少为 0.9。修改该文件或目标的声明会使其失效。",
    ),
    "help.skill_allow_body": ("the real target in TARGETS.md", "TARGETS.md 中的真实目标"),
    "help.status": ("show the kernel, robots, jobs and last events", "显示内核、机器人、任务和最近的事件"),
    "help.status_watch": ("refresh on every change, until Ctrl-C", "每次更改时刷新，直到按下 Ctrl-C"),
    "help.top": ("show the world full-screen in this terminal, live", "在本终端全屏显示世界，实时更新"),
    "help.top_more": (
        "Keys: s stops the robot at the cursor, S all of them, r lets it move again, Enter or o opens a file, q leaves."
        " Needs pip install 'worldfs[top]'.",
        "按键：s 停止光标处的机器人，S 停止全部，r 恢复，Enter 或 o 打开文件，q 退出。"
        "需要 pip install 'worldfs[top]'。",
    ),
    "help.view": ("show the scene in a window of MuJoCo's viewer", "在 MuJoCo 查看器的窗口中显示场景"),
    "help.view_more": (
        "Over --connect it moves as the simulation moves; of a home it follows ENVIRONMENT.md. Needs a display and"
        " pip install 'worldfs[sim,serve]'.",
        "使用 --connect 时随仿真实时运动；对主目录则跟随 ENVIRONMENT.md。"
        "需要显示器和 pip install 'worldfs[sim,serve]'。",
    ),
    "help.watch": ("print changes as they happen", "在更改发生时输出"),
    "help.watch_path": ("only at or below this path", "只看此路径及其之下"),
    "help.ls": ("list a directory of the tree", "列出树的一个目录"),
    "help.ls_path": ("a directory of the tree; none: files with short names", "树的目录；不给出：有简称的文件"),
    "help.ls_long": ("with rights and kinds", "附带权限和类型"),
    "help.walk": ("print every path at and below a path, parents first", "输出某路径及其之下的所有路径，父目录在前"),
    "help.walk_path": ("where to begin (default: /)", "从何处开始(默认：/)"),
    "help.walk_depth": ("at most so many levels", "至多这么多层"),
    "help.stat": ("show the kind, size and rights of a path", "显示路径的类型、大小和权限"),
    "help.cat": ("print files of the tree", "输出树中的文件"),
    "help.cat_more": (
        "Over --connect, a file that blocks (a job's result.txt, events/next.json) prints on each change.",
        "通过 --connect 时，阻塞的文件(任务的 result.txt、events/next.json)在每次更改时输出。",
    ),
    "help.cat_at": (
        "as it was then: 2026-11-23T06:00:00Z, or 90s, 5m, 2h, 1d ago",
        "当时的内容：2026-11-23T06:00:00Z，或 90s、5m、2h、1d 之前",
    ),
    "help.log": ("list the versions of a document, newest first", "列出一个文档的各个版本，最新的在前"),
    "help.log_number": ("so many at most (default 20)", "至多这么多个(默认 20)"),
    "help.log_more": (
        "Each line: when it was written, its bytes and its revision. `paos cat PATH --at TIME` prints it.",
        "每行：写入时间、字节数与修订号。`paos cat PATH --at TIME` 输出其内容。",
    ),
    "help.diff": ("compare a document at two times", "比较一个文档在两个时间的内容"),
    "help.diff_other": ("a second time (default: now)", "第二个时间(默认：现在)"),
    "help.diff_more": ("Exit 0: the same; 1: different.", "退出码 0：相同；1：不同。"),
    "help.write": ("replace a file of the tree atomically", "原子地替换树中的一个文件"),
    "help.write_source": ("file to read; - or nothing: standard input", "要读取的文件；- 或不给出：标准输入"),
    "help.write_expect": ("write only if the file still has this revision", "仅当文件仍是此版本时写入"),
    "help.rm": ("remove files of the tree", "删除树中的文件"),
    "help.rm_more": (
        "Fixed and computed files cannot be removed. Over --connect also in exports of nodes.",
        "固定的和计算得出的文件不能删除。通过 --connect 也可用于节点的导出目录。",
    ),
    "help.recursive": ("directories with their content", "包括目录及其内容"),
    "help.mkdir": ("make directories in the tree", "在树中创建目录"),
    "help.mkdir_more": (
        "Below artifacts/, and in what nodes export (--connect).",
        "在 artifacts/ 之下，以及节点的导出目录中(--connect)。",
    ),
    "help.mv": ("rename a file of the tree", "重命名树中的文件"),
    "help.mv_more": (
        "Within one node's exports, or below artifacts/.",
        "在同一节点的导出目录之内，或 artifacts/ 之下。",
    ),
    "help.cp": ("copy files within the tree", "在树中复制文件"),
    "help.cp_more": (
        "An existing file is replaced atomically. Copying onto a Control sends an order.",
        "已有的文件会被原子地替换。复制到 Control 上会发出任务。",
    ),
    "help.grep": (
        "search files of the tree for lines that match a regular expression",
        "在树的文件中查找与正则表达式匹配的行",
    ),
    "help.grep_more": (
        "Directories are searched recursively; without a path, the whole tree. Exit 0: found; 1: not found; 2: "
        "something could not be read.",
        "目录会递归查找；不给出路径时查找整棵树。退出码 0：找到；1：没有找到；2：有内容无法读取。",
    ),
    "help.grep_pattern": ("a Python regular expression", "Python 正则表达式"),
    "help.grep_ignore_case": ("ignore case", "忽略大小写"),
    "help.grep_files": ("print the names of the files only", "只输出文件名"),
    "help.wait": ("wait until a file changes, or contains a text", "等待文件更改，或等待其包含某段文本"),
    "help.wait_until": ("wait until the file contains this text", "等待文件包含此文本"),
    "help.wait_timeout": ("time limit in seconds (then exit 1)", "时限，单位秒(超时后退出码为 1)"),
    "help.reset": (
        "reset to a fresh scene, which the next `paos up` creates",
        "重置为新的场景，由下一次 `paos up` 创建",
    ),
    "help.reset_more": (
        "ENVIRONMENT.md, ACTION.md, TASK.md and SESSIONS.md are reset, and queued jobs are cancelled. Lessons, "
        "declarations, results and films stay. Refused while a kernel runs. `paos up --seed N` selects the scene.",
        "ENVIRONMENT.md、ACTION.md、TASK.md 和 SESSIONS.md 会被重置，排队的任务会被取消。教训、声明、结果和影片会"
        "保留。内核运行时会被拒绝。`paos up --seed N` 选择场景。",
    ),
    "help.reset_undo": ("restore what the last reset backed up", "恢复上一次重置所备份的内容"),
    "help.cancel": ("cancel a running or queued job", "取消正在执行或排队的任务"),
    "help.cancel_more": (
        "A job that runs is waited for, until its robot stands. Exit 1: the job has ended already, or its robot may "
        "still move.",
        "正在执行的任务会等到机器人静止。退出码 1：任务已经结束，或机器人可能仍在运动。",
    ),
    "help.cancel_job": ("its id", "其 id"),
    "help.lessons": ("search the lessons", "搜索教训"),
    "help.lessons_query": ("search words (default: the newest lessons)", "搜索词(默认：最新的教训)"),
    "help.lessons_limit": ("at most so many (default: 10)", "至多这么多(默认：10)"),
    "help.check": (
        "check every file; report what was found, what was expected, and the fix",
        "检查所有文件；报告发现了什么、应为什么，以及如何修复",
    ),
    "help.check_more": (
        "Exit 0: no problems (warnings allowed); 1: problems found. With --connect it prints the alerts of the running "
        "server, and reads no files.",
        "退出码 0：没有问题(允许警告)；1：发现问题。使用 --connect 时打印运行中的服务器的警报，不读取文件。",
    ),
    "help.check_fix": ("fix problems that can be fixed without losing data", "修复不会丢失数据的问题"),
    "help.node": (
        "make this machine a node of a served world (with --connect)",
        "使本机成为所提供世界的节点(与 --connect 一起使用)",
    ),
    "help.node_more": (
        "Without an invite it sends a join request (a user token in $PAOS_TOKEN or --token-file), and waits for "
        "the operator's approval. Ctrl-C leaves cleanly; after any other interruption it reconnects.",
        "没有邀请时，它发送加入请求(用户令牌在 $PAOS_TOKEN 或 --token-file 中)，并等待操作者批准。Ctrl-C 会正常离"
        "开；其他中断之后它会重新连接。",
    ),
    "help.node_export": (
        "a directory to export, for reading only: NAME=PATH; NAME=PATH:rw: others may change it too; may be repeated",
        "要导出的目录，只读：NAME=PATH；NAME=PATH:rw：他人也可修改；可重复",
    ),
    "help.node_service": (
        "a manifest of a service to offer (runtime.type native_proc); may be repeated",
        "所提供服务的清单(runtime.type 为 native_proc)；可重复",
    ),
    "help.node_invite": (
        "join with this invite of the server (or $PAOS_INVITE)",
        "用服务器的此邀请加入(或 $PAOS_INVITE)",
    ),
    "help.node_name": ("name of the node (default: this machine's name)", "节点的名称(默认：本机的名称)"),
    "help.node_state": (
        "directory of the id and secret (default: .paos/nodes in the home)",
        "存放 id 和密钥的目录(默认：主目录中的 .paos/nodes)",
    ),
    "help.node_lease": (
        "seconds without contact until the node counts as offline (default: 900)",
        "失去联系多少秒后视为离线(默认：900)",
    ),
    "help.completion": ("print a completion script for a shell", "输出 shell 的补全脚本"),
    "help.completion_more": (
        'bash: eval "$(paos completion bash)" · zsh: paos completion zsh > _paos in $fpath · fish: paos '
        "completion fish | source",
        'bash: eval "$(paos completion bash)" · zsh: paos completion zsh > $fpath 中的 _paos · fish: paos '
        "completion fish | source",
    ),
    "help.completion_shell": ("the shell", "哪种 shell"),
    "help.agent_name": ("the agent", "智能体"),
    "help.agent_facts": ("key=value; a value that is JSON is parsed as JSON", "key=value；JSON 形式的值按 JSON 解析"),
    "help.session_type": ("kind of session", "会话的类型"),
    "help.domain": ("field of work", "工作领域"),
    "help.branch": ("branch of the session", "会话的分支"),
    "help.model": ("model of the session", "会话的模型"),
    "help.question": ("question to answer", "要回答的问题"),
    "help.belief": ("hypothesis to test", "要检验的假设"),
    "help.disconfirm": ("what would refute the hypothesis", "什么会推翻该假设"),
    "help.expect": ("sources to archive", "要归档的来源数"),
    "help.session_id": ("id of the session (default: made from the time)", "会话的 id(默认：由时间生成)"),
    "help.language": ("language of headings and of the prompt", "标题和提示词的语言"),
    "help.agents": (
        "list every agent with its session, results and waiting messages",
        "列出所有智能体及其会话、结果和等待的消息",
    ),
    "help.agents_watch": ("keep running, and print again on every change", "持续运行，每次更改时重新输出"),
    "help.agents_plan": (
        "in the order in which they should run next, with reasons",
        "按接下来应运行的顺序，并给出理由",
    ),
    "help.agent_init": ("create an agent, or its missing files", "创建智能体，或其缺少的文件"),
    "help.agent_init_more": ("Without a name: the missing files of every agent.", "不给出名称：所有智能体缺少的文件。"),
    "help.agent_rm": (
        "remove an agent: its directory is moved to a backup and can be restored",
        "移除智能体：其目录移到备份中，可以恢复",
    ),
    "help.agent_rm_more": (
        "It prints where the directory is now. An agent that runs a session is not removed.",
        "它会输出目录现在的位置。正在运行会话的智能体不会被移除。",
    ),
    "help.agent_restore": (
        "restore the last removed agent of this name; without a name, list the removed agents",
        "恢复最近移除的该名称的智能体；不给出名称：列出已移除的智能体",
    ),
    "help.agent_show": (
        "show one agent: report, session, metrics, findings",
        "显示一个智能体：报告、会话、指标、发现的问题",
    ),
    "help.agent_run": (
        "run a command as a session of an agent: paos agent run rio --type research --with claude-code",
        "将一个命令作为智能体的会话运行：paos agent run rio --type research --with claude-code",
    ),
    "help.agent_run_more": (
        "Exit 0: it completed; 1: it failed or took too long; 2: it could not start. The session's end, all its "
        "descendants' end and what became of its messages are durable when this returns.",
        "退出码 0：已完成；1：失败或超时；2：无法启动。返回时，会话的结束、其所有子进程的结束及其消息的去向都已持"
        "久保存。",
    ),
    "help.agent_run_take": (
        "move an agent of another host here, if it does not work there",
        "把另一台主机上的智能体移到这里，前提是它不在那里工作",
    ),
    "help.agent_run_silence": ("time limit in seconds without output", "没有输出的时限，单位秒"),
    "help.agent_run_prompt": (
        "how the command gets the state prompt: as its standard input (default of --with), as its last argument, "
        "or not",
        "命令如何得到状态提示词：作为标准输入(--with 的默认方式)、作为最后一个参数，或不给出",
    ),
    "help.agent_run_with": (
        "run this command-line agent, and let it read and write this agent's directory; words after -- are its",
        "运行此命令行智能体，并让它读写该智能体的目录；-- 之后的词属于它",
    ),
    "help.agent_run_template": ("a file with a custom state prompt", "含自定义状态提示词的文件"),
    "help.agent_run_budget": ("token budget of the state in the prompt", "提示词中状态的 token 预算"),
    "help.agent_run_pre": ("shell command before the start", "启动之前的 shell 命令"),
    "help.agent_run_post": ("shell command after success", "成功之后的 shell 命令"),
    "help.agent_run_error": ("shell command after failure", "失败之后的 shell 命令"),
    "help.agent_run_argv": ("the command and its arguments, after --", "命令及其参数，写在 -- 之后"),
    "help.agent_start": (
        "start a session without a command, for shell scripts; prints its id",
        "开始一个没有命令的会话，用于 shell 脚本；输出其 id",
    ),
    "help.lasts_as": (
        "process whose end ends the session (default: the caller)",
        "其结束即会话结束的进程(默认：调用者)",
    ),
    "help.agent_event": ("append an entry to the journal", "向日志追加一个条目"),
    "help.what_happened": ("what happened", "发生了什么"),
    "help.agent_journal": ("print the journal of an agent", "打印智能体的日志"),
    "help.agent_outcome": ("record facts for the end of the running session", "记录用于当前会话结束时的事实"),
    "help.agent_end": ("end the session that `agent start` began", "结束 `agent start` 开始的会话"),
    "help.agent_end_outcome": ("how it ended", "如何结束"),
    "help.agent_end_summary": ("what was done", "做了什么"),
    "help.agent_end_handoff": ("a note for the next session", "给下一个会话的说明"),
    "help.agent_end_next": ("the first step of the next session", "下一个会话的第一步"),
    "help.agent_end_why": ("what went wrong", "出了什么问题"),
    "help.agent_hook": (
        "run by the session hooks of a command-line agent (`paos setup` writes them); reads the event from stdin",
        "命令行智能体的会话钩子所调用的命令(由 `paos setup` 写入)；事件从 stdin 读取",
    ),
    "help.agent_hook_more": (
        "SessionStart begins a session and prints the state prompt, after a compaction the prompt alone; a turn "
        "or a tool call prints the messages that have arrived; SessionEnd ends the session.",
        "SessionStart 开始一个会话并输出状态提示词，压缩之后只输出提示词；每一轮或每次工具调用输出已到达的消息；"
        "SessionEnd 结束会话。",
    ),
    "help.agent_tasks": ("list the tasks of an agent, or add or close one", "列出智能体的任务，或添加、结束一个"),
    "help.agent_tasks_all": ("also list completed and dropped tasks", "也列出已完成和已放弃的任务"),
    "help.agent_tasks_add": ("add a task with this description", "以此描述添加任务"),
    "help.agent_tasks_type": ("its type", "其类型"),
    "help.priority": ("its priority", "其优先级"),
    "help.agent_tasks_close": ("complete the task of this id", "完成此 id 的任务"),
    "help.agent_tasks_drop": ("drop the task of this id", "放弃此 id 的任务"),
    "help.result": ("the result", "结果"),
    "help.agent_memory": (
        "show an agent's memory, add to it, or restore a version",
        "显示智能体的记忆，添加内容，或恢复某个版本",
    ),
    "help.agent_memory_add": ("remember this", "记住这一点"),
    "help.agent_memory_section": (
        "patterns, dead_ends, questions, corrections, flags, or a heading",
        "patterns、dead_ends、questions、corrections、flags，或一个标题",
    ),
    "help.agent_memory_pin": ("always include it in a context", "始终包含在上下文中"),
    "help.agent_memory_undo": ("restore the version so many back", "恢复到前面第几个版本"),
    "help.agent_memory_versions": ("list the stored versions", "列出保存的版本"),
    "help.agent_search": ("search an agent's memory", "搜索智能体的记忆"),
    "help.agent_search_query": ("words", "词"),
    "help.limit": ("at most so many", "至多这么多"),
    "help.agent_context": (
        "build the context of an agent's session, within a token budget",
        "在 token 预算之内构建智能体会话的上下文",
    ),
    "help.agent_context_unit": ("of what", "以什么计"),
    "help.agent_context_prompt": ("as the whole state prompt", "作为完整的状态提示词"),
    "help.agent_inbox": (
        "list the messages that wait, or claim, acknowledge or return one",
        "列出等待的消息；或领取、确认、退回一条",
    ),
    "help.agent_inbox_claim": ("claim the next message for so many seconds", "领取下一条消息，持续这么多秒"),
    "help.agent_inbox_wait": (
        "wait at most so many seconds for a message, and claim it",
        "至多等待这么多秒，直到有消息，并领取它",
    ),
    "help.agent_inbox_ack": ("acknowledge this claim", "确认此次领取"),
    "help.agent_inbox_return": (
        "this claim is not done: let others have the message",
        "此次领取没有完成：让其他方处理该消息",
    ),
    "help.agent_inbox_dead": ("the messages that could not be delivered", "无法送达的消息"),
    "help.agent_inbox_receipt": ("what became of a message, and when", "消息的去向及时间"),
    "help.agent_send": ("send a message to an agent", "给智能体发送消息"),
    "help.agent_send_more": ("TO may be `all`: a cascade to every agent.", "TO 可以是 `all`：发给所有智能体。"),
    "help.agent_send_to": ("the recipient", "收件者"),
    "help.agent_send_subject": ("subject", "主题"),
    "help.agent_send_body": ("text of the message; - for standard input", "消息的文本；- 为标准输入"),
    "help.agent_send_from": ("sender (default: operator)", "发件者(默认：operator)"),
    "help.agent_send_type": ("kind of message", "消息的类型"),
    "help.agent_send_ref": ("reference", "引用"),
    "help.agent_send_expires": ("not to be delivered after this time (ISO 8601)", "此时间(ISO 8601)之后不再送达"),
    "help.agent_send_id": ("its id: the same message sent twice arrives once", "其 id：同一消息发送两次只到达一次"),
    "help.agent_journal_last": ("the last so many entries", "最近这么多个条目"),
    "help.agent_journal_after": ("all entries after this number", "此编号之后的所有条目"),
    "help.agent_import": (
        "import the state of other tools: ops/sessions, queue.md, flags, Claude Code, Codex, MCP memory, Beads",
        "导入其他工具的状态：ops/sessions、queue.md、flags、Claude Code、Codex、MCP memory、Beads",
    ),
    "help.agent_import_more": (
        "A missing agent is created if PLACE contains it completely (an agent-state root of version 1). Exit 1: "
        "something was not understood, or nothing was found.",
        "若 PLACE 完整包含该智能体(版本 1 的 agent-state 根目录)，则会创建缺少的智能体。退出码 1：有内容无法理解，"
        "或什么也没有找到。",
    ),
    "help.agent_import_place": (
        "a file or directory of the other tool; it is only read",
        "其他工具的文件或目录；只会读取它",
    ),
    "help.agent_import_dry_run": ("only list what would be imported", "只列出将会导入的内容"),
    "help.agent_import_research_journal": (
        "the sessions of research-journal.md as notes too",
        "也将 research-journal.md 的会话作为笔记",
    ),
    "help.agent_import_instructions": (
        "the rules of CLAUDE.md, AGENTS.md, GEMINI.md as notes too",
        "也将 CLAUDE.md、AGENTS.md、GEMINI.md 的规则作为笔记",
    ),
    "help.agent_export": (
        "copy the seven files of an agent, as they are, into a directory",
        "将智能体的七个文件原样放入一个目录",
    ),
    "help.agent_export_place": ("a new directory", "新的目录"),
    "help.agent_schema": ("print the JSON Schema (2020-12) of a document", "打印文档的 JSON Schema(2020-12)"),
    "help.agent_schema_document": ("which", "哪个文档"),
    "help.record": (
        "record tabletop demonstrations of the scripted expert, as a LeRobot dataset",
        "录制脚本专家的桌面演示，作为 LeRobot 数据集",
    ),
    "help.record_more": (
        "LeRobotDataset v3.0, with a flight log (MCAP) of each episode in DIR/flight. Only successful ones are "
        "kept. Ctrl-C ends it after the present episode; killed at any moment, DIR holds whole episodes and goes "
        "on next time.",
        "LeRobotDataset v3.0，每个片段的飞行日志(MCAP)在 DIR/flight 中。只保留成功的片段。Ctrl-C 在当前片段之后结"
        "束；任何时刻被杀死，DIR 中都是完整的片段，下次会继续。",
    ),
    "help.record_directory": ("the dataset; one that is there already goes on", "数据集；已存在的会继续"),
    "help.record_episodes": ("keep so many in all (default: 50)", "总共保留这么多(默认：50)"),
    "help.record_families": ("task families in turn (default: pick,place)", "依次进行的任务类别(默认：pick,place)"),
    "help.record_seed": (
        "the world of the first trial; the next has the next (default: 0)",
        "第一次试验的世界；下一次用下一个(默认：0)",
    ),
    "help.record_objects": ("things on the table (default: 3)", "桌上物体的数目(默认：3)"),
    "help.record_noise": (
        "noise of the gripper position per step, in metres (default: 0.002)",
        "每步夹爪位置的噪声，单位米(默认：0.002)",
    ),
    "help.record_cameras": (
        "also record cameras: front, wrist or front,wrist",
        "同时录制相机：front、wrist 或 front,wrist",
    ),
    "help.record_picture_size": (
        "size of the cameras' pictures, at most 640x480 (default: 640x480)",
        "相机图像的大小，最大 640x480(默认：640x480)",
    ),
    "help.bench_tabletop": ("benchmark skills and policies on six task families", "以六类任务评测技能和策略"),
    "help.bench_tabletop_more": (
        "results.md and results.json in DIR, with confidence intervals. A trial that is finished is in "
        "DIR/trials.jsonl and is never done again: stopped or killed, the same command goes on.",
        "DIR 中的 results.md 和 results.json，含置信区间。已完成的试验在 DIR/trials.jsonl 中，不再重做：停止或被"
        "杀死后，同一命令会继续。",
    ),
    "help.bench_tabletop_contestant": (
        "skills, rekep, NAME=FILE.onnx or NAME=TYPE:ENDPOINT; may be repeated (default: skills)",
        "skills、rekep、NAME=FILE.onnx 或 NAME=TYPE:ENDPOINT；可重复(默认：skills)",
    ),
    "help.bench_tabletop_families": (
        "some of pick,place,stack,sort,clear,recover (default: all)",
        "pick,place,stack,sort,clear,recover 中的若干个(默认：全部)",
    ),
    "help.bench_tabletop_seeds": ("seeds of each family (default: 20)", "每类的种子数(默认：20)"),
    "help.bench_tabletop_seed": ("first seed (default: 5000)", "第一个种子(默认：5000)"),
    "help.bench_tabletop_perception": (
        "what the robot plans from: truth or camera (default: truth)",
        "机器人据以规划的来源：truth 或 camera(默认：truth)",
    ),
    "help.bench_tabletop_world": (
        "do each trial once more in a world drawn by its seed: light=0.5..1.5, friction=0.3; may be repeated",
        "每次试验再在按种子抽取的世界中做一次：light=0.5..1.5、friction=0.3；可重复",
    ),
    "help.bench_tabletop_disturb": (
        "the same with all factors at their usual ranges; those of light and cameras with --perception camera",
        "同上，所有因素取常用范围；光照和相机的因素需要 --perception camera",
    ),
    "help.bench_tabletop_workers": ("simulations at a time: 1 or 2 (default: 1)", "同时进行的仿真数：1 或 2(默认：1)"),
    "help.bench_tabletop_out": (
        "directory of trials and results (default: bench-tabletop)",
        "试验和结果的目录(默认：bench-tabletop)",
    ),
    "help.bench_instructions": (
        "benchmark the grammar and the configured model on 200 instructions in 20 scenes",
        "以 20 个场景中的 200 条指令评测语法和已配置的模型",
    ),
    "help.bench_instructions_more": (
        "Each in a simulated world of its own, in memory; what is right is measured there. The model is "
        "`models.planner` of config.json.",
        "每条指令都在自己的内存仿真世界中；正确与否在其中测量。模型为 config.json 的 `models.planner`。",
    ),
    "help.bench_instructions_contestant": (
        "grammar, grammar+model or model; may be repeated (default: all, without a model the grammar)",
        "grammar、grammar+model 或 model；可重复(默认：全部，没有模型时为 grammar)",
    ),
    "help.bench_instructions_every": (
        "only every Nth instruction (default: 1, all)",
        "只用每第 N 条指令(默认：1，全部)",
    ),
    # -- of missions
    "help.mission_id": ("its id, as `paos mission list` shows it", "其 id，见 `paos mission list`"),
    "help.mission_add": (
        "add a mission, which the orchestrator gives to the robot that can do it at the lowest cost",
        "添加任务，由调度器交给代价最低且能够完成的机器人",
    ),
    "help.mission_text": ("what is to be done, in words", "用文字写明要做什么"),
    "help.mission_robot": ("only this robot may do it", "只允许该机器人执行"),
    "help.mission_require": (
        "what its robot must be able to do: mobile, manipulation, an operation; may be repeated",
        "对机器人的要求：mobile、manipulation 或某个操作；可重复",
    ),
    "help.mission_priority_of": ("its priority (default: normal)", "其优先级(默认：normal)"),
    "help.mission_after": ("a mission that must succeed first; may be repeated", "须先成功的任务；可重复"),
    "help.mission_task": (
        "instead of a text: a mission for each pending row of TASK.md, for its device, after what it depends on",
        "代替文字：为 TASK.md 中每个待执行的行添加任务，交给其设备，并遵守依赖",
    ),
    "help.mission_add_more": (
        "It is durable when the command returns, whether or not a kernel runs.",
        "命令返回时任务已持久保存，无论内核是否在运行。",
    ),
    "help.mission_list": ("list the open missions and the latest ended ones", "列出未结束的任务和最近结束的任务"),
    "help.mission_pause": (
        "pause a mission: its robot stops safely and may do others",
        "暂停任务：其机器人安全停下，可执行其他任务",
    ),
    "help.mission_resume": ("queue a paused mission again", "让暂停的任务重新排队"),
    "help.mission_cancel": ("cancel a mission as a whole", "取消整个任务"),
    "help.mission_confirm": ("the code of a model's reading, to carry it out", "模型解读的确认码，用于执行该解读"),
    "help.mission_release": (
        "free what the robot of a lost mission still has reserved",
        "释放丢失任务的机器人仍占用的资源",
    ),
    "help.mission_priority": ("change the priority of a mission", "更改任务的优先级"),
    "help.mission_value": ("the priority", "优先级"),
}
