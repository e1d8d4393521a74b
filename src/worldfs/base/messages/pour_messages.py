"""Messages of pouring, in English and Chinese: what cannot be poured, and how many grains went where."""

# a row stays on its line
ROWS = {
    "pour.vessel": ("an open cup or bowl, or a basket to pour into", "敞口的杯或碗；倒入的目标也可以是篮子"),
    "pour.no_vessel": ("{id} is no vessel", "{id} 不是容器"),
    "pour.name_vessel": (
        "name a vessel: a cylinder with grains in ENVIRONMENT.md",
        "指明容器：ENVIRONMENT.md 中带 grains 的圆柱",
    ),
    "pour.full": ("a vessel with grains in it", "装有颗粒的容器"),
    "pour.empty": ("{id} is empty", "{id} 是空的"),
    "pour.fill": ("fill it, or pour from another", "先装入，或从另一个容器倒"),
    "pour.stands": ("a target that stands upright", "直立的目标容器"),
    "pour.lies": ("{id} does not stand upright", "{id} 没有直立"),
    "pour.upright": ("set it upright first", "先把它扶正"),
    "pour.room": ("room for all of it", "容得下全部颗粒的空间"),
    "pour.too_much": (
        "{n} grains on the {there} in {id}, which takes {room}",
        "要倒入 {n} 粒，{id} 已有 {there} 粒，最多 {room} 粒",
    ),
    "pour.less": ("pour into a larger one, or empty it first", "倒入更大的容器，或先把它倒空"),
    "pour.no_joints": (
        "no joint angles carry it to {target} and tip it there",
        "没有关节角能把它带到 {target} 上方倾倒",
    ),
    "pour.way": ("pour {id} into {target}: {why}", "把 {id} 倒入 {target}：{why}"),
    "pour.short": (
        "{there} of {n} grains are in {target}, {left} still in {id}, {spilled} spilled",
        "{n} 粒中有 {there} 粒在 {target} 里，{left} 粒仍在 {id} 里，洒出 {spilled} 粒",
    ),
    "pour.done": (
        "{there} of {n} grains of {id} are in {target}, {spilled} spilled",
        "{id} 的 {n} 粒中有 {there} 粒已在 {target} 里，洒出 {spilled} 粒",
    ),
}
