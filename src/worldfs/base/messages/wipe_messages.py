"""Messages of wiping, in English and Chinese: what cannot be wiped, and how much of an area was touched."""

# a row stays on its line
ROWS = {
    "wipe.sponge": ("a sponge or a cloth", "海绵或抹布"),
    "wipe.no_sponge": ("{id} is neither", "{id} 都不是"),
    "wipe.name_sponge": ("name a box whose name says sponge or cloth", "指明名称为海绵或抹布的长方体"),
    "wipe.area": ("one marked area on a table", "桌面上的一个标记区域"),
    "wipe.areas": ("{n} areas go by {id}", "{id} 对应 {n} 个区域"),
    "wipe.hangs": ("{id} is on no table", "{id} 不在桌面上"),
    "wipe.name_area": ("name one region that is on a table", "指明桌面上的一个区域(region)"),
    "wipe.free": ("an area with nothing on it", "上面没有物体的区域"),
    "wipe.taken": ("on {id}: {others}", "{id} 上有：{others}"),
    "wipe.clear": ("clear it first", "先把它清空"),
    "wipe.no_joints": ("no joint angles reach all of {id}", "没有关节角能到达 {id} 的全部"),
    "wipe.way": ("wipe {id}: {why}", "擦拭 {id}：{why}"),
    "wipe.missed": (
        "{id} touched {percent:.0f} % of {area} (at least {least:.0f} %)",
        "{id} 接触了 {area} 的 {percent:.0f} %(至少 {least:.0f} %)",
    ),
    "wipe.done": ("{id} touched {percent:.0f} % of {area}", "{id} 接触了 {area} 的 {percent:.0f} %"),
}
