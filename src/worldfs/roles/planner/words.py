"""The lexicon: tables of words in English and Chinese, and what each stands for. No word outside them is guessed at."""

from __future__ import annotations

# a row of a table stays on its line, and a Chinese sign counts for two
# ruff: noqa: E501


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# concept: (what it also is, English words, Chinese words)
KINDS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "apple": (("fruit",), "apple", "苹果"),
    "orange": (("fruit",), "orange", "橙子 橘子"),
    "banana": (("fruit",), "banana", "香蕉"),
    "lemon": (("fruit",), "lemon", "柠檬"),
    "pear": (("fruit",), "pear", "梨子 梨"),
    "peach": (("fruit",), "peach", "桃子 桃"),
    "strawberry": (("fruit",), "strawberry", "草莓"),
    "plum": (("fruit",), "plum", "李子"),
    "fruit": ((), "fruit", "水果"),
    "ball": ((), "ball", "球 小球"),
    "sphere": ((), "sphere", "球体"),
    "cube": (("block",), "cube", "方块 立方体"),
    "block": ((), "block", "积木 木块"),
    "brick": ((), "brick", "砖块 砖头 砖"),
    "box": ((), "box", "盒子 箱子"),
    "bar": ((), "bar", "长条 条块 棒"),
    "cylinder": ((), "cylinder", "圆柱 圆柱体"),
    "can": ((), "can tin", "罐子 罐头 易拉罐 罐"),
    "cup": ((), "cup", "杯子 杯"),
    "mug": (("cup",), "mug", "马克杯"),
    "bottle": ((), "bottle", "瓶子 瓶"),
    "bowl": ((), "bowl", "碗"),
    "plate": ((), "plate dish", "盘子 碟子"),
    "spoon": ((), "spoon", "勺子"),
    "fork": ((), "fork", "叉子"),
    "book": ((), "book", "书"),
    "toy": ((), "toy", "玩具"),
    "tool": ((), "tool", "工具"),
    "basket": (("container",), "basket", "篮子 篮 筐子 筐 果篮"),
    "bin": (("container",), "bin", "箱 垃圾桶 桶"),
    "tray": (("container",), "tray", "托盘"),
    "container": ((), "container", "容器"),
    "table": ((), "table desk tabletop desktop", "桌子 桌面 餐桌 台面 桌"),
    "shelf": ((), "shelf", "架子"),
    "floor": ((), "floor ground", "地板 地面 地上"),
}
IRREGULAR = {"fruits": "fruit", "boxes": "box", "shelves": "shelf", "dishes": "dish", "strawberries": "strawberry"}
COLOURS: dict[str, tuple[str, str]] = {
    "red": ("red", "红色 红"),
    "green": ("green", "绿色 绿"),
    "blue": ("blue", "蓝色 蓝"),
    "yellow": ("yellow", "黄色 黄"),
    "orange": ("orange", "橙色 橘色"),
    "purple": ("purple violet", "紫色 紫"),
    "pink": ("pink", "粉色 粉红色"),
    "white": ("white", "白色 白"),
    "black": ("black", "黑色 黑"),
    "grey": ("grey gray", "灰色 灰"),
    "silver": ("silver", "银色"),
    "brown": ("brown", "棕色 褐色"),
}
GENERIC_EN = _set("object objects thing things item items one ones stuff")
GENERIC_ZH = _set("东西 物体 物品 物件")
MASS = frozenset(("stuff", "k:fruit", "k:toy", *GENERIC_ZH))  # a bare mass word means all of it

