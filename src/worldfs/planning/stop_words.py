"""The words that stop a robot. They are checked before any planning, in a chat as on the command line.

A text says stop if each of its words has a part in that: a word for stop, the robot or its motion, or manners.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Final

LONGEST: Final = 400  # characters: a longer text is no stop command

# What may have an object: the robot, a part of it, its motion.
_STOP: Final = (
    "stop|halt|freeze|pause|abort|cease|quit|emergency stop|emergency halt|e stop|estop|brake|hit the brakes|"
    "shut down|shutdown|shut off|turn off|switch off|power off|power down|kill|"
    "停|停下|停下来|停止|停住|停一下|停一停|停手|停机|停车|停掉|急停|紧急停|紧急停止|紧急停机|刹车|刹住|暂停|中止|终止|站住"
)
_OTHER_STOP: Final = (
    "do not move|don't move|dont move|do not move a muscle|don't move a muscle|nobody move|hold still|stand still|"
    "keep still|emergency|wait|hold on|hold it|stay|stay still|stay where you are|whoa|enough|that is enough|"
    "that's enough|cancel|cancel it|cancel that|cancel everything|abort mission|shut it down|turn it off|"
    "turn the robot off|switch it off|switch the robot off|kill switch|kill it|do not go|don't go|"
    "don't drive|do not drive|"
    "住手|别动|不要动|不许动|不准动|别再动|不要再动|定住|打住|等一下|等等|等一等|慢着|且慢|取消|取消任务|关机|"
    "关掉机器人|关闭机器人|别走|别开|别跑|不要走|不要开"
)
_ROBOT: Final = (
    "robot|robots|bot|bots|arm|arms|cart|carts|rover|rovers|vehicle|vehicles|car|cars|truck|trucks|forklift|forklifts|"
    "dog|dogs|drone|drones|humanoid|quadruped|manipulator|machine|machines|platform|base|gripper|grippers|hand|hands|"
    "finger|fingers|wrist|elbow|shoulder|leg|legs|foot|feet|wheel|wheels|joint|joints|motor|motors|engine|engines|"
    "body|head|tool|system|thing|one|ones|it|that|this|them|him|her|they|you|yourself|everything|everyone|everybody|"
    "all|both|all of them|all of you|both of them|each of them|"
    "motion|motions|movement|movements|moving|driving|walking|running|rolling|turning|spinning|rotating|going|"
    "navigating|flying|working|acting|waving|lifting|lowering|reaching|grasping|gripping|pushing|pulling|sliding|"
    "swinging|reversing|accelerating|travelling|traveling|action|actions|work|job|jobs|task|tasks|mission|missions|"
    "what you are doing|what you're doing|whatever you are doing|whatever you're doing|doing that|doing this|doing it|"
    "what it is doing|what it's doing|"
    "机器人|机器|机器狗|小车|车|车子|推车|叉车|无人机|机械臂|机械手|手臂|胳膊|手|夹爪|腿|轮子|车轮|底盘|关节|电机|马达|"
    "它|它们|他|她|他们|你|你们|大家|全部|一切|全体|运动|移动|动作|行驶|驾驶|开车|行走|行动|前进|后退|转动|旋转|转弯|工作|"
    "任务|作业|走|跑|动"
)
_BEFORE_ROBOT: Final = (
    "the|this|that|these|those|your|its|my|our|all|every|each|any|both|of|number|whole|entire|other|damn|damned|"
    "fucking|bloody|stupid|s|一切|所有|全部|的|这|那|个|台|辆|只|两"
)
_AND: Final = "and|&|和|跟|与"
# Where, when, and manners: they change nothing.
_MANNERS: Final = (
    "please|pls|just|hey|hi|hello|yo|now|oh|ah|ow|ouch|ugh|argh|ok|okay|yes|yeah|well|so|but|sir|buddy|mate|dude|guys|"
    "help|help me|careful|be careful|watch out|look out|danger|quick|quickly|fast|hurry|hurry up|come on|listen|right|"
    "i said|i say|i beg you|i repeat|thanks|thank you|immediately|instantly|at once|right now|right away|straight away|"
    "already|asap|as soon as possible|this instant|this second|this minute|right this second|completely|fully|again|"
    "for now|for a moment|for a second|for a minute|for a sec|a moment|a second|a minute|a sec|a bit|here|there|"
    "right here|right there|where you are|where it is|will you|would you|could you|can you|if you please|or else|"
    "god|my god|oh my god|omg|gosh|jesus|jesus christ|christ|heavens|damn|damn it|dammit|goddamn|goddammit|fuck|"
    "fucking|bloody|hell|bloody hell|for god's sake|for goodness sake|for goodness' sake|for heaven's sake|"
    "for heavens sake|for gods sake|for christ's sake|for pete's sake|for fuck's sake|for the love of god|man|boy|"
    "请|快|快点|赶快|赶紧|现在|马上|立刻|立即|先|都|给我|拜托|麻烦|求你|求求你|求你了|天哪|天啊|我说|喂|嘿|哎|哎呀|啊|呀|吧|"
    "了|来|嘛|呢|哦|好了|行了|够了|小心|危险|谢谢|谢谢你|好吗|行吗|可以吗|好不好|行不行|可不可以|能不能|在这里|在这儿|在原地|"
    "在那里|在那儿|一下|会儿|一会儿"
)
# Manners that ask for a stop which is still to be said.
_ASKING: Final = (
    "no|nope|you|can|could|please to|you can|you may|you should|you must|you have to|you need to|you had better|"
    "you'd better|must|should|has to|have to|needs to|need to|i want|i need|i would like|i'd like|to|make|have|let|"
    "let's|tell|get|能|可以|帮我|帮忙|让|叫|把|将|使|要|必须|应该|得"
)
_DIRECTIONS: Final = (
    "forward|forwards|backward|backwards|back|around|about|away|left|right|up|down|on|along|toward me|towards me|"
    "at me|into me|to me|off|out"
)
_DEPENDS: Final = re.compile(
    r"\b(?:if|unless|when|whenever|(?<!at )once|until|till|after|before|while|as soon as you)\b"
    r"|如果|要是|假如|若|一旦|[时后前]候?(?=[，,就再]|$)|直到|等(?![等一])"
)
_ASKED: Final = re.compile(r"(?:should|must|has|have|need)\b[^?？]*[?？][\s!?！？]*")  # "must it stop?"
_PAUSES: Final = re.compile(r"[.,;!?…。，！；？、\n—–]+")
_TOKEN: Final = re.compile(r"[\u4e00-\u9fff]|&|(?:(?![\u4e00-\u9fff])[^\W_]|(?<=[^\W\u4e00-\u9fff])'(?=\w))+")
_STOP_WORD: Final = re.compile(
    r"\b(?:stop|stops|stoping|halt|halts|halting|freze|frezing|pause|abort|cease|estop|quit|brake|cancel)\b|停|刹车|别动|站住|住手"
)
_SIGNS: Final = frozenset("🛑⛔✋")
_TRADITIONAL: Final = str.maketrans("來緊別動許馬機運趕現請準終務關閉車給", "来紧别动许马机运赶现请准终务关闭车给")
# "stop franka_001", of whatever home it is
_NUMBERED: Final = re.compile(
    r"(?:stop|halt|freeze|pause)(?: (?!(?:at|in|after|before|for|on|when|to|by)\b)[a-z0-9]+){0,5} [a-z]*\d+"
)

_Phrase = tuple[str, ...]
# How much of a stop has been said: nothing; a stop; a stop and a word that needs another; only a word such as "wait";
# that and "and".
_NOTHING, _STOPPED, _OPEN, _WAITING, _MORE = range(5)
_KINDS: Final = {
    "stop": {_NOTHING: _STOPPED, _STOPPED: _STOPPED, _OPEN: _STOPPED, _WAITING: _STOPPED, _MORE: _STOPPED},
    "other stop": {_NOTHING: _WAITING, _STOPPED: _STOPPED, _OPEN: _STOPPED, _WAITING: _WAITING, _MORE: _WAITING},
    "robot": {_NOTHING: _NOTHING, _STOPPED: _STOPPED, _OPEN: _STOPPED},
    "name": {_NOTHING: _NOTHING, _STOPPED: _STOPPED, _OPEN: _STOPPED, _WAITING: _WAITING},
    "before robot": {_NOTHING: _NOTHING, _STOPPED: _OPEN, _OPEN: _OPEN},
    "and": {_NOTHING: _NOTHING, _STOPPED: _OPEN, _WAITING: _MORE},
    "manners": {_NOTHING: _NOTHING, _STOPPED: _STOPPED, _WAITING: _WAITING},
    "asking": {_NOTHING: _NOTHING, _STOPPED: _NOTHING, _WAITING: _NOTHING},
    "direction": {_STOPPED: _STOPPED},
}


def is_stop(text: str, names: Callable[[], Iterable[str]] = tuple) -> bool:
    """Does the whole text say stop, however it is spelled, shouted or repeated? `names`: of this home's
    robots, asked for only where they may decide it.

    "stop!", "STOP STOP STOP", "please stop.", "stop the wheels", "停！停！" do, and "let go of me, stop"; "stop the
    music", "put it next to the stop sign", "don't stop" do not.
    """
    if len(text) > LONGEST:
        return False
    if text.strip() and set("".join(text.split())) <= _SIGNS:
        return True
    plain = _plain(text)
    if _ASKED.fullmatch(plain.strip()):
        return False
    if _reads_as_stop(plain, []):
        return True
    if not has_stop_word(text):
        return False
    return _reads_as_stop(plain, [phrase for name in names() if (phrase := _tokens(_plain(name)))])


def _reads_as_stop(plain: str, named: list[_Phrase]) -> bool:
    if _says_stop(plain, named) or _NUMBERED.fullmatch(" ".join(_tokens(plain))):
        return True
    parts = [part for part in _PAUSES.split(plain) if part.strip()]
    if len(parts) < 2 or _DEPENDS.search(plain) or plain.rstrip().endswith(("?", "？")):
        return False
    asked = _PAUSES.findall(plain.strip())[:1] in (["?"], ["？"])
    ends = [parts[n:] for n in range(1, len(parts))] + [parts[:n] for n in range(1, len(parts)) if not asked]
    return any(_says_stop(", ".join(end), named, (_STOPPED,)) for end in ends)


def has_stop_word(text: str) -> bool:
    """Is there a word for stop anywhere in it?"""
    plain = _plain(text[: 2 * LONGEST])
    return not _SIGNS.isdisjoint(plain) or bool(_STOP_WORD.search(" ".join(_tokens(plain))))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'").translate(_TRADITIONAL)


def _tokens(plain: str) -> _Phrase:
    """Words, and each Chinese sign by itself. Each repeated letter once: "stooopp" as "stop"."""
    found: list[str] = []
    for word in _TOKEN.findall(re.sub(r"([a-z])\1+", r"\1", plain)):
        found += [word[:-2], "s"] if word.endswith("'s") and word not in _WHOLE else [word]
    return tuple(found)


_WHOLE: Final = frozenset(("that's", "let's", "it's", "god's", "heaven's", "christ's", "pete's", "fuck's"))


def _phrases(words: str) -> list[_Phrase]:
    return [_tokens(phrase) for phrase in words.split("|")]


_VOCABULARY: Final = {
    "stop": _phrases(_STOP),
    "other stop": _phrases(_OTHER_STOP),
    "robot": _phrases(_ROBOT),
    "name": [("robot",), ("robots",), ("机", "器", "人")],
    "before robot": _phrases(_BEFORE_ROBOT),
    "and": _phrases(_AND),
    "manners": _phrases(_MANNERS),
    "asking": _phrases(_ASKING),
    "direction": _phrases(_DIRECTIONS),
}
_BY_FIRST: Final[dict[str, list[tuple[_Phrase, str]]]] = {}
for _kind, _said in _VOCABULARY.items():
    for _phrase in _said:
        _BY_FIRST.setdefault(_phrase[0], []).append((_phrase, _kind))


def _says_stop(plain: str, names: list[_Phrase], ends: tuple[int, ...] = (_STOPPED, _WAITING)) -> bool:
    tokens = _tokens(plain)
    if tokens[-1:] == ("吗",) and {"能", "以"} & {*tokens}:  # 能停一下吗
        tokens = tokens[:-1]
    return _reaches(tokens, names, ends) or _reaches(_tokens("".join(tokens)), names, ends)  # s t o p


def _reaches(tokens: _Phrase, names: list[_Phrase], ends: tuple[int, ...]) -> bool:
    """Every way to read the words at once: what has been said of a stop, at each place between two of them."""
    at: list[set[int]] = [set() for _ in range(len(tokens) + 1)]
    at[0] = {_NOTHING}
    for n, token in enumerate(tokens):
        if not at[n]:
            continue
        for phrase, kind in (*_BY_FIRST.get(token, ()), *((name, "name") for name in names)):
            if tokens[n : n + len(phrase)] == phrase:
                at[n + len(phrase)] |= {_KINDS[kind][state] for state in at[n] if state in _KINDS[kind]}
        if token.isdecimal():  # robot 2
            at[n + 1] |= {_STOPPED} & at[n] | ({_STOPPED} if _OPEN in at[n] else set())
    return bool(at[-1] & {*ends})
