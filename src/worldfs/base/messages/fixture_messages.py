"""Messages of drawers and lids, in English and Chinese: what cannot be opened or closed, and how far it went."""

# a row stays on its line
ROWS = {
    "fixture.opens": ("a drawer or a chest", "抽屉或带盖的箱子"),
    "fixture.fixed": ("{id} has neither drawer nor lid", "{id} 既没有抽屉也没有盖子"),
    "fixture.name_one": ("name one of these: {known}", "指明其中之一：{known}"),
    "fixture.open": ("open", "打开"),
    "fixture.closed": ("closed", "关上"),
    "fixture.not_yet": ("a drawer or a lid that is not so already", "还不是该状态的抽屉或盖子"),
    "fixture.already": ("{id} is {state} already", "{id} 已经{state}"),
    "fixture.leave_it": ("leave it as it is", "不用动它"),
    "fixture.no_joints": ("no joint angles lead its knob all the way", "没有关节角能带着拉手走完全程"),
    "fixture.way": ("lead the knob of {id} from {at}: {why}", "从 {at} 带动 {id} 的拉手：{why}"),
    "fixture.missed": ("{n} of 2 fingers touch the knob of {id}", "2 个手指中有 {n} 个接触 {id} 的拉手"),
    "fixture.moves": ("{id} still moves at {rate:.2f} a second", "{id} 仍以每秒 {rate:.2f} 运动"),
    "fixture.millimetres": ("{n:.0f} mm", "{n:.0f} 毫米"),
    "fixture.degrees": ("{n:.0f} degrees", "{n:.0f} 度"),
    "fixture.not_open": ("{id} is {now} open; open is {least} or more", "{id} 打开了 {now}；至少 {least} 才算打开"),
    "fixture.not_closed": ("{id} is {now} open; closed is at most {least}", "{id} 还开着 {now}；最多 {least} 才算关上"),
    "fixture.open_one": ("a drawer or a chest that is open", "已打开的抽屉或箱子"),
    "fixture.shut": ("{id} is not open", "{id} 没有打开"),
    "fixture.open_first": ("open {id} first", "先打开 {id}"),
    "fixture.closes": ("a thing of at most {mm:.0f} mm, so that it closes", "不高于 {mm:.0f} 毫米的物体，这样才能关上"),
    "fixture.tall": ("{id} is {mm:.0f} mm high as it is held", "{id} 按现在的抓法高 {mm:.0f} 毫米"),
    "fixture.lower": ("put lower things into {on}", "往 {on} 里放较矮的物体"),
    "fixture.lost": ("not in {id} any more: {others}", "不再在 {id} 里：{others}"),
    "fixture.stands": ("{id} is {state}: {now} open", "{id} 已{state}：打开 {now}"),
}
