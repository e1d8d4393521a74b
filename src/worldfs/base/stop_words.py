"""The words that stop a robot. They are checked before any planning, in a chat as on the command line.

A text says stop if each of its words has a part in that: a word for stop, or a negation and a verb of motion without an
object; the robot or its motion; or manners.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Final

LONGEST: Final = 400  # characters: a longer text is no stop command

# What may have an object: the robot, a part of it, its motion.
_STOP: Final = (
    "stop|sotp|stpo|tsop|stp|halt|freeze|pause|abort|cease|quit|emergency stop|emergency halt|e stop|estop|brake|"
    "would you mind stopping|do you mind stopping|would you mind halting|"
    "hit the brakes|disable|deactivate|shut down|shutdown|shut off|turn off|switch off|power off|power down|kill|"
    "停|停下|停下来|停止|停住|停一下|停一停|停手|停机|停车|停掉|急停|紧急停|紧急停止|紧急停机|刹车|急刹车|急刹|刹住|暂停|中止|终止|站住"
)
_OTHER_STOP: Final = (
    "hold up|stand down|"
    "nobody move|hold|hold still|stand still|keep still|emergency|wait|wait for me|wait for us|hold on|hold it|"
    "hold everything|hold position|hold your position|stay|stay put|stay still|stay where you are|whoa|enough|"
    "that is enough|that's enough|far enough|that's far enough|cancel|cancel it|cancel that|cancel everything|"
    "abort mission|shut it down|turn it off|turn the robot off|switch it off|switch the robot off|kill switch|kill it|"
    "suspend|interrupt|terminate|desist|cease and desist|stand by|standby|time out|timeout|brakes|hang on|woah|"
    "cut it out|knock it off|end it|hands off|hands off me|back off|get off|get off me|get off my foot|get off my hand|"
    "let go of me|let go of my hand|let go of my arm|let go of my finger|let go of my fingers|let me go|"
    "shut it off|switch yourself off|turn yourself off|shut yourself down|cut the power|cut power|kill the power|"
    "power off the robot|pull the plug|ouch|you are hurting me|you're hurting me|it is hurting me|it's hurting me|"
    "it hurts|that hurts|mayday|"
    "put a stop to it|put a stop to this|put an end to it|put an end to this|"
    "稍等|稍等一下|稍候|等会|等会儿|等一会|等一会儿|等一下再走|等会再走|等会儿再走|等等再走|等一等再走|稍等再走|"
    "住手|定住|打住|等一下|等等|等一等|等我|等等我|等我一下|慢着|且慢|取消|取消任务|关机|关掉机器人|关闭机器人|"
    "站着别动|立正别动|立正不动|站好别动|站好不动|站着不动|原地不动|原地别动|停在原地|够了|算了|到此为止|罢手|收手|待在原地|呆在原地|放开我|松开我|放手|撒手|松手|别压我|压到我了|压着我了|压到我的手了|"
    "夹住我了|夹到我了|夹着我了|夹到手了|夹住手了|撞人了|撞到人了|撞到我了|关掉|断电|关电源|切断电源|救命|好疼"
)
# A negation, and what may stand between it and the verb of motion.
_NOT: Final = (
    "do not|don't|dont|must not|mustn't|should not|shouldn't|shall not|never|not to|don't you|don't you dare|"
    "i don't want you to|i do not want you to|i don't want it to|i do not want it to|"
    "别|不要|不许|不准|不得|不可|切勿|勿|请勿|莫|休要|甭|禁止|千万别|可别|再也别|再也不要|我不要你|我不想让你|"
    "一步也别|一步都别|一步也不要|一步都不要|一步也不许|一步都不许"
)
_KEEP: Final = (
    "keep|keep on|go on|carry on|continue|continue to|ever|even|try to|dare|dare to|start|"
    "再|继续|接着|还|一直|乱|到处|往前|向前|朝前|往后|向后|朝后|往这边|往那边|往我这边|向我|朝我"
)
_GO: Final = (
    "move|go|drive|walk|run|roll|turn|spin|rotate|fly|travel|advance|proceed|continue|carry on|go on|go ahead|move on|"
    "drive on|walk on|press on|come|come near me|come closer to me|approach|approach me|budge|stir|creep|crawl|slide|"
    "swing|reverse|back up|act|work|"
    "动|动弹|走|走动|去|来|开|跑|飞|转|滚|爬|挪|挪动|进|冲|干|做|弄|搞|干活|做事|继续|前行|行进|靠近|靠近我|倒车|过来|"
    "过去|走过来|开过来|跑过来|靠过来|走过去|开过去|往前|向前"
)
# How far, after the verb. It makes no object of it.
_FURTHER: Final = (
    "further|any further|farther|any farther|any more|anymore|any longer|closer|any closer|nearer|any nearer|"
    "one more step|another step|a single step|a step|an inch|another inch|one inch|one more inch|a muscle|a bit|"
    "at all|forward|forwards|ahead|backward|backwards|away|toward me|towards me|at me|into me|to me|near me|"
    "一步|半步|下去|前|近"
)
_LESS: Final = "no|no more|not any|not another|not one|not one more|not a|not an|not a single"
_TAKE: Final = "take a|take another|take one more|make a|make another|make one more"
_STEP: Final = "step|steps|step further|steps further|inch|inches|inch further|further|farther|move|moves"
_BRING: Final = "bring|come|grind|slow"
_TO_A_STOP: Final = (
    "to a stop|to a halt|to a standstill|to a full stop|to a complete stop|to a complete halt|to a complete standstill"
)
_KEEP_FROM: Final = "keep|prevent"
# Where a motion goes, after a word for stop: "stop driving to the door".
_TOWARD: Final = (
    "to|toward|towards|into|onto|through|past|along|across|over to|up to|out of|往|向|朝|去|到|前往|开往|驶向|走向|"
    "跑向|开向|飞向"
)
_CEASE: Final = "停止|中止|终止"
_ROBOT: Final = (
    "robot|robots|bot|bots|arm|arms|cart|carts|rover|rovers|vehicle|vehicles|car|cars|truck|trucks|forklift|forklifts|"
    "dog|dogs|drone|drones|humanoid|quadruped|manipulator|machine|machines|platform|base|gripper|grippers|hand|hands|"
    "finger|fingers|wrist|elbow|shoulder|leg|legs|foot|feet|wheel|wheels|joint|joints|motor|motors|engine|engines|"
    "body|head|tool|system|thing|one|ones|it|that|this|them|him|her|they|you|yourself|everything|everyone|everybody|"
    "all|both|all of them|all of you|both of them|each of them|"
    "action|actions|work|job|jobs|task|tasks|mission|missions|"
    "what you are doing|what you're doing|whatever you are doing|whatever you're doing|doing that|doing this|doing it|"
    "what it is doing|what it's doing|what they are doing|what they're doing|whatever it is you are doing|"
    "whatever it is you're doing|all you are doing|all you're doing|"
    "机器人|机器|机器狗|小车|车|车子|推车|叉车|无人机|机械臂|机械手|手臂|胳膊|手|夹爪|腿|轮子|车轮|底盘|关节|电机|马达|"
    "它|它们|他|她|他们|你|你们|大家|全部|一切|全体|工作|任务|作业|"
    "正在做的事|正在做的事情|正在做的|正在干的事|正在干的|在做的事|在做的事情|手上的事|手头的事|手里的事|手上的工作|手头的工作|手里的工作|手上的活|手头的活|手里的活"
)
_MOTION: Final = (
    "motion|motions|movement|movements|moving|driving|walking|running|rolling|turning|spinning|rotating|going|"
    "navigating|flying|working|acting|waving|lifting|lowering|reaching|grasping|gripping|pushing|pulling|sliding|"
    "swinging|reversing|accelerating|travelling|traveling|advancing|approaching|coming|heading|proceeding|"
    "运动|移动|动作|行驶|驾驶|开车|行走|行动|前进|后退|转动|旋转|转弯|运行|运转|走|跑|动"
)
_BEFORE_ROBOT: Final = (
    "the|this|that|these|those|your|its|my|our|all|every|each|any|both|of|number|whole|entire|other|damn|damned|"
    "fucking|bloody|stupid|s|一切|所有|全部|的|这|那|几|个|台|辆|只|两|每|些|各"
)
_AND: Final = "and|&|和|跟|与"
# Where, when, and manners: they change nothing.
_MANNERS: Final = (
    "and listen|and listen to me|and listen to us|and listen up|and pay attention|and look at me|and look at us|"
    "plz|rn|alright|all right|too|as well|also|altogether|entirely|totally|with that|with this|with it|"
    "please|pls|just|hey|hi|hello|yo|now|oh|ah|ow|ouch|ugh|argh|ok|okay|yes|yeah|well|so|but|sir|buddy|mate|dude|guys|"
    "help|help me|careful|be careful|watch out|look out|danger|quick|quickly|fast|hurry|hurry up|come on|listen|right|"
    "i said|i say|i beg you|i repeat|thanks|thank you|immediately|instantly|at once|right now|right away|straight away|"
    "already|asap|as soon as possible|this instant|this second|this minute|right this second|completely|fully|again|"
    "for now|for a moment|for a second|for a minute|for a sec|a moment|a second|a minute|a sec|a bit|here|there|"
    "right here|right there|where you are|where it is|will you|would you|could you|can you|if you please|or else|"
    "god|my god|oh my god|omg|gosh|jesus|jesus christ|christ|heavens|damn|damn it|dammit|goddamn|goddammit|fuck|"
    "there is a child|there's a child|there is a person|there's a person|there is someone|there's someone|"
    "someone is there|someone is in the way|somebody is in the way|a child is in the way|you idiot|you stupid thing|"
    "fucking|bloody|hell|bloody hell|for god's sake|for goodness sake|for goodness' sake|for heaven's sake|"
    "for heavens sake|for gods sake|for christ's sake|for pete's sake|for fuck's sake|for the love of god|man|boy|"
    "立马|就|在这|在那|请|快|快点|赶快|赶紧|现在|马上|立刻|立即|先|都|全|全都|给我|拜托|麻烦|求你|求求你|求你了|天哪|天啊|我说|喂|嘿|哎|哎呀|啊|呀|吧|"
    "了|来|嘛|呢|哦|好了|行了|够了|小心|危险|谢谢|谢谢你|好吗|行吗|可以吗|好不好|行不行|可不可以|能不能|在这里|在这儿|在原地|"
    "在那里|在那儿|一下|会儿|一会儿|有人|前面有人|有小孩|有孩子|前面有小孩|原地|着"
)
# Manners that ask for a stop which is still to be said.
_ASKING: Final = (
    "drop everything|drop everything and|drop what you are doing and|drop what you're doing and|leave it and|"
    "leave that and|leave everything and|forget it and|forget that and|forget everything and|"
    "i think|i believe|i guess|maybe|perhaps|we should|we must|we have to|we need to|"
    "no|nope|you|can|could|please to|you can|you may|you should|you must|you have to|you need to|you had better|"
    "you'd better|must|should|has to|have to|needs to|need to|i want|i need|i would like|i'd like|to|make|have|let|"
    "let's|tell|get|i told you|i asked you|why don't you|why won't you|why can't you|"
    "can't you|cannot you|couldn't you|won't you|aren't you going to|are you not going to|didn't i say|did i not say|"
    "didn't i tell you to|why aren't you|someone|somebody|anyone|"
    "能|可以|帮我|帮忙|让|叫|把|将|使|要|必须|应该|得"
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
    r"\b(?:stop|stops|stoped|stoping|halt|halts|halting|freze|frezing|pause|abort|cease|estop|quit|brake|cancel)\b|停|刹车|别动|站住|住手",
    re.ASCII,  # a Chinese sign beside a word is its border
)
_FORBIDS: Final = re.compile(
    r"\b(?:no|not|never|don't|dont|wait|hold|stay|enough|bring|keep)\b|[别勿莫甭]|不[要许准得可]|禁止|等|取消",
    re.ASCII,
)
# Why, or until when, after a stop: "stop or you will hit me", "stop there's a child", "stop until I say so".
_REASON: Final = re.compile(
    r"\b(?:because|or (?:you|i|it|we|he|she|they|someone|somebody|else)\b|since (?:you|i|it|we|he|she|they|there)\b|"
    r"before (?:you|i|it|we|he|she|they|someone|somebody|anyone)\b|until (?:i|we|further notice|told|you are told)\b|"
    r"there(?:'s| is| are)\b|(?:you|i|it|we|he|she|they)(?:'s|'re|'m|'ll| is| are| am| will| have| has)\b)"
)
_SHOUTED_NO: Final = re.compile(r"(?=.*!)[\s,.]*(?:(?:no+|不|不要|不行)[\s,.!，。]*)+")  # "no!"
_MISSPELT: Final = ("stop", "halt", "cancel", "abort", "pause")
# Words of their own, each one letter away from a word for stop.
_WELL_SPELT: Final = frozenset((
    "step", "shop", "slop", "stow", "atop", "top", "tops", "strop", "swop", "stops", "half", "hall", "hale", "halo",
    "hal", "hat", "hart", "haft", "haunt", "malt", "salt", "shalt", "halts", "haul", "cancer", "cancels", "about",
    "aborts", "cause", "pauses", "paused", "clause",
))  # fmt: skip
_SIGNS: Final = frozenset("🛑⛔✋")
_TRADITIONAL: Final = str.maketrans("來緊別動許馬機運趕現請準終務關閉車給", "来紧别动许马机运赶现请准终务关闭车给")
# "stop franka_001", of whatever home it is
_NUMBERED: Final = re.compile(
    r"(?:stop|halt|freeze|pause)(?: (?!(?:at|in|after|before|for|on|when|to|by)\b)[a-z0-9]+){0,5} [a-z]*\d+"
)

_Phrase = tuple[str, ...]
# How much of a stop has been said: nothing; a stop; a stop and a word that needs another; only a word such as "wait";
# that and "and"; a stop of a motion; a stop and "from"; "bring"; a negation; a negation and its verb; "not another"; a
# stop and a negation; "go", of "go no further"; a stop of a motion and "to"; the words of a place, at most so many.
(
    _NOTHING, _STOPPED, _OPEN, _WAITING, _MORE, _MOVING, _FROM, _BROUGHT, _REFUSED, _HALTED, _LESSENED, _STILL, _GOES,
    _TOWARDS,
) = range(14)  # fmt: skip
_PLACES: Final = range(_TOWARDS + 1, _TOWARDS + 7)
_CERTAIN: Final = frozenset((_STOPPED, _MOVING, *_PLACES))
_ENDS: Final = _CERTAIN | {_WAITING, _HALTED}
_ROBOT_NAMED: Final = {
    _NOTHING: _NOTHING, _STOPPED: _STOPPED, _OPEN: _STOPPED, _MOVING: _MOVING, _BROUGHT: _BROUGHT,
}  # fmt: skip
_SAID: Final = (_NOTHING, *sorted(_ENDS))
_KINDS: Final[dict[str, dict[int, int]]] = {
    "stop": dict.fromkeys((*_SAID, _OPEN, _MORE), _STOPPED),
    "cease": dict.fromkeys((*_SAID, _OPEN, _MORE), _MOVING),
    "other stop": {
        **dict.fromkeys((*_CERTAIN, _OPEN), _STOPPED),
        **dict.fromkeys((_NOTHING, _WAITING, _HALTED, _MORE), _WAITING),
    },
    "robot": _ROBOT_NAMED,
    "motion": {
        **dict.fromkeys((_STOPPED, _OPEN, _MOVING, _FROM, _STILL), _MOVING),
        **dict.fromkeys((_REFUSED, _LESSENED), _HALTED),
        _NOTHING: _NOTHING,
    },
    "name": {**_ROBOT_NAMED, _WAITING: _WAITING, _HALTED: _HALTED},
    "before robot": {
        _NOTHING: _NOTHING, _STOPPED: _OPEN, _OPEN: _OPEN, _MOVING: _OPEN, _BROUGHT: _BROUGHT,
    },
    "and": {
        _NOTHING: _NOTHING, _STOPPED: _OPEN, _MOVING: _OPEN, **dict.fromkeys((_WAITING, _HALTED, *_PLACES), _MORE),
    },
    "manners": {state: state for state in _SAID},
    "asking": dict.fromkeys(_SAID, _NOTHING),
    "direction": {_STOPPED: _STOPPED, _MOVING: _MOVING},
    "not": {
        **dict.fromkeys((_NOTHING, _WAITING, _HALTED, _MORE), _REFUSED),
        **dict.fromkeys((*_CERTAIN, _OPEN), _STILL),
    },
    "keep": {_REFUSED: _REFUSED, _STILL: _STILL},
    "go": {_NOTHING: _GOES, _REFUSED: _HALTED, _STILL: _MOVING},
    "further": {_HALTED: _HALTED, _MOVING: _MOVING},
    "less": {
        **dict.fromkeys((_NOTHING, _WAITING, _HALTED, _MORE, _GOES), _LESSENED),
        **dict.fromkeys((*_CERTAIN, _OPEN), _STILL),
    },
    "take": {_REFUSED: _LESSENED, _STILL: _STILL},
    "step": {_LESSENED: _HALTED, _STILL: _MOVING},
    "bring": {_NOTHING: _BROUGHT},
    "keep from": {_NOTHING: _BROUGHT},
    "to a stop": {_BROUGHT: _STOPPED},
    "from": {_STOPPED: _FROM, _BROUGHT: _FROM},
    "toward": {_MOVING: _TOWARDS},
}  # fmt: skip


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
    words = _tokens(plain)
    if _SHOUTED_NO.fullmatch(plain) or (len(words) == 1 and _is_misspelt(words[0])) or _reads_as_stop(plain, []):
        return True
    if not has_stop_word(text) and not _FORBIDS.search(plain):
        return False
    called = (phrase for name in names() if (phrase := _tokens(_plain(name))))
    return _reads_as_stop(plain, [phrase for name in called for phrase in _words_of(name)])


def _words_of(name: _Phrase) -> list[_Phrase]:
    """What a robot is called: by its name and, of one that is numbered, by the word before the number, one or more."""
    if len(name) < 2 or not name[-1].isdecimal():
        return [name]
    word = name[:-1]
    return [name, word, (*word[:-1], f"{word[-1]}s")]


def _is_misspelt(word: str) -> bool:
    """Whether one letter is missing, added, wrong or at its neighbour's place in a word for stop."""
    if word in _WELL_SPELT or not word.isascii():
        return False
    return any(_differs_by_one(word, right) for right in _MISSPELT)


