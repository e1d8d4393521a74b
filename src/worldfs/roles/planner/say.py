"""What the planner says: reasons and names, in the language of the instruction."""

from __future__ import annotations

# a row of a table stays on its line, and a Chinese sign counts for two
# ruff: noqa: E501
from collections.abc import Iterable

from ...ground.model import Scene, Thing
from . import words

HOME = {"en": "go home", "zh": "回家"}

REASONS: dict[str, tuple[str, str]] = {
    "empty": ("nothing was asked", "没有任何指令"),
    "too_long": ("the instruction has {size} characters, at most {limit} are read", "指令有 {size} 个字符，最多读 {limit} 个"),
    "untold": (
        "the scene does not tell; ask where a thing is, what is on the table, how many things there are, or whether one is in another",
        "场景里看不出来；可以问：苹果在哪里，桌子上有什么，有几个方块，苹果在篮子里吗",
    ),
    "signs": ("I do not understand the sign {word}", "看不懂符号 {word}"),
    "negation": (
        "“{said}” says what not to do, so nothing moves",
        "“{said}”说的是不要做什么，所以什么都不动",
    ),
    "after_protection": (
        "it is not clear whether “{word}” still belongs to what should be left alone; say it in a sentence of its own",
        "不清楚“{word}”是否还属于不要动的部分；请另起一句",
    ),
    "conditional": (
        "“{said}” depends on something (“{word}”), and I act only on plain orders, so nothing moves",
        "“{said}”是有条件或假设的话(“{word}”)；我只执行直接的指令，所以什么都不动",
    ),
    "report": ("“{said}” tells what was done and orders nothing, so nothing moves", "“{said}”是在叙述，不是指令，所以什么都不动"),
    "word": ("I do not understand “{word}” here, so nothing moves", "这里的“{word}”看不懂，所以什么都不动"),
    "manner": (
        "“{word}” cannot be chosen: every motion has the one pace that is planned for it, so nothing moves. Say it again without “{word}”",
        "无法选择“{word}”：每个动作都按规划好的速度进行，所以什么都不动。请去掉“{word}”再说一遍",
    ),
    "vertical": (
        "A height cannot be chosen (“{word}”), so nothing moves. A thing can be picked up, put down, put on another, or moved left, right, forward or backward by a distance",
        "无法指定高度（“{word}”），所以什么都不动。可以拿起、放下、把一个放在另一个上，或向左、右、前、后移动一段距离",
    ),
    "verb": (
        "Unknown action “{word}”. Known: clear, put, move, pick up, bring, drop, stack, sort, look at, go to, go home, open or close the gripper, wave, undo",
        "不认识的动作“{word}”。会做的：收拾、放、移、拿起、放下、叠、分类、看、去、回家、打开或闭合夹爪、挥手、撤销",
    ),
    "no_verb": ("“{said}” does not say what to do", "“{said}”没有说要做什么"),
    "noun": ("I do not know what “{word}” is{hint}; here are: {here}", "不知道“{word}”是什么{hint}；这里有：{here}"),
    "headless": ("“{word}” names a colour but no kind of thing", "“{word}”只说了颜色，没说是什么东西"),
    "object": ("“{verb}” what? Name the thing", "“{verb}”什么？请说出是哪个东西"),
    "where": ("“{word}” where? Name the place", "“{word}”到哪里？请说出地方"),
    "sort_by": ("sort by colour or by kind; “{word}” is neither", "可以按颜色或种类分类；“{word}”都不是"),
    "missing": ("there is no “{what}” here; here are: {here}", "这里没有“{what}”；这里有：{here}"),
    "missing_there": ("there is no “{what}” where you say it is; elsewhere: {here}", "你说的地方没有“{what}”；这样的东西有：{here}"),
    "ambiguous": (
        "“{what}” may be any of {names}; name one, or say all or any",
        "“{what}”可能是 {names} 中的任何一个；请说是哪个，或说所有/任意一个",
    ),
    "count": ("you said {count} of “{what}”, and here are {found}: {names}", "“{what}”：说了 {count} 个，这里有 {found} 个：{names}"),
    "tie": ("none of {names} is alone the {what} one; name one", "{names} 不分上下；请说是哪个"),
    "unmeasured": ("the scene does not tell which is the {what}: {names}", "场景里看不出哪个最合适：{names}"),
    "other": ("“{what}”: other than which? Name it first, or name the thing ({names})", "“{what}”：除了哪个？请先说，或直接说名字({names})"),
    "how_far": ("{word} of what, or how far? Say left of the can, or move it 10 cm to the left", "什么的{word}，还是多远？"),
    "which_place": ("“{word}” of what? Name the thing", "什么的“{word}”？请说出是哪个东西"),
    "which_side": ("on which side of {name}? Say left, right, front or behind", "在 {name} 的哪一边？请说左、右、前或后"),
    "between": ("between which two? Name them", "哪两个之间？请说出名字"),
    "too_near": ("{names} stand too close together to put {name} between them", "{names} 之间放不下 {name}"),
    "no_history": ("there is no earlier instruction here that could be undone", "没有可以撤销的指令"),
    "held_now": ("{name} is in the gripper; say where to put it", "{name} 在夹爪里；请说放到哪里"),
    "pronoun": ("it is not clear what “{word}” means", "“{word}”指什么不清楚"),
    "reading": ("it is not clear whether “{what}” says where the thing is or where it goes", "“{what}”是说东西在哪里还是放到哪里，不清楚"),
    "no_container": (
        "there is no container to put things into; name a place",
        "这里没有可以放东西的容器；请说放到哪里",
    ),
    "no_surface": ("there is no table here to clear", "这里没有要收拾的桌子"),
    "not_container": ("{name} is no container; say on {name}", "{name} 不是容器；请说放在 {name} 上"),
    "not_movable": ("{name} is furniture or a container, and is not moved", "{name} 是家具或容器，不会被移动"),
    "where_to": ("say whether in, on or beside {name}", "请说是放进、放在上面还是放在 {name} 旁边"),
    "itself": ("{name} cannot be put on or in itself", "{name} 不能放到它自己上面或里面"),
    "one_hand": (
        "one gripper holds one thing, and {names} were named; say where to put them",
        "一个夹爪只能拿一个东西，而说了 {names}；请说放到哪里",
    ),
    "hand_full": (
        "the gripper would still hold {name}; say first where to put it",
        "夹爪还拿着 {name}；请先说把它放到哪里",
    ),
    "nothing_held": ("nothing is held", "夹爪里没有东西"),
    "round": ("nothing stands on something round: {names}", "圆的东西上面放不住别的：{names}"),
    "stack_one": ("a stack needs two things", "叠放至少要两个东西"),
    "one_support": ("only one thing can stand on {name}; say stack", "{name} 上只能放一个东西；请说叠起来"),
    "few_boxes": ("there are more groups than containers: {names}", "组数比容器多：{names}"),
    "no_colour": ("the colour of {names} is not known", "不知道 {names} 的颜色"),
    "no_kind": ("the kind of {names} is not known", "不知道 {names} 的种类"),
    "three": ("a target of the arm needs x, y and z in metres", "手臂的目标需要 x、y、z(米)"),
    "no_op": ("this robot has no action {what}", "这个机器人没有 {what} 动作"),
    "no_position": ("the scene does not tell where {where} is", "场景里没有说 {where} 在哪里"),
    "no_room": ("there is no free place for {name} within reach on {where}", "{where} 上够得着的地方没有 {name} 的空位"),
    "no_place_at": (
        "{name} cannot be put at ({where}): it is out of reach, or something stands there",
        "{name} 不能放到 ({where})：够不着，或那里有东西",
    ),
    "full": ("{where} has no room for {name}", "{where} 里放不下 {name}"),
    "too_large": ("{name} is too large for {where}", "{name} 太大，放不进 {where}"),
    "blocked": ("{other} lies on it and may not be touched", "{other} 压在上面，而它不能动"),
    "circle": ("the goals contradict each other", "目标互相矛盾"),
    "gone": ("{name} is not in the scene any more", "{name} 已不在场景中"),
    "protected": ("{name} may not be touched", "{name} 不能动"),
    "contradiction": ("{names} should both be moved and be left alone", "{names} 又要动又不要动，自相矛盾"),
}  # fmt: skip


