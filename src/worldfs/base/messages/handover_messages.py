"""Messages of handing over, in English and Chinese: who cannot give or take, and who holds the thing in the end."""

# a row stays on its line
ROWS = {
    "handover.another": ("another robot in this world", "这个世界里的另一个机器人"),
    "handover.name_robot": ("name the robot that is to take it", "指明由哪个机器人接过去"),
    "handover.free_hand": ("a robot with an empty gripper", "夹爪空着的机器人"),
    "handover.alone": ("no other robot is here", "这里没有别的机器人"),
    "handover.no_joints": ("no joint angles hold it out to the other", "没有关节角能把它递给对方"),
    "handover.way": ("hold {id} out to {robot}: {why}", "把 {id} 递给 {robot}：{why}"),
    "handover.not_taken": ("{robot} has not taken {id}: it is still held", "{robot} 没有接过 {id}：仍拿在手中"),
    "handover.not_given": (
        "{robot} stopped before it let go of {id}, and keeps it",
        "{robot} 在松开 {id} 之前停下，仍拿着它",
    ),
    "handover.dropped": (
        "{id} is not held by {robot}; it is carried by {by}",
        "{id} 不在 {robot} 手中；由 {by} 承托",
    ),
    "handover.given": ("{robot} holds {id} now", "{id} 现在由 {robot} 拿着"),
    "handover.offer": ("a thing that another robot holds out", "另一个机器人递出的物体"),
    "handover.not_offered": ("nobody holds {id} out", "没有机器人递出 {id}"),
    "handover.give": ("let the other robot hand it over at the same time", "让另一个机器人同时递过来"),
    "handover.points": ("a list of points [x, y, z], in metres", "[x, y, z] 点的列表，单位米"),
    "handover.give_points": (
        "give the points at which the two may meet, or leave them out",
        "给出双方可以会合的点，或省略",
    ),
    "handover.elsewhere": (
        "{id} is held out at {at}, and the order allows other points only",
        "{id} 递到了 {at}，而指令只允许别的位置",
    ),
    "handover.no_grasp": ("no joint angles take it from the other side", "没有关节角能从另一侧接住它"),
    "handover.pressed_out": (
        "the pads would press {id} out of the hand: no side of it is square to them",
        "夹指会把 {id} 挤出夹爪：没有与夹指正对的侧面",
    ),
    "handover.turn_it": ("pick it up the other way round, or set it down between them", "换个方向拿起，或放在两者之间"),
    "handover.not_alone": ("{id} is also touched by {others}", "{id} 还被 {others} 接触"),
    "handover.taken": ("holds {id} alone, at {at}", "独自拿着 {id}，位于 {at}"),
}