# English: verb phrase → act. Longest first; base forms only, so that a past or a reported deed is not an order.
VERBS: dict[str, str] = {
    "clear": "clear", "clear up": "clear", "clear off": "clear", "clear away": "clear", "clear out": "clear",
    "tidy": "clear", "tidy up": "clear", "tidy away": "clear", "clean": "clear", "clean up": "clear",
    "clean off": "clear", "put away": "clear", "remove": "clear", "collect": "clear", "stow": "clear", "empty": "clear", "empty out": "clear",
    "put": "put", "place": "put", "move": "put", "set": "put", "transfer": "put", "lay": "put", "load": "put",
    "bring": "bring", "carry": "bring", "fetch": "bring", "take": "bring", "get": "bring", "give": "bring",
    "hand": "bring", "pass": "bring",
    "drop": "drop", "release": "drop", "put down": "down", "set down": "down", "lay down": "down", "let go of": "drop",
    "let go": "drop",
    "pick up": "pick", "pick": "pick", "grasp": "pick", "grab": "pick", "grip": "pick", "lift": "pick",
    "lift up": "pick", "hold": "pick", "take hold of": "pick",
    "stack": "stack", "stack up": "stack", "pile": "stack", "pile up": "stack",
    "sort": "sort", "sort out": "sort", "group": "sort", "organize": "sort", "organise": "sort", "arrange": "sort",
    "go home": "home", "go back home": "home", "return home": "home", "move home": "home", "go to home": "home",
    "return to home": "home", "drive home": "home", "go to your home position": "home", "move to home": "home",
    "go to the home position": "home", "go to home position": "home", "move to the home position": "home",
    "return to the home position": "home", "home": "home",
    "go to": "go", "move to": "go", "drive to": "go", "navigate to": "look", "go above": "go", "go over": "go",
    "move above": "go", "move over": "go", "hover above": "go", "hover over": "go", "go": "go",
    "move the arm to": "go", "move the gripper to": "go", "move the hand to": "go", "move your arm to": "go",
    "look at": "look", "look for": "look", "find": "look", "locate": "look", "search for": "look", "inspect": "look",
    "open the gripper": "open", "open your gripper": "open", "open gripper": "open", "open the hand": "open",
    "open your hand": "open", "close the gripper": "close", "close your gripper": "close", "close gripper": "close",
    "close the hand": "close", "close your hand": "close", "shut the gripper": "close",
}  # fmt: skip
PARTICLES = {"clear": ("up", "away", "off"), "pick": ("up",), "put": ("down", "away"), "stack": ("up",)}
PREPS: dict[str, str] = {
    "in": "in", "into": "in", "inside": "in", "inside of": "in", "in to": "in",
    "on": "on", "onto": "on", "on to": "on", "on top of": "on", "upon": "on", "atop": "on",
    "to": "to", "at": "at",
    "next to": "beside", "beside": "beside", "near": "beside", "by": "beside", "close to": "beside",
    "from": "from", "off": "from", "off of": "from", "out of": "from", "from the top of": "from",
}  # fmt: skip
EXCEPT = ("except for", "except", "apart from", "other than", "but not", "excluding", "aside from", "save for", "but")
PROTECT = _set(
    "touch touching move moving take taking grab grabbing disturb disturbing clear clearing pick picking "
    "use using include including remove removing"
)
ALL = _set("all every each everything both")
ANY = _set("a an any one some")
THE = _set("the this that these those my your our")
_NUMBER_WORDS = "one two three four five six seven eight nine ten"
NUMBERS = dict(zip(_NUMBER_WORDS.split(), range(1, 11), strict=True))
PRONOUNS = _set("it them")
OPENERS = (
    "please", "kindly", "now", "yes", "ok", "okay", "hey", "hi", "hello", "robot", "first", "then", "next", "finally", "just",
    "i want you to", "i would like you to", "i'd like you to", "go ahead and", "also", "and", "afterwards",
)  # fmt: skip
REQUESTS = ("could you", "can you", "would you", "will you")
CLOSERS = (
    "please",
    "now",
    "right now",
    "thanks",
    "thank you",
    "for me",
    "too",
    "as well",
    "again",
    "first",
    "carefully",
)
JOINS = ("and then", "and after that", "after that", "then", "and", "afterwards", "finally", "next")
QUESTIONS = _set(
    "what what's whats where where's which who whose whom when why how is are am was were do does did has have had "
    "should shall may might isn't aren't doesn't didn't wasn't weren't hasn't haven't tell list describe say count "
    "shouldn't couldn't wouldn't"
)
DOERS = _set("you i we they any")
# Words of questions. With any other beside nouns and prepositions a question is not understood well enough.
ASK_SOME = _set("any some a an there")
ASK_EVERY = _set("all every each both")
ASK_SPEAK = _set("tell list describe say count have")
ASK_PLAIN = _set(
    "is are am be do does the a an any some there all every each both this that these those my your our me you i we "
    "it its they what what's which where where's how many much kind kinds of colour color colours colors have got has "
    "see tell list describe count say show can could please now still currently right moment and or not know else left "
    "been being hold holds holding held carrying hand gripper fingers contain contains lie lies lying stand stands "
    "standing sitting put clear tidy clean empty heavy weigh weighs weight mass big large tall high wide long small "
    "size sizes here open closed shut number position located none one"
)
NEGATIONS = _set(
    "not no never don't dont doesn't didn't won't wont can't cant cannot couldn't wouldn't shouldn't mustn't isn't "
    "aren't neither nor none nothing nobody nowhere without stop avoid refrain forbid forbidden prohibit prohibited "
    "prevent quit cease halt abort cancel skip unless refuse stay freeze hardly instead rather wait ain't needn't "
    "forget avoid leave keep against undo"
)
IFS = _set(
    "if unless when whenever once until till before after while whether suppose supposing imagine assuming provided "
    "maybe perhaps might could would should tomorrow later soon yesterday almost pretend"
)
PAST = _set(
    "he she they was were cleared tidied cleaned picked grasped grabbed lifted stacked sorted moved placed went "
    "did had has said says told asked saying yesterday ago already been took brought fetched found looked"
)
GREETINGS = frozenset(
    ("hello", "hi", "thanks", "thank you", "good morning", "bye", "你好", "您好", "谢谢", "谢谢你", "再见")
)
STOP_SIGNS = "🚫❌⛔✋🛑❎🙅👎✖✕×"
SMALL_TALK = "🙂😀😊😃🙏👍🤖👋😄✨❤️\ufe0f"

