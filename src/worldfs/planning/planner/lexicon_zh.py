"""The Chinese lexicon: words of the grammar, and how people type them (traditional signs, slips of the ear)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

# a row of a table stays on its line, and a Chinese sign counts for two
# ruff: noqa: E501

# Slips of the ear, which no other word of the lexicon resembles.
SLIPS = {
    "蓝子": "篮子", "兰子": "篮子", "平果": "苹果", "苹过": "苹果", "卓子": "桌子", "桌孑": "桌子", "方快": "方块",
    "灌子": "罐子", "贯子": "罐子", "收十": "收拾", "收拾下": "收拾一下", "香焦": "香蕉", "拿启": "拿起", "拿其": "拿起",
}  # fmt: skip


def corrected(text: str) -> tuple[str, list[str]]:
    """The text with common slips put right, and a line for each."""
    notes = []
    for wrong, right in SLIPS.items():
        if wrong in text:
            text = text.replace(wrong, right)
            if not right.startswith(wrong):
                notes.append(f"“{wrong}”读作“{right}”")
    return text, notes


def found_words(text: str, words: Mapping[str, object]) -> list[tuple[str, int]]:
    """The words of a table that a text holds, by longest match, and where each begins."""
    found: list[tuple[str, int]] = []
    at = 0
    while at < len(text):
        size = next((n for n in range(min(6, len(text) - at), 0, -1) if text[at : at + n] in words), 0)
        if size:
            found.append((text[at : at + size], at))
        at += size or 1
    return found


BEST_ZH = {
    "最重": "heaviest", "最沉": "heaviest", "最轻": "lightest", "最大": "biggest", "最小": "smallest", "最高": "tallest",
    "最矮": "lowest", "最低": "bottom", "最长": "longest", "最近": "nearest", "最远": "farthest", "最左边": "leftmost",
    "最左侧": "leftmost", "最左": "leftmost", "最右边": "rightmost", "最右侧": "rightmost", "最右": "rightmost",
    "最前面": "frontmost", "最前": "frontmost", "最后面": "backmost", "最上面": "top", "最上层": "top", "最顶上": "top",
    "最下面": "bottom", "最底下": "bottom", "最靠左": "leftmost", "最靠右": "rightmost", "最中间": "middle",
}  # fmt: skip
# Comparatives choose of two: 较大的 · 比较重的 · 更近的.
_ADJECTIVES = {sign: BEST_ZH[f"最{sign}"] for sign in "重沉轻大小高矮长近远"}
COMPARED_ZH = {more + sign: best for sign, best in _ADJECTIVES.items() for more in ("较", "比较", "更")}
SIZES_ZH = {
    "大": "biggest",
    "小": "smallest",
    "高": "tallest",
    "矮": "lowest",
    "长": "longest",
    "短": "lowest",
}  # of a name
SIDES_ZH = {
    "左": "leftmost",
    "右": "rightmost",
    "前": "frontmost",
    "后": "backmost",
    "上": "top",
    "下": "bottom",
}  # of a name
CONTRARY_SIDES = "上下里外内中顶底"  # of names that differ in them alone: 上盖, 下盖
STORAGE = ("盒", "箱", "篮", "筐", "托盘", "容器", "抽屉", "柜")  # as `lexicon_en.STORAGE`; the ends of names
PLAIN = (
    "收纳",
    "储物",
    "置物",
    "整理",
    "存放",
    "储存",
    "存储",
    "杂物",
    "透明",
    "普通",
    "竹",
    "藤",
    "编",
    "空",
    "深",
    "浅",
    "中间",
)
_LAST = "(?:刚才|刚刚|上一步|上一个|上次|之前|最后(?:一步)?|前面)?的?"
# Who has things, as names say it; what describes as 透明的 does belongs to no one.
PERSON = re.compile(
    "[小阿](?![巧号型众])[^大小新旧红绿蓝黄白黑灰方圆]|[小老]?[王李张刘陈杨赵吴徐孙胡朱郭罗郑梁谢宋唐韩冯邓曹彭][^的]{1,2}"
    "|老[王李张刘陈杨赵吴徐孙胡朱郭罗郑梁谢宋唐韩冯邓曹彭]|[^的]{1,2}(?:先生|女士|老师|医生|经理|师傅|同学)"
    "|爸爸?|妈妈?|爷爷|奶奶|外公|外婆|哥哥|姐姐|弟弟|妹妹|叔叔|阿姨|老师|老板|医生|客人|主人|同事|室友|邻居"
)
POSSESSIVES = frozenset(("我的",))  # of a person who is not named
# What no owner is before 的 of a name: 红色的, 用过的, 有把手的.
NO_OWNER = re.compile("[有带装没无不可能].*|.*[色过]")
WASTE_BIN = re.compile("[红绿蓝黄黑白灰]?色?的?[大小]?(?:(?:垃圾|废物)[桶箱篓筐袋盒罐]?|废纸篓|废料[桶箱])")
UNDO = re.compile(
    f"(?:撤销|撤回|还原|取消|恢复(?:原状|原样)?|复原|物归原处){_LAST}(?:操作|动作|指令|步骤|命令|移动|任务|一步)?(?:吧)?"
)
SLIDING = frozenset(("推", "推动", "滑", "滑动", "推远", "推开"))  # along the table; what is 移 or 挪 may be carried
PUT_BACK = frozenset(("放回原处", "放回原位", "归还原处"))  # alone: all that was moved, as 撤销
AWAY = frozenset(
    ["收起", "收起来", "收好", "拿走", "移走", "取走", "收走", "搬走", "弄走"]
)  # of a container: it goes away itself
THEN = frozenset(["然后", "再", "接着", "之后", "最后", "随后", "而后"])
# Chinese: word → (class, value); longest match wins, so 能不能 is a polite form and 不能 a prohibition
_ZH: dict[str, str] = {
    "polite": "也 随便 请 麻烦 麻烦你 麻烦您 您 拜托 拜托你 劳驾您 机器人 请您 咱们 让我们 我们来 来 我想让你 我想请你 我要你 我希望你 想让你 给我把 要 行吗 可以吗 好不好 行不行 可以不 拜托了 辛苦了 马上 立刻 赶紧 快 亲爱的 嗨 嘿 依次 逐个 一个一个 第一步 第二步 第三步 首先 顺便 顺手 请问 请帮我 帮我 帮忙 请帮忙 帮 劳驾 你 现在 吧 啊 呀 嘛 呗 一下 一下子 谢谢 谢谢你 好吗 好的 好吧",
    "request": "能不能 可不可以 愿不愿意 能否 可否 是否可以 是否愿意 可以 愿意 能",
    "wish": "我想要 我要 给我 我需要 我想拿",
    "only": "只 仅 仅仅",
    "each": "分别 各自",
    "together": "一起 一同 一并 一块儿",
    "or": "或 或者 或是 要么",
    "other": "其他 其它 别的 其余 剩下 剩余 另外 另一个 另外一个 其他的 其它的 别的那个 剩下的 其余的 另外那个",
    "toward": "向 往 朝",
    "wayleft": "左 左边 左侧 左面 左方",
    "wayright": "右 右边 右侧 右面 右方",
    "wayforward": "前 前面 前方 前边 远处",
    "waybackward": "后 后面 后方 后边",
    "robot": "机器人 你 您 自己 底座",
    "thatway": "方向 的方向 这边 那边 这里 那里",
    "shift": "移 移动 挪 挪动 推 推动 拉 拉动 平移 滑动 滑 动 移一下 挪一下",
    "shiftleft": "左移",
    "shiftright": "右移",
    "shiftforward": "前移 推远 移远 挪远 推开",
    "shiftbackward": "后移 拉近 拉过来",
    "hither": "过去 过来 去 来",
    "isnot": "不是 非",
    "should": "应该 应当 应 得 要 需要 该 必须 一定要 务必",
    "nearto": "最靠近 最接近 最挨近 最邻近",
    "apart": "远离 移离",
    "leave": "离",
    "farther": "远一点 远点 远些 远一些 再远一点 放远一点 挪远一点 移远一点 拿远一点",
    "nearer": "近一点 近点 近些 近一些 再近一点 移近一点 挪近一点",
    "close": "靠近 移近 挪近 移到靠近",
    "spot": "处 位置 地方 的地方 的位置 那里 那儿 这里",
    "abit": "一点 一点儿 一些 些 一点点 少许",
    "unit": "厘米 公分 毫米 米",
    "left": "左边 左侧 左面 左方 的左边 左手边",
    "right": "右边 右侧 右面 右方 的右边 右手边",
    "front": "前面 前方 前边",
    "behind": "后面 后方 后边 背后",
    "middle": "中间 正中间 中央 正中 中心 正中央",
    "between": "之间 当中",
    "join": "然后 再 接着 之后 最后 先 首先 并 并且 随后 而后 同时",
    "and": "和 跟 与 及 以及 还有 、",
    "but": "但 但是 不过",
    "ba": "把 将 让",
    "de": "的",
    "all": "所有的 所有 全部的 全部 每个 每一个 一切 每一",
    "dou": "都 全都 通通 全",
    "any": "一个 任意 任何 某个 某",
    "this": "这个 那个 这 那 这些 那些 我的",
    "except": "除了 除",
    "outside": "以外的 之外的 外的 以外 之外 外",
    "excluded": "除外",
    "it": "它 它们 他们",
    "in": "里面 里 中 里边 内 当中 之中 里头",
    "on": "上面 上 上边 顶上",
    "beside": "旁边 边上 附近",
    "above": "上方",
    "to": "到 进 入 在",
    "from": "从",
    "by": "按照 按 根据 依照",
    "attr_colour": "颜色 色彩",
    "attr_kind": "种类 类别 类型 品种",
    "sizebiggest": "大 大的",
    "sizesmallest": "小 小的",
    "sizetallest": "高 高的",
    "sizelowest": "矮 矮的",
    "sizelongest": "长 长的",
    "sizeheaviest": "重 重的",
    "sizelightest": "轻 轻的",
    "alike": "是 一样 同样 照样",
    "notthis": "而不是 不是 而非",
    "neg": "不 不是 而不是 别 不要 勿 请勿 禁止 不许 不准 不能 不得 不可 没 没有 未 无 非 莫 休 甭 严禁 停止 取消 避免 不用 不必 "
    "无需 无须 千万别 停 切勿 不该 不应 不应该 拒绝 住手 且慢 不想 忘",
    # 没 and 不 tell how it is, 忘 and 停止 deny another deed; these forbid
    "forbid": "别 不要 勿 请勿 莫 甭 不许 不准 不能 不得 不可 不用 不必 无需 无须 禁止 严禁 切勿 千万别 不该 不应 不应该",
    "question": "多远 多大 多高 多重 多长 多宽 吗 呢 什么 哪 哪里 哪儿 哪个 哪些 谁 多少 几个 几 是否 是不是 有没有 为什么 为何 怎么 怎样 要不要 该不该 了吗 么",
    "if": "如果 要是 假如 假设 若 若是 当 等 等到 除非 应该 也许 可能 一旦 万一 以后 以前 之前 明天 稍后 待会",
    "past": "了 过 已经 他 她 我 我们 说 刚才 昨天 曾 曾经 刚",
    "act:clear": "收一下 收一收 收拾 清理 整理 收拾收拾 整理整理 清理清理 清空 打扫 收拾干净 清理干净 收拾好 整理好 收起 收起来 收好 拿走 移走 取走 收走 搬走 弄走 清理掉",
    "act:put": "递给 交给 传给 挪 摆进 摆 放回 放去 丢到 扔到 搁到 搁在 搁进 塞进 装到 归入 放进去 装进去 塞进去 丢进去 扔进去 移 送到 送进 弄到 弄进 放进 放到 放在 放入 放 移到 移动到 移进 挪到 挪进 搬到 搬进 拿到 装进 装入 收进 收到 摆到 摆在 丢进 扔进 投进 置于 移入",
    "act:discard": "扔掉 丢掉 丢弃",
    "act:throw": "扔 丢",
    "act:stackon": "叠在 叠到 摞在 摞到 堆在 堆到 叠放在 码在",
    "act:stack": "叠起来 摞起来 堆起来 叠在一起 摞在一起 堆在一起 叠到一起 摞到一起 叠放在一起 垒起来 叠 摞 堆 叠放 叠好 摞好 码起来 堆叠",
    "act:pick": "拿起 拿起来 拿上 拿一下 抓一下 夹 拾取 抓起 抓起来 抓取 抓住 抓 拿 拿着 捡起 捡起来 拾起 举起 举起来 夹起 夹住 取 拿住 拿出来 取出来 拿出 取出 提起 提起来 移出 移出来 搬出 搬出来 弄出 弄出来 夹出 夹出来 掏出 掏出来",
    "act:bring": "我想要 我要 给我 我需要 我想拿 递过来 递来 给我拿来 帮我拿来 拿来给我 拿来 拿过来 取来 取过来 带来 递给我 拿给我 递 递一下 递个",
    "act:down": "放下 放下来",
    "act:sort": "分类 归类 分开 排序 分组 分拣 归类好 分好类 分类放好 分类整理 整理分类",
    "act:look": "看看 看 看向 看一看 查看 找 找到 寻找 找一找 观察",
    "act:go": "去 去到 走到 移动到 移到 前往 到",
    "act:wave": "挥手 挥挥手 招手 招招手 挥一挥手 挥个手 打个招呼 摆摆手 挥动手臂",
    "act:upright": "扶正 扶起 扶起来 扶直 立起来 竖起来 摆正 扶好",
    "act:undo": "撤销 撤回 还原 恢复原状 复原 取消上一步 撤销上一步 恢复 物归原处 撤销刚才的操作 撤销上一条指令",
    "act:back": "放回原处 放回去 放回原位 放回原来的地方 放回原来的位置 归还原处 放回原来位置",
    "act:home": "回家 回原位 回到原位 归位 复位 回零 回到初始位置 回初始位置 回到家 返回原位 回原点",
    "with": "用",
    "act:wipe": "擦 擦擦 擦一擦 擦拭 擦干净 擦一下 擦洗",
    "act:pour": "倒进 倒入 倒到 倒在 倒进去",
    "act:openup": "打开 拉开 开启 揭开 掀开",
    "act:shut": "关上 关闭 合上 推上 盖上 关好 盖好",
    "act:open": "打开夹爪 张开夹爪 松开夹爪 打开手爪 张开手爪 夹爪打开 张开手",
    "act:close": "闭合夹爪 关闭夹爪 合上夹爪 关上夹爪 合拢夹爪 闭合手爪 合上手",
    "act:drop": "松手 松开 放开",
    "touch": "动 碰 碰到 动到 触碰 收 移动 拿动",
    "stay": "留在 留着 留下 留 留在这里 留在这儿 留在那里 留在那儿 留在原处 留在原地 留在原位",
    "two": "两 俩",
    "three": "三",
    "partof": "其中",
}
DIGITS_ZH = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
PORTIONS = "块片段节串堆份粒把"  # measure words of a part, of several together, or of a thing that is counted so
MEASURES = f"个只条本支枝张件双副根颗枚台辆盏顶套卷朵棵头匹幅对座样{PORTIONS}"
OF_ANY_KIND = "样个件"  # measure words of things that are not alike: 收据和雨伞两样
HOLDING = "瓶杯碗盒袋罐桶箱包盘壶"  # measure words where what follows is a thing of its own: 两瓶牛奶
_PACKED_IN = "瓶盒袋罐桶箱包"  # what a substance is in that stands there as one thing
# The ends of names of single things that these measure words count.
_COUNTED = {
    "块": (
        "砖",
        "皂",
        "绵",
        "布",
        "巾",
        "帕",
        "石",
        "石头",
        "表",
        "橡皮",
        "板",
        "牌",
        "铁",
        "毯",
        "电池",
        "屏",
        "盘",
        "垫",
        "拼图",
        "木头",
        "积木",
    ),
    "片": ("叶", "叶子", "瓦", "光盘", "创可贴", "膜", "钥匙卡", "磁卡", "瓷砖", "尿布"),
    "节": ("电池",),
    "串": ("项链", "手链", "珠", "珠子", "葡萄"),
    "份": (
        "文件",
        "报",
        "报纸",
        "报告",
        "合同",
        "表",
        "表格",
        "杂志",
        "资料",
        "菜单",
        "礼物",
        "快递",
        "作业",
        "试卷",
        "证书",
        "通知",
        "单",
    ),
}
_IN_PIECES = ("薯片", "麦片", "脆片", "玉米片", "虾片")  # of these 一片 is a part
PORTIONED = PORTIONS + HOLDING
VESSELS = HOLDING + "锅缸听"  # the ends of names of what something is in
POURED_FROM = tuple("瓶杯碗罐桶壶锅缸听管盆")
SUBSTANCES = (*"水茶奶汁油酒醋汤盐糖米粉血液沙粥酱蜜漆胶墨啡", "沙子")  # the ends of words for what is not counted
SAMPLES = ("样本", "样品", "标本", "切片")
COUNT = re.compile(rf"(?:([这那])?([一两二三四五六七八九十]|\d+)|([这那]))[{MEASURES}{HOLDING}]")
_SEVERAL = "双副对套串"
_PAIRS = "双副套串"  # 一双筷子: one thing that is called so; 一对杯子: two
_SIGNS = dict(zip("一两二三四五六七八九十", (1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10), strict=True))


def counts_whole(name: str, measure: str) -> bool:
    """Does a measure word count the whole of what is called so: 一片药片, 一袋米 of 米袋, 一块肥皂, and no 一片梨?"""
    if name.endswith((measure, f"{measure}子")) or f"一{measure}" in name:
        return not name.endswith(_IN_PIECES)
    substance = name.endswith(SUBSTANCES)
    if measure in _PACKED_IN and substance:
        return True
    if measure in "粒把":
        return not substance
    return name.endswith(_COUNTED.get(measure, ()))


def count_kinds(found: re.Match[str]) -> frozenset[str]:
    """Of a number, or a word that points, with its measure word: 两支, 3本, 那两个, 这本."""
    if found[3]:
        return frozenset(("pair" if found[0][-1] in _PAIRS else "these" if found[0][-1] in _SEVERAL else "this",))
    number = _SIGNS.get(found[2]) or int(found[2])
    if found[0][-1] in _SEVERAL and number == 1:  # 一双手套 is one thing, or two of them
        return frozenset(("pair" if found[0][-1] in _PAIRS else "these",))
    word = next((word for word, n in DIGITS_ZH.items() if n == number), "any" if number == 1 else "")
    return frozenset(filter(None, (word, "these" if found[1] else "")))


_NUMERALS = {sign: n for n, sign in enumerate("零一二三四五六七八九")} | {"两": 2}
NUMERAL_SIGNS = frozenset((*_NUMERALS, "十", "半"))


def numeral(signs: str) -> float:
    """五 · 十 · 十五 · 二十 · 半: up to 99, 0 for none."""
    if signs == "半":
        return 0.5
    if not signs or signs.count("十") > 1 or "半" in signs:
        return 0.0
    if "十" not in signs:
        return float(_NUMERALS[signs]) if len(signs) == 1 else 0.0
    tens, ones = signs.split("十")
    if len(tens) > 1 or len(ones) > 1:
        return 0.0
    return 10.0 * (_NUMERALS[tens] if tens else 1) + (_NUMERALS[ones] if ones else 0)


# "Any will do", after an order: 哪个都行 · 随便哪两块 · 都可以
ANY_WILL_DO = re.compile(
    rf"[,，、]?(?:哪(?:怕)?[一两二三四五六七八九十几]?[{MEASURES}样里儿]?(?:都|也)(?:行|可以|好|成|没关系)"
    rf"|随便(?:哪)?[一两二三四五]?[{MEASURES}]?(?:都行|都可以|就行)?|任选[一两二三]?[{MEASURES}]?|(?:两个|两者)?都(?:行|可以)|无所谓|随你(?:便)?"
    rf"|(?:是)?哪[一两]?[{MEASURES}](?:我)?(?:都)?(?:不在乎|无所谓))[。.!！]?$"
)


@lru_cache(maxsize=1)
def chinese_lexicon() -> Mapping[str, frozenset[str]]:
    """Word → classes; act words may have two (移到 puts a thing or moves the arm)."""
    found: dict[str, set[str]] = {}
    for kind, text in _ZH.items():
        for word in text.split():
            found.setdefault(word, set()).add(kind)
    for measure in MEASURES:
        found.update({f"另一{measure}": {"other"}, f"另外一{measure}": {"other"}})
    for word, best in BEST_ZH.items():
        found.setdefault(word, set()).add(f"best:{best}")
    for word, best in COMPARED_ZH.items():
        found.setdefault(word, set()).update((f"best:{best}", "of_two"))
    return {word: frozenset(kinds) for word, kinds in found.items()}


def is_grammar(word: str) -> bool:
    """Is it a word of the grammar? A size is one only beside a noun."""
    return any(kind[:4] != "size" for kind in chinese_lexicon().get(word, ()))
