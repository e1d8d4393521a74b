"""Chinese messages of runtime: (pattern of the whole English text, Chinese template), the first match counts.

A blank called `rest…` is itself put into Chinese; every other blank goes through as it is. Pairs that touch keep the
shape `one-other (12 …)`, by which the planner finds what is in the way.
"""

from __future__ import annotations

_V = r"\[[^\]]*\]"  # a vector as people read it
_N = r"-?[\d.]+(?:e[+-]?\d+)?"

# Texts without a blank.
PLAIN: dict[str, str] = {
    # -- fields
    "collision check of the body": "机器人本体的碰撞检查",
    "driver": "驱动",
    # -- why a pose, a way or a grasp cannot be had
    "no contact deeper than 2 mm at the goal and along the path": "目标处及路径上没有深于 2 毫米的接触",
    "move what is in the way first, or choose another place": "先移开挡路的物体，或换一个位置",
    "bring it nearer to the robot's base (or the robot nearer to it)": "把它移近机器人底座，或让机器人靠近它",
    "choose a place nearer to 0.35-0.62 m before the robot, or clear the obstacle": (
        "选择离机器人前方 0.35-0.62 米更近的位置，或清理那里的物体"
    ),
    "no joint angles reach it": "没有关节角能让手到达那里",
    "no joint angles reach it in that orientation": "没有关节角能让手以该姿态到达那里",
    "no joint angles reach a grasp of it": "没有关节角能让手抓住它",
    "no joint angles hold the gripper above it": "没有关节角能让手停在它上方",
    "the camera cannot be moved over it": "相机无法停在它上方",
    "the place": "放置处",
    "the view of it": "观察位置",
    "no way there that is free of collision": "没有不碰撞的路径到达那里",
    "no way to it that is free of collision": "没有不碰撞的路径接近它",
    "no way home that is free of collision": "没有不碰撞的路径回到待命位姿",
    "no pose over it is free of collision": "它上方没有不碰撞的位姿",
    "there is no space to lift it": "没有空间将它举起",
    "no space to open the fingers there": "那里没有空间张开手指",
    "choose a narrower object, or turn it so that a narrower side can be taken": (
        "换一个更窄的物体，或转动它以便夹住较窄的一面"
    ),
    # -- params
    "[x, y, z] or [x, y, z, roll, pitch, yaw]": "[x, y, z] 或 [x, y, z, roll, pitch, yaw]",
    "[x, y, z] in metres, finite numbers": "[x, y, z]，单位米，有限数值",
    "finite numbers in metres": "有限数值，单位米",
    "3, 6 or 7 numbers": "3、6 或 7 个数",
    "give 3 or 6 numbers": "给出 3 或 6 个数",
    "give three numbers": "给出三个数",
    "the id of a thing": "物体的 id",
    "a thing in the scene; there is none": "场景中的物体，但场景中没有物体",
    "use an id that ENVIRONMENT.md lists": "使用 ENVIRONMENT.md 中列出的 id",
    "another thing than the one held": "手中物体以外的物体",
    "name where to put it": "指明放到哪里",
    "where to put it": "放到哪里",
    "the label of a thing": "物体的名称",
    "name an object to locate": "指明要看什么",
    "use a label of the scene": "使用场景中的名称",
    "motions of this body": "这个机器人的动作",
    "name its steps one by one": "逐一列出各步骤",
    "a list of {action_type, params}": "由 {action_type, params} 组成的列表",
    'e.g. [{"action_type": "pick_up", "params": …}]': '例如 [{"action_type": "pick_up", "params": …}]',
    "name a strategy": "指明策略名称",
    "give target or target_position": "给出 target 或 target_position",
    "a task in words": "用文字描述的任务",
    # -- the hand
    "an empty gripper": "空的夹爪",
    "an object in the gripper": "夹爪中有物体",
    "the gripper is empty": "夹爪是空的",
    "pick_up an object first": "先用 pick_up 拿起一个物体",
    "the gripper is closed": "夹爪已闭合",
    "the arm is in its ready pose": "机械臂已在待命位姿",
    # -- places
    "a place with something beneath it to rest on, within 0.15 m": "下方 0.15 米内有支撑面的位置",
    # -- cameras and language
    "a camera that can draw": "可以成像的相机",
    "cameras are switched off": "相机已关闭",
    "the cameras are switched off": "相机已关闭",
    "switch the cameras on": "打开相机",
    "the cameras are switched off — switch the cameras on": "相机已关闭；请打开相机",
    "unset MUJOCO_GL": "取消环境变量 MUJOCO_GL",
    "an interpreter of language": "语言解释器",
    "this body was opened without one": "这个机器人启动时没有配备",
    "give the task to the planner (paos do), or send pick_up and place orders": (
        "把任务交给规划器 (paos do)，或发送 pick_up 与 place 动作"
    ),
    "a question, which moves nothing": "这是提问，不会移动任何物体",
    "the simulation diverged": "仿真发散",
    # -- the kernel
    "cancelled before it started": "开始之前已取消",
    "the worker died while it ran; it may have moved, so it is not repeated": (
        "执行过程中程序终止；机器人可能已经移动，因此不重新执行"
    ),
    "the sheet says it is running, but no worker has it": "文件中写着正在执行，但这里没有程序在执行它",
    "no node is configured": "没有配置机器人",
    "no robot_id": "没有 robot_id",
    "name a robot of this workspace, or declare it in config.json embodiments.instances": (
        "指定本工作空间的机器人，或在 config.json 的 embodiments.instances 中声明它"
    ),
    "ids of other jobs that exist": "其他已存在任务的 id",
    "submit that job first, in the same write or an earlier one": "先提交那个任务，可在同一次写入或更早的写入中",
    "no cycle of dependencies": "没有循环依赖",
    "the job depends on itself": "它在等待自己",
    "remove one of the dependencies in the cycle": "解除循环依赖",
    "stopped: cancelled": "已停止：已取消",
    "stopped: timeout": "已停止：超时",
    # -- entries of the sheet
    "a mapping": "键值映射",
    "a string": "字符串",
    "an object that no robot holds": "没有机器人拿着的物体",
    "a finite number": "有限数值",
    "NaN or Infinity": "NaN 或 Infinity",
    "an id of its own": "独有的 id",
    "an id that can be a file name": "可用作文件名的 id",
    "an id that another order has": "另一个任务已使用的 id",
    "write the id in quotes, or leave it out": "给 id 加上引号，或省略它",
    "use letters, digits, _ and - only": "只使用字母、数字、_ 和 -",
    "give this entry another id; the first one counts": "为这一项换一个 id；以先出现的为准",
    "give the new action an id of its own": "为新动作指定独有的 id",
    "give the new action a new id": "为新动作指定新的 id",
    "correct this entry; the others go on": "改正这一项；其他项照常进行",
    "pending, running, completed, failed or cancelled": "pending、running、completed、failed 或 cancelled",
    "the name of an action": "动作名称",
    "the id of a robot": "机器人的 id",
    "the id of an action": "动作的 id",
    "a list of ids": "id 列表",
    "seconds, more than 0": "大于 0 的秒数",
    "a mapping of seconds": "以秒为值的键值映射",
    "a mapping with max_attempts and backoff": "含 max_attempts 与 backoff 的键值映射",
    "a time such as 2025-04-01T12:00:00Z": "形如 2025-04-01T12:00:00Z 的时间",
    "nothing": "无",
    "None": "无",
}