# Chinese: word → (class, value); longest match wins, so 能不能 is a polite form and 不能 a prohibition
_ZH: dict[str, str] = {
    "polite": "请 麻烦 麻烦你 请你 请帮我 帮我 帮忙 请帮忙 帮 给我 劳驾 你 机器人 现在 吧 啊 一下 一下子 谢谢 谢谢你 好吗 好的 好吧",
    "request": "能不能 可不可以 能否 可否 可以 能",
    "join": "然后 再 接着 之后 最后 先 首先 并 并且 随后 而后 同时",
    "and": "和 跟 与 及 以及 还有 、",
    "but": "但 但是 不过",
    "ba": "把 将",
    "de": "的",
    "all": "所有的 所有 全部的 全部 每个 每一个 一切 每一",
    "dou": "都 全都 通通",
    "any": "一个 任意一个 任意 任何一个 某个 随便一个 一只 一块",
    "this": "这个 那个 这 那 这些 那些 我的",
    "except": "除了 除",
    "outside": "以外的 之外的 外的 以外 之外 外",
    "excluded": "除外",
    "it": "它 它们 他们",
    "in": "里面 里 中 里边 内",
    "on": "上面 上 上边 顶上",
    "beside": "旁边 边上 附近",
    "above": "上方",
    "to": "到 进 入 在",
    "from": "从",
    "by": "按照 按 根据 依照",
    "attr_colour": "颜色 色彩",
    "attr_kind": "种类 类别 类型 品种",
    "neg": "不 别 不要 勿 请勿 禁止 不许 不准 不能 不得 不可 没 没有 未 无 非 莫 休 甭 严禁 停止 取消 避免 不用 不必 "
    "无需 无须 千万别 停 切勿 不该 不应 不应该 拒绝 住手 且慢 不想 忘",
    "question": "吗 呢 什么 哪 哪里 哪儿 哪个 哪些 谁 多少 几个 几 是否 是不是 有没有 为什么 为何 怎么 怎样 要不要 该不该 了吗 么",
    "if": "如果 要是 假如 假设 若 若是 当 等 等到 除非 应该 也许 可能 一旦 万一 以后 以前 之前 明天 稍后 待会",
    "past": "了 过 已经 他 她 我 我们 说 刚才 昨天 曾 曾经 刚",
    "act:clear": "收拾 清理 整理 清空 打扫 收拾干净 清理干净 收拾好 整理好 收起 收起来 收好 拿走 移走 清理掉",
    "act:put": "放进 放到 放在 放入 放 移到 移动到 移进 挪到 挪进 搬到 搬进 拿到 装进 装入 收进 收到 摆到 摆在 丢进 扔进 投进 置于 移入",
    "act:stackon": "叠在 叠到 摞在 摞到 堆在 堆到 叠放在 码在",
    "act:stack": "叠起来 摞起来 堆起来 叠 摞 堆 叠放 叠好 摞好 码起来 堆叠",
    "act:pick": "拿起 拿起来 抓起 抓起来 抓取 抓住 抓 拿 拿着 捡起 捡起来 拾起 举起 举起来 夹起 夹住 取 拿住 拿出来 取出来 拿出 取出 提起 提起来",
    "act:bring": "拿来 拿过来 取来 取过来 带来 递给我 拿给我",
    "act:down": "放下 放下来",
    "act:sort": "分类 归类 分开 排序 分组 分拣 归类好 分好类 分类放好 分类整理 整理分类",
    "act:look": "看看 看 看向 看一看 查看 找 找到 寻找 找一找 观察",
    "act:go": "去 去到 走到 移动到 移到 前往 到",
    "act:home": "回家 回原位 回到原位 归位 复位 回零 回到初始位置 回初始位置 回到家 返回原位 回原点",
    "act:open": "打开夹爪 张开夹爪 松开夹爪 打开手爪 张开手爪 夹爪打开 张开手",
    "act:close": "闭合夹爪 关闭夹爪 合上夹爪 关上夹爪 合拢夹爪 闭合手爪 合上手",
    "act:drop": "松手 松开 放开",
    "touch": "动 碰 碰到 动到 触碰 收 移动 拿动",
    "two": "两个 二个 两 俩 这两个 那两个",
    "three": "三个 三",
    "four": "四个",
    "five": "五个",
}
DIGITS_ZH = {"two": 2, "three": 3, "four": 4, "five": 5}
BOTH_ZH = frozenset(("这两个", "那两个", "俩"))


