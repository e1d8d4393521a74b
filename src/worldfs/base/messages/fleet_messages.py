"""Messages about a fleet, in English and Chinese: its directories, and its robots as they come and go."""

ROWS = {
    "fleet.one_id": (
        "--robot-id {id} names one robot, and a fleet has two",
        "--robot-id {id} 只指定一个机器人，而 fleet 有两个",
    ),
    "fleet.no_id": ("no --robot-id with --fleet", "--fleet 不与 --robot-id 同用"),
    "fleet.leave_id_out": (
        "leave it out; robots of a fleet come and go with: paos robot add, paos robot remove",
        "去掉它；fleet 的机器人用 paos robot add 与 paos robot remove 增减",
    ),
    "fleet.single_home": ("the configuration of a single workspace", "单工作空间的配置"),
    "fleet.a_fleet": ("the configuration of a fleet, or none yet", "fleet 的配置，或尚无配置"),
    "fleet.edit_mode": (
        'use another home, or write "mode": "fleet" and "sharedWorkspace" into its `embodiments`',
        '换一个主目录，或在其 `embodiments` 中写入 "mode": "fleet" 和 "sharedWorkspace"',
    ),
    "fleet.no_fleet": ("a single workspace has no share to serve", "单工作空间不能只承担其中一部分"),
    "fleet.both_shares": ("--robot and --no-robots together", "同时使用了 --robot 与 --no-robots"),
    "fleet.one_share": ("one of them, or none", "二者之一，或都不使用"),
    "fleet.readable": ("a configuration that can be read", "可以读取的配置"),
    "fleet.disabled": ("robot {id} was disabled in config.json", "机器人 {id} 已在 config.json 中停用"),
    "fleet.is_robot": (
        "{id} of TARGETS.md is a robot of the fleet now: it takes orders, and no sessions",
        "TARGETS.md 的 {id} 现在是 fleet 的机器人：它接受指令，不再接受会话",
    ),
    "fleet.removed": ("robot {id} was removed from the fleet", "机器人 {id} 已从 fleet 中移除"),
    "fleet.few_open_files": (
        "a process may open {most} files here, too few for {robots} robots with directories of their own",
        "此处一个进程最多能打开 {most} 个文件，对 {robots} 个各有目录的机器人来说太少",
    ),
    "fleet.open_files": ("a limit of {n} open files", "打开文件数上限为 {n}"),
    "fleet.raise_open_files": (
        "ulimit -n {n} (or LimitNOFILE={n} of the service), then start again",
        "运行 ulimit -n {n}（或为服务设置 LimitNOFILE={n}），然后重新启动",
    ),
    "fleet.listed": ("a robot of config.json", "config.json 中的机器人"),
    "fleet.left_holding": (
        "{robot} is not in config.json any more, and held {held}: that counts as free where it was last measured",
        "{robot} 已不在 config.json 中，而它拿着 {held}：现按最后测得的位置视为空闲",
    ),
    "fleet.take_from": (
        "if {held} is still in its gripper, take it out and put it within reach, or add {robot} again",
        "如果 {held} 还在它的夹爪里，请取出并放到够得着的地方，或重新添加 {robot}",
    ),
    "fleet.a_fleet_config": ("the configuration of a fleet", "fleet 的配置"),
    "fleet.there": ("robot {id} is there already", "机器人 {id} 已存在"),
    "fleet.new_id": ("an id that no robot has", "未被使用的机器人 id"),
    "fleet.open_jobs": ("robot {id} has {n} open jobs: {jobs}", "机器人 {id} 有 {n} 个未结束的任务：{jobs}"),
    "fleet.cancel_jobs": (
        "wait for them, or end them: paos robot remove {id} --cancel-jobs",
        "等待其结束，或结束它们：paos robot remove {id} --cancel-jobs",
    ),
    "fleet.config_changed": ("another program changed the file meanwhile", "其间有其他程序修改了该文件"),
    "fleet.robot_added": ("added {id}: {directory}", "已添加 {id}：{directory}"),
    "fleet.robot_removed": ("removed {id}; its files stay in {directory}", "已移除 {id}；其文件保留在 {directory}"),
    "fleet.jobs_end": ("its jobs end as cancelled: {jobs}", "其任务以取消结束：{jobs}"),
    "fleet.job_ended": ("{job} was not cancelled: it ended meanwhile: {how}", "{job} 未被取消：它已自行结束：{how}"),
    "fleet.jobs_unended": (
        "it is not known that {jobs} has ended: {id} may still move. Use its hardware stop, and `paos stop`",
        "不知道 {jobs} 是否已结束：{id} 可能仍在运动。请使用其硬件急停，并运行 `paos stop`",
    ),
    "fleet.not_standing": (
        "{jobs} has ended, and it is not confirmed that {id} stands: {id} may still move. Use its hardware stop, and "
        "`paos stop`",
        "{jobs} 已结束，但尚未确认 {id} 已静止：{id} 可能仍在运动。请使用其硬件急停，并运行 `paos stop`",
    ),
    "fleet.no_robots": ("no robots", "没有机器人"),
    "fleet.instead_robot": ("`paos robot` on the server's machine", "在服务器所在机器上使用 `paos robot`"),
    "fleet.instead_list": ("paos cat ROBOTS.md", "paos cat ROBOTS.md"),
    "fleet.next": (
        'next: {name} up    then, in another terminal: {name} do --node {node} "{wish}"',
        '下一步：{name} up    然后在另一个终端运行：{name} do --node {node} "{wish}"',
    ),
    "fleet.shared": ("the shared workspace", "共享工作空间"),
    "fleet.own_directory": (
        "a directory that no other robot has, and none inside another",
        "一个不与其他机器人共用、也不互相包含的目录",
    ),
    "fleet.same_directory": ("{path} is also the directory of {other}", "{path} 也是 {other} 的目录"),
    "fleet.nested_directory": (
        "{path}: the directories of this robot and of {other} lie one inside the other",
        "{path}：该机器人与 {other} 的目录互相包含",
    ),
    "fleet.no_directory": ("{path} is no directory", "{path} 不是目录"),
    "fleet.cut_off": (
        "robot {robot} has been cut off since {since} ({why})",
        "机器人 {robot} 自 {since} 起失去连接（{why}）",
    ),
    "fleet.cut_off_waits": (
        "{said}; it goes on alone with {jobs}, and the end is read when it is back",
        "{said}；它独自继续 {jobs}，恢复连接后读取结果",
    ),
    "fleet.cut_off_untold": (
        "{said}; {jobs} could not be cancelled: the cancel is delivered when the robot is back",
        "{said}；{jobs} 未能取消：恢复连接后送达取消",
    ),
    "fleet.stop_untold": (
        "the stop could not be delivered to robot {robot} ({why}): stop it on the spot; it is delivered when the robot "
        "is back",
        "停止指令未能送达机器人 {robot}（{why}）：请在现场停止它；恢复连接后会送达",
    ),
    "fleet.reachable": (
        "a workspace that answers, served by the robot's own kernel",
        "由机器人自己的内核服务、有应答的工作空间",
    ),
    "fleet.reconnect": (
        "restore the connection to the robot, or run `paos up` at the robot",
        "恢复与机器人的连接，或在机器人上运行 `paos up`",
    ),
    "fleet.no_answer": ("no answer for {s} s", "{s} 秒内没有应答"),
    "fleet.not_served": ("no kernel serves the workspace of {robot}", "没有内核服务 {robot} 的工作空间"),
    "fleet.other_robots": ("a workspace with the robots {robots}", "该工作空间的机器人为 {robots}"),
    "fleet.same_robot_id": (
        "give the robot the same robotId in its own config.json as in that of the fleet",
        "在机器人自己的 config.json 中使用与 fleet 相同的 robotId",
    ),
    "fleet.took_too_long": (
        "robot {robot} did not finish within {s} s; the order was cancelled there",
        "机器人 {robot} 未在 {s} 秒内完成；指令已在其上取消",
    ),
    "fleet.not_handed_over": (
        "robot {robot} did not get the order: it has been cut off since {since}",
        "机器人 {robot} 没有收到指令：它自 {since} 起失去连接",
    ),
    "fleet.end_unread": (
        "the time is up, and job {job} of robot {robot} has not ended: what it did is not known",
        "时间已到，机器人 {robot} 的任务 {job} 尚未结束：其效果未知",
    ),
    "fleet.end_unknown": (
        "the time is up, and robot {robot} has been cut off since {since}: what it did in job {job} is not known",
        "时间已到，机器人 {robot} 自 {since} 起失去连接：任务 {job} 的效果未知",
    ),
    "fleet.no_store": (
        "no address of the workspace of robot {robot}",
        "没有机器人 {robot} 的工作空间地址",
    ),
    "fleet.store_form": (
        "the address of the robot's store, as nats://HUB:4222/{robot}?domain={robot}",
        "机器人存储的地址，形如 nats://HUB:4222/{robot}?domain={robot}",
    ),
    "fleet.name_store": ("write it as `store` of the robot's entry", "写入该机器人条目的 `store`"),
    "fleet.set_directory": (
        "give robot {id} a `workspace` of its own in config.json",
        "在 config.json 中为机器人 {id} 指定自己的 `workspace`",
    ),
}