BLANKS: tuple[tuple[str, str], ...] = (
    # -- what touches; "robot" and "floor" are no ids
    (r"robot-(?P<other>[^ ]+) \((?P<mm>\d+) mm deep\)(?P<rest>, .+)?", "机器人-{other} ({mm} 毫米深){rest}"),
    (r"(?P<one>[^ ]+)-robot \((?P<mm>\d+) mm deep\)(?P<rest>, .+)?", "{one}-机器人 ({mm} 毫米深){rest}"),
    (r"floor-(?P<other>[^ ]+) \((?P<mm>\d+) mm deep\)(?P<rest>, .+)?", "地面-{other} ({mm} 毫米深){rest}"),
    (r"(?P<one>[^ ]+)-floor \((?P<mm>\d+) mm deep\)(?P<rest>, .+)?", "{one}-地面 ({mm} 毫米深){rest}"),
    (r"(?P<pair>[^ ]+-[^ ]+) \((?P<mm>\d+) mm deep\)(?P<rest>, .+)?", "{pair} ({mm} 毫米深){rest}"),
    (r", (?P<rest>.+ mm deep\))", "，{rest}"),
    (r"at the goal (?P<rest>.+)", "在目标处：{rest}"),
    (r"at the grasp (?P<rest>.+)", "在抓取处：{rest}"),
    (r"on the way to it (?P<rest>.+)", "在接近途中：{rest}"),
    (r"the straight way to it fails at waypoint (?P<n>\d+) of (?P<all>\d+)", "直线接近在第 {n}/{all} 个路径点失败"),
    (r"the straight way down fails at waypoint (?P<n>\d+) of (?P<all>\d+)", "直线下降在第 {n}/{all} 个路径点失败"),
    (r"no space to wave: (?P<rest>.+)", "没有空间挥手：{rest}"),
    # -- reach and grip
    (rf"a pose the arm can take, within (?P<m>{_N}) m of the base", "手臂可以到达的位姿，距底座 {m} 米以内"),
    (
        rf"(?P<rest_what>.+?) at (?P<at>{_V}), (?P<m>{_N}) m from the base: (?P<rest>.*)",
        "{rest_what} 位于 {at}，距底座 {m} 米：{rest}",
    ),
    (rf"move_to (?P<at>{_V}): (?P<rest>.*)", "move_to {at}：{rest}"),
    (rf"(?P<op>pick_up|place) (?P<id>.+?) at (?P<at>{_V}): (?P<rest>.*)", "{op} {id} 于 {at}：{rest}"),
    (rf"at most (?P<m>{_N}) m between the fingers", "两指之间至多 {m} 米"),
    (rf"(?P<id>.+) is (?P<m>{_N}) m wide where it is narrowest", "{id} 最窄处宽 {m} 米"),
    # -- params
    (r"name one of (?P<ids>.*)", "指明其中之一：{ids}"),
    (r"one of: (?P<rest>.*)", "以下之一：{rest}"),
    (r"one of (?P<ids>.+)", "{ids} 之一"),
    (r"give (?:a )?(?P<name>target_pose|nl_task)", "给出 {name}"),
    (r"(?P<id>.+) is furniture and stays where it is; name an object", "{id} 是家具，不能移动；请指定一个物体"),
    (r"(?P<name>\w+) needs (?P<need>\w+)", "{name} 需要 {need}"),
    # -- the hand
    (r"the gripper holds (?P<id>.+)", "夹爪正拿着 {id}"),
    (r"place (?P<id>.+) first", "先放下 {id}"),
    (r"(?P<robot>[^ ]+) holds (?P<id>.+)", "{robot} 正拿着 {id}"),
    (r"let (?P<robot>[^ ]+) place it first", "先让 {robot} 把它放下"),
    (rf"the gripper is open, (?P<m>{_N}) m", "夹爪已张开，{m} 米"),
    (rf"the fingers are (?P<m>{_N}) m apart, expected (?P<want>{_N}) m", "两指间距 {m} 米，应为 {want} 米"),
    (rf"the fingers are (?P<m>{_N}) m apart and hold nothing", "两指间距 {m} 米，没有夹住任何物体"),
    (rf"(?P<rad>{_N}) rad from the ready pose", "距待命位姿 {rad} 弧度"),
    (
        rf"the gripper stopped (?P<mm>{_N}) mm and (?P<rad>{_N}) rad from the goal",
        "手停在距目标 {mm} 毫米、{rad} 弧度处",
    ),
    (rf"the gripper is at (?P<at>{_V}), (?P<mm>{_N}) mm from the goal", "手位于 {at}，距目标 {mm} 毫米"),
    # -- grasping and lifting
    (
        rf"(?P<id>.+) is held, its centre at z = (?P<z>{_N}) m at attempt (?P<n>\d+)",
        "已拿住 {id}，其中心高度 z = {z} 米(第 {n} 次尝试)",
    ),
    (rf"(?P<id>.+) is held, its centre at z = (?P<z>{_N}) m", "已拿住 {id}，其中心高度 z = {z} 米"),
    (r"(?P<id>.+) was lost on the way", "{id} 在途中掉落"),
    (
        rf"grasp missed: fingers (?P<m>{_N}) m apart, (?P<id>.+) touches (?P<rest>.+)",
        "没有抓到：两指间距 {m} 米，{id} 接触到的物体：{rest}",
    ),
    (r"\['robot'\]", "机器人"),
    (r"\['floor'\]", "地面"),
    (r"\['floor', 'robot'\]", "地面、机器人"),
    (r"\['robot', (?P<ids>'.+')\]", "机器人、[{ids}]"),
    (r"\[(?P<ids>'.+'), 'robot'\]", "[{ids}]、机器人"),
    (r"\[(?P<ids>'.+'), 'robot', (?P<others>'.+')\]", "[{ids}, {others}]、机器人"),
    (
        rf"object lost on the lift: (?P<id>.+) rose (?P<m>{_N}) m of (?P<all>{_N}) m, (?P<n>\d) of 2 fingers touch it",
        "举起时物体掉落：{id} 上升 {m} 米(应为 {all} 米)，2 指中有 {n} 指接触它",
    ),
    (rf"object lost on the way: (?P<id>.+) is at (?P<at>{_V})", "物体在途中掉落：{id} 位于 {at}"),
    (rf"object lost while lowering: (?P<id>.+) is at (?P<at>{_V})", "物体在下放时掉落：{id} 位于 {at}"),
    # -- placing
    (
        rf"(?P<at>{_V}): the nearest surface there is (?P<rest>.+) at z = (?P<z>{_N}) m",
        "{at}：那里最近的支撑面是 {rest}，z = {z} 米",
    ),
    (r"floor", "地面"),
    (
        rf"use z = (?P<z>{_N}), or a place on a table or in a basket",
        "使用 z = {z}，或选择桌子上或篮子里的位置",
    ),
    (r"space for (?P<id>.+) in or on (?P<on>.+), within reach", "{on} 里或上面有够得着的位置可放 {id}"),
    (r"no free place in or on (?P<on>.+)", "{on} 里或上面没有空位"),
    (r"take something out of (?P<on>.+) first, or place it elsewhere", "先从 {on} 取走一些物体，或放到别处"),
    (r"(?P<id>.+) still touches the robot", "{id} 仍与机器人接触"),
    (rf"(?P<id>.+) still moves at (?P<v>{_N}) m/s", "{id} 仍以 {v} 米/秒移动"),
    (r"(?P<id>[^ ]+) touches nothing", "{id} 没有接触任何物体"),
    (rf"(?P<id>.+) rests at (?P<at>{_V}), outside (?P<on>.+)", "{id} 停在 {at}，在 {on} 之外"),
    (
        rf"(?P<id>.+) rests at (?P<at>{_V}), (?P<mm>{_N}) mm from the goal \(limit 30 mm\)",
        "{id} 停在 {at}，距目标 {mm} 毫米(上限 30 毫米)",
    ),
    (rf"(?P<id>.+) rests at (?P<at>{_V}), (?P<mm>{_N}) mm from the goal", "{id} 停在 {at}，距目标 {mm} 毫米"),
    (rf"(?P<id>.+) rests at (?P<at>{_V}), in (?P<on>.+)", "{id} 停在 {at}，在 {on} 里"),
    # -- seeing
    (
        r"(?P<id>.+) is in no picture: front camera and (?P<n>\d+) looks of the wrist camera",
        "所有画面中都没有 {id}：已看前置相机，腕部相机看了 {n} 次",
    ),
    (rf"(?P<id>.+) seen at (?P<at>{_V}): (?P<rest>.+)", "看到 {id} 位于 {at}：{rest}"),
    (r"the wrist camera is over (?P<id>.+) and does not see it", "腕部相机停在 {id} 上方，但看不到它"),
    (
        rf"(?P<id>.+) is (?P<px>{_N}) pixels off the middle after (?P<n>\d+) looks \(limit (?P<limit>{_N})\)",
        "看了 {n} 次后 {id} 仍偏离画面中心 {px} 像素(上限 {limit})",
    ),
    (
        rf"(?P<id>.+) is in the wrist picture, (?P<px>{_N}) pixels off its middle, at (?P<at>{_V}), "
        rf"(?P<mm>{_N}) mm from where it is",
        "{id} 在腕部画面中，偏离中心 {px} 像素；所见位置 {at}，与实际相差 {mm} 毫米",
    ),
    (r"no camera: (?P<rest>.+) — (?P<rest_fix>.+)", "没有相机：{rest}；{rest_fix}"),
    (r"no camera: (?P<rest>.+)", "没有相机：{rest}"),
    (r"no answer in (?P<s>\d+) s", "{s} 秒内没有回应"),
    (r"apt install (?P<what>.+?) +\(or: apt install (?P<other>.+)\)", "apt install {what} (或：apt install {other})"),
    # -- sequences
    (r"a sequence cannot hold (?P<op>\w+)", "步骤序列中不能包含 {op}"),
    (r"(?P<n>\d+) steps done: (?P<ops>.+)", "已完成 {n} 步：{ops}"),
    (r"(?P<task>['\"].+['\"]) asks for no action", "{task} 没有要求任何动作"),
    (r"(?P<op>'.+') is none of (?P<ops>.+)", "{op} 不在 {ops} 之中"),
    (
        r"stopped by (?P<by>.+?), and the driver of (?P<node>.+) has not confirmed it: the robot may still move; "
        r"use the robot's own emergency stop, then restart the kernel",
        "被 {by} 停止，但 {node} 的驱动尚未确认：机器人可能仍在运动；请按机器人自身的急停，然后重新启动内核",
    ),
    (r"stopped by (?P<by>[^:]+): (?P<rest>.+)", "被 {by} 停止：{rest}"),
    (r"(?P<op>\w+) stopped \(cancelled\); the arm holds still where it is", "{op} 已停止(已取消)；机械臂停在原处"),
    (r"(?P<op>\w+) stopped \(timeout\); the arm holds still where it is", "{op} 已停止(超时)；机械臂停在原处"),
    # -- the kernel
    (
        rf"timed out after (?P<s>{_N}) s, and the driver did not stop when asked",
        "{s} 秒后仍未结束，且驱动在要求停止后没有停下",
    ),
    (rf"timed out: waited longer than (?P<s>{_N}) s in the queue", "等待执行超过 {s} 秒"),
    (r"the critic could not review the action: (?P<rest>.+)", "Critic 无法审查：{rest}"),
    (
        r"see why (?P<id>[^ ]+) failed, then submit both again under new ids",
        "查明 {id} 失败的原因，再用新的 id 重新提交两者",
    ),
    (r"(?P<id>[^ ]+) succeeded", "{id} 已成功"),
    (r"(?P<id>[^ ]+) failed", "{id} 已失败"),
)
