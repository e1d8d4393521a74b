"""Messages of handling beyond pick and place, in English and Chinese: pushing, turning, placing beside, stacking."""

# a row stays on its line
ROWS = {
    "handling.truth": ("a body that has the simulation's own state", "掌握仿真自身状态的机器人"),
    "handling.camera": ("{op} of a body that goes by its cameras", "依靠相机的机器人要执行 {op}"),
    "handling.use_truth": (
        "let it go by the truth (Perception in EMBODIED.md)",
        "让它依据真实状态(EMBODIED.md 中的 Perception)",
    ),
    # -- pushing
    "handling.way": ("left, right, forward, backward, or [x, y]", "left、right、forward、backward，或 [x, y]"),
    "handling.give_way": (
        "say which way: a word as the robot sees it, or two numbers in the frame of ENVIRONMENT.md",
        "指明方向：以机器人视角的词，或 ENVIRONMENT.md 坐标系中的两个数",
    ),
    "handling.distance": ("{least} to {most} m", "{least} 到 {most} 米"),
    "handling.give_distance": ("give a distance in that range", "给出该范围内的距离"),
    "handling.slides": ("a thing that slides", "会滑动的物体"),
    "handling.rolls": ("{id} would roll that way", "{id} 会朝那个方向滚动"),
    "handling.too_low": (
        "{id} is {mm:.1f} mm high: the fingers would pass over a thing lower than {least:.0f} mm",
        "{id} 高 {mm:.1f} 毫米：低于 {least:.0f} 毫米的物体，手指会从上方滑过",
    ),
    "handling.carry_instead": ("carry it there: pick_up, then place", "改为搬运：先 pick_up，再 place"),
    "handling.stands_flat": ("a thing that stands on a flat top by itself", "独自立在平面上的物体"),
    "handling.stands_on": ("{id} is carried by {by}", "{id} 由 {by} 承托"),
    "handling.stays_on": ("an end on the same support", "终点在同一支撑面上"),
    "handling.pushed_off": ("{id} would be at {at}, not wholly on {on}", "{id} 将位于 {at}，不完全在 {on} 上"),
    "handling.push_less": ("push it less far, or another way", "推得近一些，或换个方向"),
    "handling.push_meets": ("{id} would run into {hits}", "{id} 会碰到 {hits}"),
    "handling.no_joints_push": ("no joint angles push it that way", "没有关节角能朝那个方向推它"),
    "handling.push": ("push {id} at {at}: {why}", "推 {id}，位于 {at}：{why}"),
    "handling.behind_it": ("behind it {hits}", "在它后方：{hits}"),
    "handling.fell_over": (
        "{id} leans {degrees:.0f} degrees from the way up it stood (limit 10)",
        "{id} 偏离原来的朝向 {degrees:.0f} 度(上限 10)",
    ),
    "handling.pushed": (
        "{id} went {mm:.0f} mm of {want:.0f} mm, {side:.0f} mm off its line",
        "{id} 移动了 {mm:.0f} 毫米(要求 {want:.0f} 毫米)，偏离直线 {side:.0f} 毫米",
    ),
    "handling.pushed_off_goal": (
        "{id} went {mm:.0f} mm of {want:.0f} mm, {side:.0f} mm off its line (limit {limit:.0f} mm for each)",
        "{id} 移动了 {mm:.0f} 毫米(要求 {want:.0f} 毫米)，偏离直线 {side:.0f} 毫米(各自上限 {limit:.0f} 毫米)",
    ),
    # -- nudging
    "handling.walled_in": ("a thing that a neighbour keeps from being grasped", "被相邻物体挡住而无法抓取的物体"),
    "handling.graspable": ("{id} can be grasped as it stands", "{id} 现在就可以抓取"),
    "handling.pick_it": ("pick_up it", "直接 pick_up"),
    "handling.no_nudge": (
        "no push of {id} or of what stands round it makes a grasp possible",
        "推动 {id} 或它周围的物体都无法使抓取成为可能",
    ),
    "handling.clear_round_it": ("take away what stands round it first", "先移走它周围的物体"),
    "handling.still_walled_in": (
        "{id} still cannot be grasped after {pushed} was pushed: {why}",
        "推动 {pushed} 之后仍无法抓取 {id}：{why}",
    ),
    "handling.nudged": (
        "{pushed} was pushed by {mm:.0f} mm, and {id} can be grasped now",
        "{pushed} 被推动 {mm:.0f} 毫米，现在可以抓取 {id}",
    ),
    # -- upright
    "handling.lying": ("a thing that does not stand upright", "没有直立的物体"),
    "handling.stands": (
        "{id} stands upright already: its height by its size is {mm:.0f} mm",
        "{id} 已经直立：按其尺寸，高度为 {mm:.0f} 毫米",
    ),
    "handling.nothing_to_turn": ("leave it as it is", "不用动它"),
    "handling.has_axis": ("a thing with an upright axis", "有直立轴的物体"),
    "handling.is_ball": ("{id} is a ball", "{id} 是球"),
    "handling.no_way_up": ("{id} cannot be set upright within reach: {why}", "在可及范围内无法把 {id} 扶正：{why}"),
    "handling.not_upright": (
        "{id} leans {degrees:.0f} degrees from upright (limit 10)",
        "{id} 偏离直立 {degrees:.0f} 度(上限 10)",
    ),
    "handling.upright": (
        "{id} stands upright at {at}, {degrees:.0f} degrees off",
        "{id} 已直立于 {at}，偏差 {degrees:.0f} 度",
    ),
    # -- beside
    "handling.side": ("left, right, front or behind", "left、right、front 或 behind"),
    "handling.give_side": ("say on which side, as the robot sees it", "以机器人视角指明在哪一侧"),
    "handling.gap": ("0.005 to 0.5 m of free space", "0.005 到 0.5 米的间距"),
    "handling.give_gap": ("give a distance in that range", "给出该范围内的距离"),
    "handling.beside_off": (
        "{id} stands {mm:.0f} mm {side} of {other}, {across:.0f} mm off its line; asked {want:.0f} mm ({limit:.0f})",
        "{id} 在 {other} 的 {side} 侧 {mm:.0f} 毫米处，偏离 {across:.0f} 毫米；要求 {want:.0f} 毫米(上限 {limit:.0f})",
    ),
    "handling.beside": (
        "{id} stands {mm:.0f} mm {side} of {other} ({want:.0f} mm asked)",
        "{id} 在 {other} 的 {side} 侧 {mm:.0f} 毫米处(要求 {want:.0f} 毫米)",
    ),
    "handling.reference_moved": ("{other} moved by {mm:.0f} mm meanwhile", "其间 {other} 移动了 {mm:.0f} 毫米"),
    # -- stacking
    "handling.levels": ("2 to 6 different objects, from below up", "2 到 6 个不同的物体，自下而上"),
    "handling.give_levels": ("list the ids, the lowest first", "列出 id，最下面的在前"),
    "handling.no_ball_below": ("nothing round below another", "下层没有圆的物体"),
    "handling.ball_below": ("{id} would be below another and is round", "{id} 将在别的物体下面，但它是圆的"),
    "handling.ball_on_top": ("leave it out, or put it on top", "不用它，或把它放在最上面"),
    "handling.level_wrong": (
        "level {n}: {id} is to be carried by {on}; it is carried by {by}",
        "第 {n} 层：{id} 应由 {on} 承托，实际由 {by} 承托",
    ),
    "handling.tower": ("a tower of {n}, each on the one below: {ids}", "{n} 层叠放，每层都在下一层上：{ids}"),
    "handling.level_failed": ("level {n}, {id}: {said}", "第 {n} 层 {id}：{said}"),
}
