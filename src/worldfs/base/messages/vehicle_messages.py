"""Messages of vehicles that drive themselves, in English and Chinese: declaration, connection, orders."""

# a row stays on its line
ROWS = {
    # -- the declaration
    "vehicle.secret_in_page": ("a secret under {word}", "{word} 中有密钥"),
    "vehicle.secret_place": (
        "a secret in an environment variable or in a file of mode 0600",
        "密钥放在环境变量或权限为 0600 的文件中",
    ),
    "vehicle.move_secret": (
        "move it to {word}_file or {word}_env: agents read TARGETS.md",
        "移到 {word}_file 或 {word}_env：智能体会读 TARGETS.md",
    ),
    "vehicle.no_variable": ("no {name} in the environment", "环境中没有 {name}"),
    "vehicle.set_variable": ("set {name} where paos is started", "在启动 paos 处设置 {name}"),
    "vehicle.no_file": ("{path}: {why}", "{path}：{why}"),
    "vehicle.correct_member": ("correct the member, or leave it out", "改正该项，或删去它"),
    "vehicle.a_place": (
        "[x, y], [x, y, theta], or {{x, y, theta, node, actions}}",
        "[x, y]、[x, y, theta] 或 {{x, y, theta, node, actions}}",
    ),
    "vehicle.topic_level": ("a word without / + # and $", "不含 / + # $ 的词"),
    "vehicle.edge_list": ("a list of pairs of places", "地点对的列表"),
    "vehicle.certificate_of_key": ("config.certificate, to which it belongs", "它所属的 config.certificate"),
    "vehicle.certificates": ("certificates that can be read", "可读取的证书"),
    "vehicle.see_certificates": (
        "see config.ca, config.certificate and config.key",
        "检查 config.ca、config.certificate 与 config.key",
    ),
    "vehicle.ros_topics": (
        "compare config.odometry and config.pose with `ros2 topic list`",
        "把 config.odometry 和 config.pose 与 `ros2 topic list` 比较",
    ),
    "vehicle.no_sessions": (
        "a vehicle that drives itself takes orders in ACTION.md, as the body of a node",
        "自行行驶的车辆作为节点的本体，在 ACTION.md 中接受订单",
    ),
    # -- the connection
    "vehicle.no_broker": ("no server answers at {address}: {why}", "{address} 处没有服务器应答：{why}"),
    "vehicle.a_broker": ("a server that is reachable from here", "可从这里连接的服务器"),
    "vehicle.start_broker": ("start it, or correct its address and credentials", "启动它，或改正地址与凭据"),
    "vehicle.no_answer": ("no answer within {s:g} s", "{s:g} 秒内没有应答"),
    "vehicle.link_down": ("not connected to {address}", "未连接到 {address}"),
    "vehicle.no_state": ("no report within {s:g} s (connection: {state})", "{s:g} 秒内没有状态报告(连接：{state})"),
    "vehicle.online": ("a vehicle that reports on {topic}", "在 {topic} 上报告的车辆"),
    "vehicle.switch_on": (
        "switch the vehicle on and connect it; compare manufacturer, serial and version",
        "给车辆通电并联网；核对 manufacturer、serial 与 version",
    ),
    "vehicle.never_reported": ("the vehicle has reported nothing", "车辆没有任何报告"),
    "vehicle.silent": ("it has reported nothing for more than {s:g} s", "它已超过 {s:g} 秒没有任何报告"),
    "vehicle.reports": ("a vehicle that reports", "正在报告的车辆"),
    "vehicle.old_report": ("its last report is {s:.1f} s old", "它最近的报告已有 {s:.1f} 秒"),
    # -- before an order
    "vehicle.ready": ("a vehicle that is ready", "就绪的车辆"),
    "vehicle.see_vehicle": ("see to the vehicle", "检查车辆"),
    "vehicle.offline": ("its connection is {state}", "它的连接状态为 {state}"),
    "vehicle.lost_position": ("it does not know where it is", "它不知道自己在哪里"),
    "vehicle.mode": ("its operating mode is {mode}", "它的运行模式是 {mode}"),
    "vehicle.paused": ("it is paused", "它已暂停"),
    "vehicle.busy": ("it is carrying out order {order}", "它正在执行订单 {order}"),
    "vehicle.emergency_stop": ("its emergency stop is active ({kind})", "它的急停已触发({kind})"),
    "vehicle.moving": ("it moves, and by no order from here", "它在移动，但不是因为这里的订单"),
    "vehicle.percent": ("{n:g} %", "{n:g} %"),
    "vehicle.least_percent": ("at least {n:g} %", "至少 {n:g} %"),
    "vehicle.charge": ("charge it", "给它充电"),
    "vehicle.point": ("a goal at ({x:g}, {y:g})", "目标在 ({x:g}, {y:g})"),
    "vehicle.inside": ("a goal inside safety.workspace", "safety.workspace 之内的目标"),
    "vehicle.other_goal": ("choose another goal", "换一个目标"),
    "vehicle.a_pose": (
        "[x, y], [x, y, z] or [x, y, z, r, p, y] in metres and radians",
        "[x, y]、[x, y, z] 或 [x, y, z, r, p, y]，单位米与弧度",
    ),
    "vehicle.known_place": (
        "a place ({names}), a zone of the map with a pose, or a thing in ENVIRONMENT.md",
        "地点({names})、地图中带 pose 的区域，或 ENVIRONMENT.md 中的物体",
    ),
    "vehicle.name_place": (
        "add it below config.places of {id} in TARGETS.md",
        "在 TARGETS.md 中 {id} 的 config.places 下加上它",
    ),
    "vehicle.way_taken": ("{robot} stands at ({x:g}, {y:g}), on the way", "{robot} 停在 ({x:g}, {y:g})，挡在路上"),
    "vehicle.stands_between": (
        "{ids} stands between {thing} and the place before it",
        "{thing} 与其前方的位置之间隔着 {ids}",
    ),
    "vehicle.open_front": ("a thing with nothing between it and the vehicle", "与车辆之间没有阻隔的物体"),
    "vehicle.free_way": ("a way on which no other robot stands", "没有其他机器人停留的路线"),
    "vehicle.clear_way": (
        "send {robot} elsewhere, or drive by `paos mission add`, which waits; if it is not there, remove its entry",
        "请将 {robot} 移开，或用 `paos mission add`（会等待）；若它不在那里，请删除它的条目",
    ),
    "vehicle.two_places": (
        "{place} is at ({x:g}, {y:g}) here, and at ({zx:g}, {zy:g}) in ENVIRONMENT.md map.zones",
        "{place} 在此处位于 ({x:g}, {y:g})，而在 ENVIRONMENT.md map.zones 中位于 ({zx:g}, {zy:g})",
    ),
    "vehicle.same_place": ("one place in both documents", "两份文档中的同一位置"),
    "vehicle.correct_place": (
        "correct the wrong one; TARGETS.md is read when `paos up` starts",
        "改正错误的一处；TARGETS.md 在 `paos up` 启动时读取",
    ),
    "vehicle.no_way": ("no edges lead to {place}", "没有边通向 {place}"),
    "vehicle.edge_to": ("an edge to {place}", "通向 {place} 的边"),
    "vehicle.add_edge": ("add it to config.edges", "把它加到 config.edges"),
    # -- an order
    "vehicle.before_start": ("stopped before it began", "在开始之前已停止"),
    "vehicle.stopped": ("the vehicle was stopped", "车辆已被停止"),
    "vehicle.told": ("the vehicle was told to stop", "已通知车辆停止"),
    "vehicle.unreached": ("the vehicle was not reached by the stop", "停止未送达车辆"),
    "vehicle.no_later_report": ("the vehicle has reported nothing since the stop", "停止之后车辆没有任何报告"),
    "vehicle.unread_position": ("the vehicle reports no position that can be read", "车辆没有报告可读的位置"),
    "vehicle.drives": ("the vehicle reports that it drives", "车辆报告仍在行驶"),
    "vehicle.cancel_unanswered": ("the vehicle has not answered cancelOrder", "车辆没有应答 cancelOrder"),
    "vehicle.goal_goes_on": ("the robot has not said that its goal has ended", "机器人没有报告目标已结束"),
    "vehicle.result_without_status": (
        "the server's action_result has no status ({found}): it is of no rosbridge_server that is known here",
        "服务器的 action_result 没有 status({found})：不是已知的 rosbridge_server 版本",
    ),
    "vehicle.unconfirmed": (
        "{why}; and the vehicle has not confirmed that it stands: use its own emergency stop",
        "{why}；而且车辆没有确认已停下：请使用它自己的急停",
    ),
    "vehicle.rejected": ("the vehicle refused the order: {why}", "车辆拒绝了订单：{why}"),
    "vehicle.fatal": ("the vehicle reports a fault: {why}", "车辆报告故障：{why}"),
    "vehicle.action_failed": ("an action at the goal failed: {why}", "目标处的动作失败：{why}"),
    "vehicle.ended_early": (
        "the vehicle ended the order at {node}, not at the goal",
        "车辆在 {node} 结束了订单，而不是在目标处",
    ),
    "vehicle.forgotten": ("the vehicle no longer has the order: it was started anew", "车辆已没有该订单：它重新启动过"),
    "vehicle.goal_cancelled": ("its goal was cancelled, and not from here", "它的目标被取消了，但不是从这里"),
    "vehicle.replaced": ("the vehicle carries out another order: {order}", "车辆在执行另一个订单：{order}"),
    "vehicle.not_taken": ("the vehicle did not take the order in within {s:.1f} s", "车辆在 {s:.1f} 秒内没有接收订单"),
    "vehicle.left_fence": (
        "it left safety.workspace at ({x:.2f}, {y:.2f})",
        "它在 ({x:.2f}, {y:.2f}) 离开了 safety.workspace",
    ),
    "vehicle.jumped": (
        "its position jumped by {m:.2f} m, which no driving explains",
        "它的位置跳变了 {m:.2f} 米，不可能是行驶所致",
    ),
    "vehicle.not_still": (
        "it says that it has arrived, and did not report standing there within {s:g} s",
        "它说已到达，但 {s:g} 秒内没有报告停在那里",
    ),
    "vehicle.not_there": (
        "it says that it has arrived, and is {m:.2f} m and {rad:.2f} rad away",
        "它说已到达，但相差 {m:.2f} 米、{rad:.2f} 弧度",
    ),
    "vehicle.arrived": ("arrived, {m:.2f} m from the goal", "已到达，距目标 {m:.2f} 米"),
}