def _differs_by_one(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    same = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[same:] == long[same + 1 :]
    swapped = short[same : same + 2] == long[same : same + 2][::-1]
    return short[same + 1 :] == long[same + 1 :] or (swapped and short[same + 2 :] == long[same + 2 :])


def _reads_as_stop(plain: str, named: list[_Phrase]) -> bool:
    reason = _REASON.search(plain)
    said = plain if reason is None or "then" in _tokens(plain[reason.end() :]) else plain[: reason.start()]
    if said != plain and _says_stop(said, named, _CERTAIN):
        return True
    if _says_stop(plain, named) or _NUMBERED.fullmatch(" ".join(_tokens(plain))):
        return True
    parts = [part for part in _PAUSES.split(plain) if part.strip()]
    if len(parts) < 2 or _DEPENDS.search(plain) or plain.rstrip().endswith(("?", "？")):
        return False
    asked = _PAUSES.findall(plain.strip())[:1] in (["?"], ["？"])
    ends = [parts[n:] for n in range(1, len(parts))] + [parts[:n] for n in range(1, len(parts)) if not asked]
    return any(_says_stop(", ".join(end), named, _CERTAIN) for end in ends)


def stops_others(text: str, node: str, names: Callable[[], Iterable[str]]) -> bool:
    """May a text that says stop, given for that robot, mean another one too? True where the names cannot be known.

    For wa: "stop", "stop the cart" and "wa, stop" do not; "stop wb", "stop all", "stop robot 2" do.
    """
    tokens, own = _tokens(_plain(text)), _tokens(_plain(node))
    rest = _without(tokens, own)
    if any(_has(rest, phrase) for phrase in _SEVERAL) or any(token.isdecimal() for token in rest):
        return True
    if _reaches(tuple(token for token in tokens if token not in _BARE), [own], _ENDS, _MAY_NAME):
        return False  # no word is left that may be a name: nothing need be asked before the stop
    known = {name: _tokens(_plain(name)) for name in names()}
    if node not in known or not _says_stop(_plain(text), [own]):
        return True
    return any(_has(rest if _has(own, phrase) else tokens, phrase) for name, phrase in known.items() if name != node)


def _has(tokens: _Phrase, phrase: _Phrase) -> bool:
    return any(tokens[n : n + len(phrase)] == phrase for n in range(len(tokens) - len(phrase) + 1))


def _without(tokens: _Phrase, phrase: _Phrase) -> _Phrase:
    n = 0
    left: list[str] = []
    while n < len(tokens):
        found = bool(phrase) and tokens[n : n + len(phrase)] == phrase
        left += [] if found else [tokens[n]]
        n += len(phrase) if found else 1
    return tuple(left)


def has_stop_word(text: str) -> bool:
    """Is there a word for stop anywhere in it?"""
    plain = _plain(text[: 2 * LONGEST])
    words = _tokens(plain)
    misspelt = bool(words) and _is_misspelt(words[0])
    return misspelt or not _SIGNS.isdisjoint(plain) or bool(_STOP_WORD.search(" ".join(words)))


def may_be_about_stopping(text: str) -> bool:
    """Has it a word for stop, or one that forbids? Then it is read before what else waits for the robot."""
    return has_stop_word(text) or bool(_FORBIDS.search(_plain(text[: 2 * LONGEST])))


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


_NO_PLACE: Final = frozenset(
    _tokens(
        "and then or but instead if when whenever once until till after before while unless in on at for by with again "
        "并然再就如等时后把拿取抓放收送端搬"
    )
)
# Words that name more robots than one.
_SEVERAL: Final = _phrases(
    "robots|bots|arms|carts|rovers|vehicles|cars|trucks|forklifts|dogs|drones|machines|ones|them|they|all|both|each|"
    "every|everything|everyone|everybody|nobody|any robot|any of|other|guys|们|大家|都|全|一切|所有|两|几|每|些|各"
)
_BARE: Final = frozenset(("please", "now", "imediately", *"请快了吧"))
_MAY_NAME: Final = frozenset(("robot", "motion", "name", "before robot", "manners", "asking", "toward"))
_VOCABULARY: Final = {
    "stop": _phrases(_STOP),
    "other stop": _phrases(_OTHER_STOP),
    "robot": _phrases(_ROBOT),
    "name": _phrases("robot|robots|机器人"),
    "before robot": _phrases(_BEFORE_ROBOT),
    "and": _phrases(_AND),
    "manners": _phrases(_MANNERS),
    "asking": _phrases(_ASKING),
    "direction": _phrases(_DIRECTIONS),
    "motion": _phrases(_MOTION),
    "cease": _phrases(_CEASE),
    "not": _phrases(_NOT),
    "keep": _phrases(_KEEP),
    "go": _phrases(_GO),
    "further": _phrases(_FURTHER),
    "less": _phrases(_LESS),
    "take": _phrases(_TAKE),
    "step": _phrases(_STEP),
    "bring": _phrases(_BRING),
    "keep from": _phrases(_KEEP_FROM),
    "to a stop": _phrases(_TO_A_STOP),
    "from": _phrases("from"),
    "toward": _phrases(_TOWARD),
}
_BY_FIRST: Final[dict[str, list[tuple[_Phrase, str]]]] = {}
for _kind, _said in _VOCABULARY.items():
    for _phrase in _said:
        _BY_FIRST.setdefault(_phrase[0], []).append((_phrase, _kind))


def _says_stop(plain: str, names: list[_Phrase], ends: frozenset[int] = _ENDS) -> bool:
    tokens = _tokens(_NO_NEED.sub("needless", _NO.sub("nope", plain)))
    if tokens[-1:] == ("吗",) and {"能", "以"} & {*tokens}:  # 能停一下吗
        tokens = tokens[:-1]
    return _reaches(tokens, names, ends) or _reaches(_tokens("".join(tokens)), names, ends)  # s t o p


_NO: Final = re.compile(r"\bno(?=\s*[,.;!?])")  # "no, further" forbids nothing
_NO_NEED: Final = re.compile(r"\bno need\b")  # of a stop: it asks for none


def _reaches(
    tokens: _Phrase, names: list[_Phrase], ends: frozenset[int], left_out: frozenset[str] = frozenset()
) -> bool:
    """Every way to read the words at once: what has been said of a stop, at each place between two of them."""
    at: list[set[int]] = [set() for _ in range(len(tokens) + 1)]
    at[0] = {_NOTHING}
    for n, token in enumerate(tokens):
        if not at[n]:
            continue
        known = [(phrase, kind) for phrase, kind in _BY_FIRST.get(token, ()) if kind not in left_out]
        for phrase, kind in (*known, *((name, "name") for name in names)):
            if tokens[n : n + len(phrase)] == phrase:
                at[n + len(phrase)] |= {_KINDS[kind][state] for state in at[n] if state in _KINDS[kind]}
        if token.isdecimal():  # robot 2
            at[n + 1] |= {_STOPPED} & at[n] | ({_STOPPED} if _OPEN in at[n] else set())
        elif token not in _NO_PLACE:
            at[n + 1] |= {state + 1 for state in at[n] if state + 1 in _PLACES}
    return bool(at[-1] & ends)
