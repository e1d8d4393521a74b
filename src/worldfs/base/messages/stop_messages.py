"""Messages of stops, in English and Chinese: what is known of a robot that was stopped."""

# a row stays on its line
ROWS = {
    "stop.confirmed": ("{node}: stopped; its driver confirms that it stands", "{node}：已停止；驱动确认机器人已静止"),
    "stop.unconfirmed": (
        "{node}: stop sent, not confirmed: {why}; use the robot's hardware stop",
        "{node}：已发送停止，未得到确认：{why}；请使用机器人的硬件急停",
    ),
    "stop.told_all_the_same": (
        "the robots were told to stop all the same: /nodes/ID/stop says whether each stands; {fix}",
        "仍已通知各机器人停止：/nodes/ID/stop 说明每个机器人是否已静止；{fix}",
    ),
    "stop.interrupted_told": (
        "interrupted: the drivers were told to stop; whether every robot stands is not known: see paos status",
        "已中断：已通知各驱动停止；是否所有机器人都已静止尚不清楚：见 paos status",
    ),
    "stop.interrupted_sent": (
        "interrupted: the stop was sent, and no driver is known to have heard it; use the robot's hardware stop",
        "已中断：停止已发出，但不知道是否有驱动收到；请使用机器人的硬件急停",
    ),
    "stop.not_delivered": (
        "stop NOT delivered: {why}; use the robot's hardware stop",
        "停止未送达：{why}；请使用机器人的硬件急停",
    ),
    "stop.sent_unanswered": (
        "{why}; a kernel that was started for this place (process {pids}) was sent the stop and has not answered: it "
        "may be ending, and what its robots do is not known",
        "{why}；已向为此处启动的内核(进程 {pids})发送停止，尚未应答：它可能正在退出，其机器人的动作未知",
    ),
    "stop.no_kernel_found": (
        "{why}; no kernel that was started for this place runs on this machine",
        "{why}；本机没有为此处启动的内核在运行",
    ),
    "stop.robot_not_delivered": (
        "{node}: stop NOT delivered: {why}; use the robot's hardware stop",
        "{node}：停止未送达：{why}；请使用机器人的硬件急停",
    ),
    "stop.may_move": (
        "{node} may still move: its last order was to end, and it has not confirmed that it stands ({why})",
        "{node} 可能仍在运动：它的上一条指令应当结束，但尚未确认已静止（{why}）",
    ),
    "stop.left_moving": (
        "{node} may still move: no kernel serves it, and its driver {driver} was carrying out {job} when its kernel "
        "was last heard of",
        "{node} 可能仍在运动：没有内核为其服务，最后一次收到其内核的消息时其驱动 {driver} 正在执行 {job}",
    ),
    "stop.left": (
        "driver {driver} was carrying out {job}, and nothing that it measured since shows that it stands",
        "驱动 {driver} 当时正在执行 {job}，此后没有测量结果表明它已静止",
    ),
    "stop.left_idle": (
        "nothing that driver {driver} has measured since its last stop or order shows that it stands",
        "自上次停止或指令以来，驱动 {driver} 的测量结果均未表明它已静止",
    ),
    "stop.left_moving_idle": (
        "{node} may still move: no kernel serves it, and its driver {driver} had not measured that it stands when its "
        "kernel was last heard of",
        "{node} 可能仍在运动：没有内核为其服务，最后一次收到其内核的消息时其驱动 {driver} 尚未测得它已静止",
    ),
    "stop.no_driver_name": ("(its name is not known)", "（名称未知）"),
    "stop.left_word": (
        "use the robot's hardware stop; once a person has seen that it stands: paos stop {node}, then paos resume "
        "{node}",
        "请使用机器人的硬件急停；由人确认其已静止后执行：paos stop {node}，再执行 paos resume {node}",
    ),
    "stop.left_fix": (
        "use the robot's hardware stop, or start `paos up`: it stops the robot and looks whether it stands",
        "请使用机器人的硬件急停，或启动 `paos up`：它会停止机器人并检查其是否静止",
    ),
    "stop.earlier": (
        "an earlier workspace of this home that says which of its robots may still move",
        "此主目录以前的工作区，说明其哪些机器人可能仍在运动",
    ),
    "stop.earlier_unread": (
        "cannot be read: {why}; robots that it served may still move",
        "无法读取：{why}；它服务过的机器人可能仍在运动",
    ),
    "stop.earlier_fix": (
        "make it readable and writable, or remove it once a person has seen that its robots stand",
        "使其可读可写；或由人确认其机器人已静止后将其删除",
    ),
    "stop.not_connected": (
        "it is not connected ({why}); the stop is sent as soon as it is",
        "它未连接（{why}）；一旦连接便会发送停止",
    ),
    "stop.no_driver": (
        "its driver could not be opened ({why}); the stop is sent as soon as it can be",
        "其驱动无法打开（{why}）；一旦可以打开便会发送停止",
    ),
    "stop.unopened": ("{why}: {said}", "{why}：{said}"),
    "stop.start_failed": (
        "No kernel runs. May still move: {nodes}; use their hardware stop",
        "没有内核在运行。可能仍在运动：{nodes}；请使用其硬件急停",
    ),
    "stop.failed": ("the driver's stop failed: {why}", "驱动执行停止时出错：{why}"),
    "stop.readable": ("a record of stops that can be read", "可以读取的停止记录"),
    "stop.unread": (
        "a part that cannot be read; it counts as a person's stop until a person resumes",
        "有一部分无法读取；在有人恢复之前按人发出的停止处理",
    ),
    "stop.job_runs": ("the driver has not returned from {job}", "驱动尚未从 {job} 返回"),
    "stop.call_hangs": ("the driver's stop has not returned", "驱动的停止调用尚未返回"),
    "stop.returns": ("a driver's stop that returns", "能够返回的驱动停止调用"),
    "stop.hangs": (
        "{node}: a call of the driver's stop has not returned: the next stop may not reach the robot",
        "{node}：驱动的停止调用尚未返回：下一次停止可能无法到达机器人",
    ),
    "stop.restart": (
        "keep the robot's hardware stop within reach, and restart `paos up`",
        "请将机器人的硬件急停放在手边，并重新启动 `paos up`",
    ),
    "stop.no_measure": ("its driver cannot measure a standstill", "驱动无法测量机器人是否静止"),
    "stop.no_measurement": ("no measurement since the stop", "停止之后还没有测量结果"),
    "stop.not_measured": ("the standstill could not be measured: {why}", "无法测量是否静止：{why}"),
    "stop.moves": ("it is still moving", "机器人仍在运动"),
    "stop.moves_at": ("it still moves at {speed:.2g} {unit}", "机器人仍以 {speed:.2g} {unit} 运动"),
    "stop.standing": ("a robot whose driver confirms that it stands", "驱动确认已静止的机器人"),
    "stop.hardware": ("use the robot's hardware stop", "请使用机器人的硬件急停"),
    "stop.stored": ("a stop that is stored", "已保存的停止"),
    "stop.not_yet": ("it is being written", "正在写入"),
    "stop.not_long": ("it has not been at one place for long enough", "它停在同一位置的时间还不够长"),
    "stop.store_silent": ("the store has not answered in {s:g} s", "存储在 {s:g} 秒内没有回应"),
    "stop.not_stored": (
        "the stop is in force but not stored: {why}; it is tried again",
        "停止已生效但尚未保存：{why}；将继续重试",
    ),
    "stop.kept_aside": (
        "{why} ({place} has it until then: the next start begins stopped)",
        "{why}（在此之前由 {place} 保存：下次启动时仍为停止状态）",
    ),
    "stop.a_socket": ("a socket for stops of other processes", "供其他进程发送停止的套接字"),
    "stop.by_log": (
        "stops of other processes come by the log alone: see that this directory can be written and has sockets",
        "其他进程的停止只能通过记录到达：请确认此目录可写且支持套接字",
    ),
    "stop.other_place": (
        "the kernel of process {pid} was started for this path and still runs; the directory or its private files were "
        "replaced meanwhile",
        "进程 {pid} 的内核是为此路径启动的，仍在运行；其间该目录或其内部文件被替换了",
    ),
    "stop.kernel_silent": (
        "the kernel (process {pid}) does not answer",
        "内核(进程 {pid})没有应答",
    ),
    "stop.kernel_answers": ("a kernel that answers", "会应答的内核"),
    "stop.kernel_unknown": (
        "the kernel (process {pid}) does not answer: what its robots do is not known",
        "内核(进程 {pid})没有应答：其机器人的动作未知",
    ),
    "stop.no_kernel": (
        "no kernel runs: we do not move it, and we cannot say whether it stands; it will start stopped",
        "没有内核在运行：我们没有驱动它，也无法确认它是否静止；启动后仍为停止状态",
    ),
    "stop.simulated": (
        "{node}: stopped; no kernel runs its simulation: it will start stopped",
        "{node}：已停止；没有内核在运行它的仿真：启动后仍为停止状态",
    ),
    "stop.elsewhere": (
        "another process serves it, and has not confirmed it",
        "它由另一个进程服务，尚未确认",
    ),
    "stop.job_unknown": (
        "{job} was asked to stop, and the kernel (process {pid}) does not answer: the robot may still move",
        "已要求 {job} 停止，但内核(进程 {pid})没有应答：机器人可能仍在运动",
    ),
    "stop.server_silent": (
        "the server does not answer: the robot may still move",
        "服务器没有应答：机器人可能仍在运动",
    ),
    "stop.free_disk": (
        "make room, or `paos stop` again before the next start",
        "请腾出磁盘空间，或在下次启动前再次执行 `paos stop`",
    ),
    "stop.store_again": (
        "see why it cannot be written, or `paos stop` again before the next start",
        "请查明其无法写入的原因，或在下次启动前再次执行 `paos stop`",
    ),
}