def reason(key: str, language: str, **facts: str) -> str:
    text = REASONS[key][language == "zh"]
    hint = facts.pop("hint", "")
    words_of = (f" (did you mean “{hint}”?)", f"(是不是“{hint}”？)")[language == "zh"] if hint else ""
    return text.format(**{"hint": words_of, **facts})


def name(thing: Thing | None, language: str, scene: Scene | None = None, id: str = "") -> str:
    """A thing's name as a person of that language says it, with its id where two share the name."""
    if thing is None:
        return id
    found = _plain(thing, language)
    if scene is not None and found != thing.id:
        others = [t for t in (*scene.objects, *scene.furniture) if t.id != thing.id and _plain(t, language) == found]
        if others:
            return f"{found} ({thing.id})"
    return found


def _plain(thing: Thing, language: str) -> str:
    chinese = any("\u4e00" <= c <= "\u9fff" for c in thing.name)
    if thing.name and chinese == (language == "zh"):
        return thing.name if language == "zh" else thing.name.lower()
    stem = "".join(c if c.isalpha() else " " for c in thing.id).split()
    kind = next((w for w in reversed(stem) if w.lower() in words.KINDS), "")
    if language == "zh" and kind:
        colour = words.COLOURS.get(thing.color.lower(), ("", ""))[1].split()
        return (colour[0] if colour else "") + words.KINDS[kind.lower()][2].split()[0]
    if kind and language == "en" and not thing.name.isascii():
        return f"{thing.color.lower()} {kind}".strip() if thing.color.isascii() and thing.color.isalpha() else kind
    return thing.name if thing.name and not chinese else thing.id


def names(ids: Iterable[str], scene: Scene, language: str) -> str:
    """Names with ids, for refusals that ask for a choice."""
    return ("、" if language == "zh" else ", ").join(ids) or ("没有东西" if language == "zh" else "nothing")
