"""Messages of the kernel, in English and Chinese: admission, ends of jobs, alerts."""

# a row stays on its line
ROWS = {
    # -- an error in one text
    "runtime.error_at": ("{path}: {said}", "{path}：{said}"),
    "runtime.error_expected": ("{said}; expected {expected}", "{said}；应为 {expected}"),
    "runtime.error_fix": ("{said} — {fix}", "{said}；{fix}"),
    "runtime.found_fix": ("{found}; {fix}", "{found}；{fix}"),
    "runtime.or": ("{one} or {other}", "{one} 或 {other}"),
    # -- a refusal in one text
    "runtime.refused": (
        "{field}: found {found}, expected {expected}; {fix}",
        "{field}：{found}；应为 {expected}；{fix}",
    ),
    "runtime.refused_more": (
        "{field}: found {found}, expected {expected}; {fix} (and {rest} more)",
        "{field}：{found}；应为 {expected}；{fix}(另有 {rest} 项)",
    ),
    "runtime.unreviewed": ("the critic could not review the action: {said}", "Critic 无法审查：{said}"),
    # -- admission
    "runtime.an_operation": ("an operation of the robot", "机器人的操作"),
    "runtime.stop_in_queue": (
        "“{op}”, which as an order would wait behind the job that runs: no robot was stopped",
        "“{op}”，作为指令它会排在正在执行的任务之后：没有停止任何机器人",
    ),
    "runtime.stop_by_command": (
        "to stop it now: paos stop {node}; every robot: paos stop",
        "立即停止它：paos stop {node}；停止全部：paos stop",
    ),
    "runtime.enabled_robot": ("an enabled robot", "已启用的机器人"),
    "runtime.disabled": ("{node} is disabled", "{node} 已停用"),
    "runtime.enable_robot": (
        "set enabled: true in config.json embodiments.instances (or in ROBOTS.md, then start again)",
        "在 config.json 的 embodiments.instances 中设 enabled: true(在 ROBOTS.md 中设置的，须重新启动)",
    ),
    "runtime.no_nodes": ("no node is configured", "没有配置机器人"),
    "runtime.no_robot_id": ("no robot_id", "没有 robot_id"),
    "runtime.name_robot": (
        "name a robot of this workspace, or declare it in config.json embodiments.instances",
        "指定本工作空间的机器人，或在 config.json 的 embodiments.instances 中声明它",
    ),
    "runtime.known_jobs": ("ids of other jobs that exist", "其他已存在任务的 id"),
    "runtime.submit_first": (
        "submit that job first, in the same write or an earlier one",
        "先提交那个任务，可在同一次写入或更早的写入中",
    ),
    "runtime.no_cycle": ("no cycle of dependencies", "没有循环依赖"),
    "runtime.cycle": ("the job depends on itself", "它在等待自己"),
    "runtime.break_cycle": ("remove one of the dependencies in the cycle", "解除循环依赖"),
    "runtime.plain_json": ("text and finite numbers", "文本和有限数值"),
    "runtime.half_character": ("half of a character ({code})", "半个字符（{code}）"),
    "runtime.write_plain_json": ("write it in plain UTF-8 and JSON", "用普通的 UTF-8 和 JSON 书写"),
    "runtime.succeeded": ("{id} succeeded", "{id} 已成功"),
    "runtime.failed": ("{id} failed", "{id} 已失败"),
    "runtime.see_why": (
        "see why {id} failed, then submit both again under new ids",
        "查明 {id} 失败的原因，再用新的 id 重新提交两者",
    ),
    "runtime.one_op": ("one of {known}", "{known} 之一"),
    "runtime.no_ops": ("no operation", "没有任何动作"),
    "runtime.use_op": (
        "use one of these, or remove {op} from EMBODIED.md: the driver does not support it",
        "改用其中之一，或从能力画像中删去 {op}：驱动不支持它",
    ),
    "runtime.no_member": ("no {name}", "没有 {name}"),
    "runtime.member_is": ("{name} is {value}", "{name} 是 {value}"),
    "runtime.no_status": ("not a status: {why}", "不是状态：{why}"),
    "runtime.bad_job_id": ("invalid job id {id!r}", "{id!r} 不能作任务名"),
    "runtime.no_such_signs": ("no '/', '\\', '.', '..', control characters", "不含 '/'、'\\'、'.'、'..' 和控制字符"),
    "runtime.no_job": ("no job {id!r}", "没有任务 {id!r}"),
    "runtime.status_lists": (
        "`paos status` lists the open and the newest jobs",
        "用 `paos status` 列出未结束的和最近的任务",
    ),
    "runtime.writable": ("a store that takes what the kernel writes", "可写入的存储"),
    "runtime.refused_now": ("{said}; it is tried again every second", "{said}；每秒重试一次"),
    "runtime.not_written": ("job {id} could not be written: {why}", "任务 {id} 无法写入：{why}"),
    # -- ends
    "runtime.cancelled_before": ("cancelled before it started", "开始之前已取消"),
    "runtime.cancelled_after": (
        "cancelled; attempt {n} had ended before: {said}",
        "已取消；此前第 {n} 次尝试的结果：{said}",
    ),
    "runtime.stopped": ("stopped by {by}: {said}", "被 {by} 停止：{said}"),
    "runtime.unconfirmed": (
        "stopped by {by}, and the driver of {node} has not confirmed it: the robot may still move",
        "被 {by} 停止，但 {node} 的驱动尚未确认：机器人可能仍在运动",
    ),
    "runtime.stop_and_restart": (
        "use the robot's own emergency stop, then restart the kernel",
        "请按机器人自身的急停，然后重新启动内核",
    ),
    "runtime.readable_stops": ("stops that can be read", "可读的停止记录"),
    "runtime.did_not_stop": ("{noun} did not stop when asked", "{noun}在要求停止后没有停下"),
    "runtime.silent": (
        "{call} has not returned from {job}, which has ended; other orders of {node} wait for that",
        "{call} 尚未从已结束的 {job} 返回；{node} 的其他指令在等待它返回",
    ),
    "runtime.the_driver": ("the driver", "驱动"),
    "runtime.queue_timeout": ("timed out: waited longer than {s:g} s in the queue", "等待执行超过 {s:g} 秒"),
    "runtime.timed_out": (
        "timed out after {s:g} s, and {why}",
        "{s:g} 秒后仍未结束，且{why}",
    ),
    "runtime.not_reviewed": (
        "the check before the order did not end within {s:g} s: {call} has not returned; the order was not begun",
        "执行前的检查在 {s:g} 秒内没有结束：{call} 尚未返回；指令没有开始执行",
    ),
    "runtime.review_ends": ("a check that comes to an end", "能够结束的检查"),
    "runtime.review_fatal": (
        "{n} times the kernel was killed, or hung, while it checked this order",
        "内核在检查该指令时已有 {n} 次被终止或停止响应",
    ),
    "runtime.correct_reviewed": (
        "correct what {op} runs, then submit it under a new id",
        "改正 {op} 所运行的内容，再以新的编号提交",
    ),
    "runtime.worker_died": (
        "the worker died while it ran; it may have moved, so it is not repeated",
        "执行过程中程序终止；机器人可能已经移动，因此不重新执行",
    ),
    "runtime.no_worker": (
        "the sheet says it is running, but no worker has it",
        "文件中写着正在执行，但这里没有程序在执行它",
    ),
    # -- an instruction
    "runtime.waiting": (
        "waiting: {node} is doing “{what}” (process {pid}); to stop it: paos stop {node}",
        "等待：{node} 正在执行“{what}”(进程 {pid})；要停止它：paos stop {node}",
    ),
    "runtime.no_order": (
        "{why}. Nothing was ordered, and no robot was stopped; to stop every robot: paos stop",
        "{why}。没有下达任何指令，也没有停止任何机器人；要停止所有机器人：paos stop",
    ),
    "runtime.waiting_stopped": (
        "waiting: a stop of {node} is in force, until: paos resume --node {node}",
        "等待：对 {node} 的停止仍然有效，恢复请运行：paos resume --node {node}",
    ),
    "runtime.waiting_lost": ("waiting for {node}: lost, no process serves it", "等待 {node}：失联，没有进程为其服务"),
    "runtime.waiting_lost_since": (
        "waiting for {node}: lost, last seen {at}, no process serves it",
        "等待 {node}：失联，最后一次收到消息：{at}，没有进程为其服务",
    ),
    "runtime.served_again": ("{node} is served again", "已重新有进程为 {node} 服务"),
    "runtime.stop_in_force": (
        "{said} (stop by {by}, {at}); it takes no orders until: paos resume --node {node}",
        "{said} (停止：{by}，{at})；恢复之前不执行指令，请运行：paos resume --node {node}",
    ),
    "runtime.robot_was_stopped": (
        "{node}: a stop came meanwhile, and a resume has ended it since: it may move",
        "{node}：期间收到停止，之后已恢复：它可能会运动",
    ),
    "runtime.may_move": (
        "{said}; {node} may still move, since it has not confirmed that it stands: use its hardware stop",
        "{said}；{node} 尚未确认已静止，可能仍在运动：请使用机器人的硬件急停",
    ),
    "runtime.cancelled_waiting": ("cancelled before its turn", "轮到之前已取消"),
    # -- alerts
    "runtime.node": ("node {id}", "节点 {id}"),
    "runtime.closing_driver": ("a driver that closes", "能够关闭的驱动"),
    "runtime.see_driver": ("see the driver", "检查驱动"),
    "runtime.supported_command": ("a command that this driver supports", "这个机器人能做的事"),
    "runtime.lesson_of": ("lesson of {id}", "{id} 的教训"),
    "runtime.lesson_written": ("a lesson written", "写下一条教训"),
    "runtime.repair_file": ("repair the file", "修复该文件"),
    "runtime.bad_id": ("{id!r} is not a valid job id", "{id!r} 不能作任务名"),
    "runtime.plain_name": ("a name without control characters", "不含控制字符的名称"),
    "runtime.other_id": ("the order in it has the id {id!r}", "任务自称为 {id!r}"),
    "runtime.file_name": ("its file's name", "其文件名"),
    "runtime.job_file": ("a job file that the kernel wrote", "本系统的任务文件"),
    "runtime.fix_sets_aside": ("`paos check --fix` sets it aside", "`paos check --fix` 会将其移开"),
    "runtime.remove_alerts": ("remove {path}; the kernel writes it again", "删除 {path}；内核会重新写入"),
    "runtime.readable_queue": ("a readable queue", "可读的队列"),
    "runtime.repair_queue": (
        "repair the file, or move it aside with `paos check --fix`",
        "修复该文件，或用 `paos check --fix` 将其移开",
    ),
    "runtime.older_copy": (
        "a program wrote this into an older copy of the file; submit it again if it is wanted",
        "有程序把它写进了文件的旧副本；如仍需要，请重新提交",
    ),
    "runtime.id_taken": ("{order} (that id is taken)", "{order}(该 id 已被使用)"),
    "runtime.shared_sheet": ("a robot without a directory of its own", "没有独立目录的机器人"),
    "runtime.own_sheet": ("move the entry to the ACTION.md of {node}", "将该条目移到 {node} 的 ACTION.md"),
    "runtime.own_id": ("give the new action an id of its own", "为新动作指定独有的 id"),
}
