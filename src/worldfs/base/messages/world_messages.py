"""Messages of a home and its tree, in English and Chinese: names that are not there, settings that do not fit."""

# a row stays on its line
ROWS = {
    "world.contradicted": (
        "the driver says {said!r}, but {observed} was observed, and {expected} was expected",
        "驱动报告“{said}”，但观测为 {observed}，应为 {expected}",
    ),
    "world.unmeasured": (
        "the driver says {said!r}, and nothing that was observed shows it",
        "驱动报告“{said}”，但观测中没有任何依据",
    ),
    "world.an_observation": ("an observation that shows it", "能证实它的观测"),
    "world.no_observation": ("the word of the driver alone", "只有驱动的报告"),
    "world.declare_shows": (
        "let its observe() report it; for an operation of its own, declare Operation.shows",
        "让其 observe() 报告结果；对自有操作，声明 Operation.shows",
    ),
    "world.robots_computed": (
        "Computed from the profiles and ENVIRONMENT.md; edits here have no effect.",
        "由机器人档案与 ENVIRONMENT.md 生成；在此处的修改无效。",
    ),
    "world.robots_declared": (
        "The operator declares robots in config.json.",
        "机器人由操作员在 config.json 中声明。",
    ),
    # -- names
    "world.no_robot": ("no robot {node!r}", "没有机器人 {node!r}"),
    "world.several_robots": ("several robots and no name", "有多个机器人，没有指明哪一个"),
    "world.no_robot_configured": ("no robot is configured", "没有配置机器人"),
    "world.say_which": (
        "say which: --node NAME (to stop every robot: paos stop)",
        "请指明：--node NAME（要停止所有机器人：paos stop）",
    ),
    "world.name_or_all": ("name one of them, or `paos {op} --all`", "指明其中之一，或 `paos {op} --all`"),
    "world.did_you_mean": ("did you mean {likely}?", "是不是 {likely}？"),
    "world.bad_member": ("{name} is {value!r}; it must be {expected}", "{name} 是 {value!r}；应为 {expected}"),
    "world.answers": (
        "a list of at most {n} objects with question and answer",
        "最多包含 {n} 个对象的列表，每个对象有 question 和 answer",
    ),
    "world.no_job_of_yours": ("depends_on names no job of yours: {id!r}", "depends_on 指明的不是您的任务：{id!r}"),
    "world.list_jobs": ("list jobs/", "列出 jobs/"),
    "world.no_job_of": ("no job {id!r} of {node}", "{node} 没有任务 {id!r}"),
    "world.no_job_file": ("no file {name!r} of a job", "任务没有文件 {name!r}"),
    "world.no_reset": ("no reset to undo", "没有可撤销的重置"),
    "world.bad_film_name": ("{name!r} is not a valid film name", "{name!r} 不能作影片名"),
    "world.film_name": ("NAME.gif or NAME.mp4, or nothing to stop", "NAME.gif 或 NAME.mp4；留空则停止"),
    "world.no_language": ("no language {language!r}", "没有语言 {language!r}"),
    "world.languages": ("en or zh", "en 或 zh"),
    "world.no_profile": ("unknown profile {name!r}", "没有配置 {name!r}"),
    "world.write_profile": ("write {path}", "写入 {path}"),
    "world.write_profile_into": ("write {name}.md into {folder} of the home", "把 {name}.md 写入主目录的 {folder}"),
    "world.or_known": ("{fix}, or name one of those", "{fix}，或指明其中之一"),
    "world.did_you_mean_else": ("did you mean {likely}? Else {fix}", "是不是 {likely}？否则{fix}"),
    # -- the kernel
    "world.read_only": ("this world was opened to read and submit only", "打开时只用于读取和提交"),
    "world.serve_it": ("open it with serve=True", "用 serve=True 打开"),
    "world.kernel_gone": ("the kernel that ran it has gone", "执行它的内核已不在"),
    "world.start_kernel": (
        "start one with: paos up; running jobs are then ended as lost, the others run",
        "用 paos up 启动；届时正在执行的任务以 lost 结束，其余继续执行",
    ),
    "world.closing": ("this home is being closed", "主目录正在关闭"),
    "world.submit_again": ("submit it again", "请重新提交"),
    "world.jobs_open": ("{n} jobs of agent {agent!r} have not ended", "智能体 {agent!r} 有 {n} 个任务尚未结束"),
    "world.wait_for_jobs": ("wait for some of them to end", "等其中一些结束"),
    "world.no_film": ("the driver of {node} cannot film", "{node} 的驱动不能拍摄"),
    "world.use_simulation": ("use one that can: --driver simulation", "改用可以的：--driver simulation"),
    # -- robots and targets
    "world.orders_wait": (
        "its orders wait until {s:g} s have passed, then they are refused: see whether it is on and connected",
        "其指令等到满 {s:g} 秒，之后将被拒绝：请检查它是否已开机并连接",
    ),
    "world.see_silent": (
        "see whether the robot is on and connected: it is used as soon as the call returns; else restart the kernel",
        "请检查机器人是否已开机并连接：调用返回后即可使用；否则请重新启动内核",
    ),
    "world.go2": (
        "{node} wants the driver {driver!r}: ACTION.md does not reach a real Go2 yet",
        "{node} 需要驱动 {driver!r}：ACTION.md 尚不能控制真实的 Go2",
    ),
    "world.use_sessions": (
        "use sessions: a target of TARGETS.md with adapter.driver unitree_go2 (docs/robots.md); go2_edu is simulated",
        "改用会话：TARGETS.md 中 adapter.driver 为 unitree_go2 的目标(docs/robots.md)；go2_edu 是仿真的",
    ),
    "world.target_entry": ("the entry", "该条目"),
    "world.target_changed": (
        "{members} of {id} changed since `paos up` began; the robot works by what was there then",
        "{id} 的 {members} 在 `paos up` 启动之后被修改；机器人仍按当时的内容工作",
    ),
    "world.target_limits": (
        "{members} of {id} changed since `paos up` began; it is sent no order until it is started by what is there now",
        "{id} 的 {members} 在 `paos up` 启动之后被修改；在按现有内容重新启动之前不会向它下达指令",
    ),
    "world.target_as_started": ("the entry that the robot was started by", "启动机器人时所用的条目"),
    "world.start_again": ("restart `paos up`, or undo the change", "重新启动 `paos up`，或撤销修改"),
    "world.no_robot_target": (
        "{node} wants the driver {driver!r}, and TARGETS.md has no such robot of that id",
        "{node} 需要驱动 {driver!r}，而 TARGETS.md 中没有这个 id 的此类机器人",
    ),
    "world.robot_with_driver": ("a robot {node} with that driver", "使用该驱动的机器人 {node}"),
    "world.declare_robot": ("declare it there: {entry} (docs/robots.md)", "在那里声明：{entry}(docs/robots.md)"),
    "world.same_id": (
        "give robot and target one id: robotId {id}, or `id: {node}` in TARGETS.md",
        "让机器人与目标同名：robotId {id}，或在 TARGETS.md 中写 `id: {node}`",
    ),
    "world.or_simulate": (
        "{fix}; or run it in the simulation: `paos up` and `paos do` take --driver simulation",
        "{fix}；或在仿真中运行：`paos up` 和 `paos do` 可用 --driver simulation",
    ),
    "world.enabled_true": ("enabled: true", "enabled: true"),
    "world.enable_there": (
        "enable it there, or remove the robot from config.json",
        "在那里启用它，或从 config.json 中删去该机器人",
    ),
    "world.session_waits": ("{id} is disabled: the session waits", "{id} 已停用：会话等待中"),
    "world.enabled_target": ("an enabled target", "已启用的目标"),
    "world.set_enabled": ("set enabled: true in {where}", "在 {where} 设 enabled: true"),
    "world.existing": ("an existing {what}: {names}", "已有的{what}：{names}"),
    "world.kind_skill": ("skill", "技能"),
    "world.kind_adapter": ("adapter", "适配器"),
    "world.declare_or_correct": ("declare it, or correct the name", "声明它，或改正名称"),
    "world.readable_writable": ("a file that can be read and written", "可以读写的文件"),
    "world.registry": ("a registry", "登记表"),
    "world.correct_registry": (
        "correct it; until then the last good state stands",
        "改正它；在此之前以上一次正确的内容为准",
    ),
    # -- reviewers
    "world.reviewer": ("a reviewer that can be asked", "能够询问的审查者"),
    "world.mend_package": (
        "mend the package that brings it, or uninstall that package",
        "修复提供它的软件包，或卸载该软件包",
    ),
    # -- chat
    "world.end_not_written": ("the end could not be written: {why}", "无法写入结果：{why}"),
    "world.no_responder": (
        "agent {agent!r} has no responder: {key} of config.json names none, and this home has no workspace with a robot"
        " — add {entry} to {key}, or make a workspace with: paos onboard",
        "智能体 {agent!r} 没有应答者：config.json 的 {key} 没有指明，而本主目录没有带机器人的工作空间；"
        "请把 {entry} 加入 {key}，或用 paos onboard 创建工作空间",
    ),
    "world.agent_busy": ("agent {agent!r} is busy: {why}", "智能体 {agent!r} 正忙：{why}"),
    "world.some_refused": ("{n} accepted, {m} refused: {said}", "接受 {n} 项，拒绝 {m} 项：{said}"),
    "world.finding": (
        "{code} · {field} · expected {expected} · found {found} · {fix}",
        "{code} · {field} · 应为 {expected} · 发现 {found} · {fix}",
    ),
    "world.and_then": ("{one}; {more}", "{one}；{more}"),
    "world.params_robot": ("params name the robot {named!r}", "params 指明的机器人是 {named!r}"),
    "world.no_utf8": ("no UTF-8 at byte {at}", "字节 {at} 处不是 UTF-8"),
    "world.stopped_until": (
        "{said}; queued jobs are held until: paos resume --node {node}",
        "{said}；恢复请运行：paos resume --node {node}",
    ),
    "world.stopped_since": (
        "{node}: the stop is not in force any more: it may move",
        "{node}：该停止已不再有效：它可能会运动",
    ),
    "world.no_robot_to_command": (
        "agent {agent!r} has no robot that it may command",
        "智能体 {agent!r} 没有可以指挥的机器人",
    ),
    "world.none_selected": ("several robots, and none is selected", "有多个机器人，没有选定哪一个"),
    "world.set_robot": (
        "set robot in agents.brains (to stop every robot: paos stop)",
        "在 agents.brains 中设 robot（要停止所有机器人：paos stop）",
    ),
    "world.no_kernel_for": ("no kernel runs orders to {node}", "没有内核执行发给 {node} 的任务"),
    "world.caller": ("{name!r} stands for the caller's agent", "{name!r} 代表调用者的智能体"),
    "world.another_name": ("another name", "其他名称"),
    "world.other_agents": ("another mind's", "属于另一个智能体"),
    "world.at_rest": ("things that rest on something, and in no other", "物体都有支撑，且互不重叠"),
    "world.built_elsewhere": ("the simulation is at rest otherwise: {moved}", "仿真静止后与文件不同：{moved}"),
    "world.stand_added": ("{id} added below what hangs in the air", "在悬空物体下加了 {id}"),
    "world.built_written": (
        "ENVIRONMENT.md has where they are now; where a thing is to be elsewhere, correct it there and start again",
        "ENVIRONMENT.md 已改为现在的位置；如不对，请在其中改正后重新启动",
    ),
    "world.edited_elsewhere": (
        "the simulation does not follow an edit of the document: {moved}",
        "仿真不随文件的修改而变：{moved}",
    ),
    "world.edited_thing": (
        "{moved} (measured at {at}, orientation {turn}; in the document at {told})",
        "{moved}（测得在 {at}，朝向 {turn}；文件写的是 {told}）",
    ),
    "world.edited_piece": ("{moved}, measured {status}, open by {opening}", "{moved}，测得 {status}，开度 {opening}"),
    "world.start_edited": (
        "start again, and the world is built as the document has it; until then robots plan with where things are",
        "重新启动后，仿真按文件重建；在此之前机器人按物体的实际位置规划",
    ),
    "world.look_built": (
        "correct the document and start again; until then the simulation goes on from where they are now",
        "请改正文件后重新启动；在此之前仿真从它们现在的位置继续",
    ),
}