def chinese() -> dict[str, frozenset[str]]:
    """Word → classes; act words may have two (移到 puts a thing or moves the arm)."""
    found: dict[str, set[str]] = {}
    for kind, text in _ZH.items():
        for word in text.split():
            found.setdefault(word, set()).add(kind)
    return {word: frozenset(kinds) for word, kinds in found.items()}


def nouns_en() -> dict[str, frozenset[str]]:
    """Singular English word → keys (`k:` kind, `c:` colour, `*` any movable thing)."""
    found: dict[str, set[str]] = {}
    for key, (_, english, _) in KINDS.items():
        for word in english.split():
            found.setdefault(word, set()).add(f"k:{key}")
    for key, (english, _) in COLOURS.items():
        for word in english.split():
            found.setdefault(word, set()).add(f"c:{key}")
    for word in GENERIC_EN:
        found.setdefault(word, set()).add("*")
    return {word: frozenset(keys) for word, keys in found.items()}


def nouns_zh() -> dict[str, frozenset[str]]:
    """Chinese word → keys, as `nouns_en`."""
    found: dict[str, set[str]] = {}
    for key, (_, _, words) in KINDS.items():
        for word in words.split():
            found.setdefault(word, set()).add(f"k:{key}")
    for key, (_, words) in COLOURS.items():
        for word in words.split():
            found.setdefault(word, set()).add(f"c:{key}")
    for word in GENERIC_ZH:
        found.setdefault(word, set()).add("*")
    return {word: frozenset(keys) for word, keys in found.items()}


def kin(key: str) -> frozenset[str]:
    """A kind and all that it also is: apple is a fruit."""
    found, todo = set(), [key]
    while todo:
        now = todo.pop()
        if now not in found:
            found.add(now)
            todo += KINDS[now][0] if now in KINDS else ()
    return frozenset(f"k:{k}" for k in found)


def singular(word: str) -> str:
    """The English singular, the word itself when it is none of the plural forms."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word
