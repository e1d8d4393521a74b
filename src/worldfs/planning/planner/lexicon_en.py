"""The lexicon: tables of words in English and Chinese, and what each stands for. No word outside them is guessed at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from worldfs.base.name_parts import DESCRIBING

from . import english_manners

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
    "fig": (("fruit",), "fig", "无花果"),
    "apricot": (("fruit",), "apricot", "杏子"),
    "cherry": (("fruit",), "cherry", "樱桃"),
    "mango": (("fruit",), "mango", "芒果"),
    "melon": (("fruit",), "melon", "甜瓜"),
    "watermelon": (("fruit",), "watermelon", "西瓜"),
    "kiwi": (("fruit",), "kiwi", "猕猴桃 奇异果"),
    "pineapple": (("fruit",), "pineapple", "菠萝 凤梨"),
    "grapefruit": (("fruit",), "grapefruit", "西柚"),
    "nectarine": (("fruit",), "nectarine", "油桃"),
    "tangerine": (("fruit",), "tangerine mandarin clementine", "柑橘"),
    "raspberry": (("fruit",), "raspberry", "树莓"),
    "blueberry": (("fruit",), "blueberry", "蓝莓"),
    "papaya": (("fruit",), "papaya", "木瓜"),
    "grape": (("fruit",), "grape", "葡萄 提子"),
    "persimmon": (("fruit",), "persimmon", "柿子"),
    "lychee": (("fruit",), "lychee litchi", "荔枝"),
    "longan": (("fruit",), "longan", "龙眼"),
    "pomegranate": (("fruit",), "pomegranate", "石榴"),
    "pomelo": (("fruit",), "pomelo", "柚子"),
    "durian": (("fruit",), "durian", "榴莲"),
    "cantaloupe": (("fruit",), "cantaloupe", "哈密瓜"),
    "pitaya": (("fruit",), "pitaya dragonfruit", "火龙果"),
    "hawthorn": (("fruit",), "hawthorn", "山楂"),
    "jujube": (("fruit",), "jujube", "枣 枣子"),
    "bayberry": (("fruit",), "bayberry", "杨梅"),
    "coconut": (("fruit",), "coconut", "椰子"),
    "avocado": (("fruit",), "avocado", "牛油果"),
    "cranberry": (("fruit",), "cranberry", "蔓越莓"),
    "guava": (("fruit",), "guava", "番石榴"),
    "fruit": ((), "fruit", "水果"),
    "ball": ((), "ball", "球 小球"),
    "sphere": ((), "sphere", "球体"),
    "cube": (("block",), "cube", "方块 立方体"),
    "block": ((), "block", "积木 木块"),
    "brick": ((), "brick", "砖块 砖头 砖"),
    "box": ((), "box", "盒子 箱子"),
    "bar": ((), "bar", "长条 条块 棒"),
    "cylinder": ((), "cylinder", "圆柱 圆柱体"),
    "can": ((), "can tin", "罐子 罐头 易拉罐 可乐罐 汽水罐 罐"),
    "cup": ((), "cup", "杯子 杯"),
    "mug": (("cup",), "mug", "马克杯"),
    "bottle": ((), "bottle", "瓶子 瓶"),
    "bowl": ((), "bowl", "碗"),
    "plate": ((), "plate", "盘子 碟子"),  # a dish may be a bowl
    "spoon": ((), "spoon", "勺子"),
    "fork": ((), "fork", "叉子"),
    "book": ((), "book", "书"),
    "juice": ((), "juice", "果汁 汁"),
    "toy": ((), "toy", "玩具"),
    "tool": ((), "tool", "工具"),
    "basket": (("container",), "basket", "篮子 篮 筐子 筐 果篮"),
    "bin": (("container",), "bin", "箱 垃圾桶 桶"),
    "tray": (("container",), "tray", "托盘"),
    "container": ((), "container", "容器"),
    "sponge": ((), "sponge", "海绵"),
    "cloth": ((), "cloth rag", "抹布"),
    "drawer": ((), "drawer", "抽屉"),
    "chest": (("lid",), "chest", "宝箱"),
    "lid": ((), "lid", "盖子 箱盖 盒盖"),
    "table": ((), "table desk tabletop desktop", "桌子 桌面 餐桌 台面 桌"),
    "shelf": ((), "shelf bookshelf", "架子 书架"),
    "door": ((), "door", "门"),
    "sofa": ((), "sofa couch", "沙发"),
    "fridge": ((), "fridge refrigerator", "冰箱"),
    "carton": ((), "carton", "纸箱"),
    "kitchen": ((), "kitchen", "厨房"),
    "station": (("dock", "charger"), "station", "充电站 充电桩 充电座"),
    "dock": (("charger",), "dock", "充电站 充电桩 充电座"),
    "charger": ((), "charger", "充电器"),
    "floor": ((), "floor ground", "地板 地面 地上"),
}
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
    "gold": ("gold golden", "金色"),
    "brown": ("brown", "棕色 褐色"),
}
# What fills a container, the containers that are called by what fills them ("the milk" is the carton of milk), and
# those that may be meant where there is another.
FILLINGS = _set(
    "milk juice water soup rice sugar salt pepper flour tea coffee oil vinegar wine beer soda cola lemonade honey jam "
    "cereal yogurt yoghurt ketchup mustard mayonnaise sauce syrup butter shampoo soap lotion detergent bleach glue paint"
)
FILLED = _set("carton bottle can jar box bag pack packet tin tube jug pitcher sachet pouch canister flask")
SORTED_BY_COLOUR = FILLINGS | _set(
    "cheese bean beans pea peas onion cabbage bread chocolate meat fish grape grapes berry berries pages polish board card"
)
HOLDING = _set(
    "bowl cup mug glass pot pan dish plate bin bucket barrel keg shaker grinder dispenser crate case tub vat"
)
VESSELS = (FILLED | HOLDING | _set("beaker vial kettle teapot thermos basin sink bathtub vase")) - _set(
    "box bag pack packet sachet pouch plate bin crate case"
)
PACKS = (FILLED - {"flask", "pitcher", "jug"}) | _set("bunch bundle punnet head loaf bar roll sack net")
SAMPLES = _set(
    "sample specimen smear swab drop dose portion slice piece set kit ring bunch"
)  # some of what stands before it
# What things are put away into without more words, and what may be said of it that is not what it is for.
STORAGE = _set(
    "box basket crate tray container chest tote drawer case caddy organizer organiser cabinet cupboard locker"
)
PLAIN = DESCRIBING | _set(
    "storage storing keeping general plain simple wood wooden wicker rattan bamboo plastic metal steel iron wire mesh "
    "cardboard paper woven glass leather fabric felt canvas clear transparent open empty new old round square flat deep "
    "shallow wide narrow light dark middle centre center front back upper lower top bottom first second third"
)
# Uses and places that no colour, side or size before them is said of: a "red lunch box" is red.
USES = _set(
    "sports toy lunch desk kitchen bath bathroom bedroom beach office travel gym tool dish hand work rubber wool cotton "
    "silk nylon velvet denim brass copper aluminium aluminum tin ceramic porcelain clay concrete foam silicone enamel "
    "steel stainless"
)
NO_USES = _set("string spring ceiling wedding pudding building herring earring stuffing dressing icing topping filling")
# Heads of names that people call by the word before: "the remote", of a remote control.
CALLED_BY_FIRST = {
    "control": _set("remote"), "controller": _set("remote game"), "phone": _set("mobile cell"),
    "oven": _set("microwave"), "computer": _set("laptop notebook tablet desktop"), "pen": _set("ballpoint"),
}  # fmt: skip
WASTE = _set("trash rubbish garbage waste wastebasket dustbin litter litterbin trashcan")
WASTE_BESIDE = _set("can bin basket bag box bucket container the a for big small large little general household")
WASTE_WITH = {"scrap": "bin", "wastepaper": "basket"}  # waste of any sort only before this head: a scrap box keeps
# Words that end in a noun and are no such thing: a pineapple is no apple. What people may call by its end is not here:
# a toothpick may be a pick, and a candlestick a stick.
OTHER_THAN_END = _set(
    "pineapple butterfly dragonfly firefly eggplant hotdog corndog carpet puppet trumpet crumpet seahorse sawhorse hedgehog "
    "starfish jellyfish cuttlefish crayfish peanut doughnut donut corkscrew buttercup ladybird "
    "toadstool cauliflower caterpillar scarecrow rainbow elbow dumbbell barbell herring bearing necklace mushroom headphone "
    "headphones earphone earphones microphone saxophone xylophone passport "
    "cocktail handicap penguin bracelet cottage hammock magnet cabinet bonnet"
)
GENERIC_EN = _set("object objects thing things item items one ones stuff")
GENERIC_ZH = _set("东西 物体 物品 物件")
MASS = frozenset(("stuff", "k:fruit", "k:toy", *GENERIC_ZH))  # a bare mass word means all of it
COLLECTIVE = _set(  # words for many things that have no number: "the food" is all of it
    "fruit stuff food cutlery silverware crockery tableware clothing laundry stationery jewellery jewelry luggage equipment"
)
PAIRED = _set(  # plurals that may be said of one thing, or of one pair
    "scissors glasses sunglasses spectacles goggles binoculars pliers pincers tweezers tongs forceps shears clippers "
    "snips cutters nippers strippers calipers callipers compasses dividers scales trousers pants jeans shorts tights "
    "leggings overalls pyjamas pajamas headphones earphones earbuds earplugs earrings handcuffs shoes boots sandals "
    "slippers sneakers trainers clogs heels socks stockings gloves mittens skis skates crutches stilts chopsticks dice "
    "bellows keys stairs stocks castanets maracas cufflinks bookends"
)

# English: verb phrase → act. Longest first; base forms only, so that a past or a reported deed is not an order.
VERBS: dict[str, str] = {
    "clear": "clear", "clear up": "clear", "clear off": "clear", "clear away": "clear", "clear out": "clear",
    "tidy": "clear", "tidy up": "clear", "tidy away": "clear", "clean": "clear", "clean up": "clear",
    "clean off": "clear", "put away": "clear", "remove": "clear", "collect": "clear", "stow": "clear", "empty": "clear", "empty out": "clear", "clean out": "clear",
    "put": "put", "place": "put", "move": "put", "set": "put", "transfer": "put", "lay": "put", "load": "put",
    "bring": "bring", "carry": "bring", "fetch": "bring", "take": "bring", "get": "bring", "give": "bring",
    "take out": "bring", "get out": "bring", "hand": "bring", "pass": "bring", "hand over": "bring", "pass over": "bring",
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
    "go to": "go", "walk to": "go", "head to": "go", "move to": "go", "drive to": "go", "navigate to": "look", "go above": "go", "go over": "go",
    "move above": "go", "move over": "go", "hover above": "go", "hover over": "go", "go": "go",
    "move the arm to": "go", "move the gripper to": "go", "move the hand to": "go", "move your arm to": "go",
    "look at": "look", "look for": "look", "find": "look", "locate": "look", "search for": "look", "inspect": "look",
    "open the gripper": "open", "open your gripper": "open", "open gripper": "open", "open the hand": "open",
    "open your hand": "open", "close the gripper": "close", "close your gripper": "close", "close gripper": "close",
    "close the hand": "close", "close your hand": "close", "shut the gripper": "close",
    "wipe": "wipe", "wipe down": "wipe", "wipe off": "wipe", "wipe clean": "wipe", "scrub": "wipe",
    "pour": "pour", "pour out": "pour",
    "open": "openup", "open up": "openup", "pull open": "openup", "slide open": "openup", "lift open": "openup",
    "close": "shut", "shut": "shut", "close up": "shut", "push shut": "shut", "slide shut": "shut",
    "shift": "put", "slide": "put", "nudge": "put", "pop": "put", "stick": "put", "drop off": "put", "stash": "put",
    "position": "put", "return": "put", "relocate": "put", "deposit": "put", "store": "put",
    "throw": "throw", "toss": "throw", "throw away": "discard", "throw out": "discard", "toss away": "discard",
    "toss out": "discard", "discard": "discard", "dispose of": "discard",
    "wave": "wave", "wave hello": "wave", "wave your hand": "wave", "wave your arm": "wave", "wave at me": "wave",
    "wave to me": "wave", "wave goodbye": "wave", "say hello with your arm": "wave", "give me a wave": "wave",
    "undo": "undo", "revert": "undo", "reverse": "undo", "take back": "undo", "roll back": "undo",
    "gimme": "bring", "pick and place": "put", "pick up and place": "put", "pick up and put": "put", "insert": "put",
    "shove": "put", "turn": "upright", "stand": "upright", "stand up": "upright",
    "push": "put", "pull": "put", "drag": "put", "restore": "undo",
}  # fmt: skip
VERBS = {phrase: act for phrase, act in VERBS.items() if act != "never"}
_LAST = r"(?:(?:the|your) )?(?:very )?(?:last|previous|latest)"
_DEED = r"(?:thing|move|movement|step|action|instruction|command|order|task|change|operation)s?"
# What an undo is of, when it is of all: "undo your last move".
UNDONE = (
    rf"that|it|this|everything|all of (?:it|that)|what you (?:just )?did|{_LAST}(?: {_DEED})?(?: you did)?|"
    rf"(?:that|your|the) {_DEED}"
)
ALL_OF_IT = r"it all|all of it|everything|(?:all )?(?:the )?things|them all|all of them|them"
_WAS = r"(?:was|were|had been|came from|belonged|(?:found|got|took|had) (?:it|them)(?: from)?)"
BACK = (
    rf"(?:back )?(?:to )?(?:exactly )?(?:where|how|the way|as) (?:it|they|you|things) (?:all )?{_WAS}"
    r"(?: before| originally| at first)?"
    r"|back (?:in|into|to|on) (?:its|their) (?:(?:old|original|previous|former) )?(?:place|position|spot)s?"
    r"|back(?= ,| and| then|$)"
)
# The wished-for end, told as a fact: "the apple goes in the basket"; and what a move is to come to.
SHALL = (
    r"(?:goes|go|belongs?|(?:should|must|(?:needs|has|have|need) to|ought to|(?:is|are) to)"
    r" (?:go|be(?: put| placed| moved)?)|shall go|can (?:go|be put|be placed))"
)
# Of these, the ones that say how it is to be, and not that anything is to be moved.
SHALL_BE = r"belongs?|(?:should|must|(?:needs|has|have|need) to|ought to|(?:is|are) to) be"
# The same, with what is to be there after it: "there should be two mugs in the basket".
THERE_BE = r"there (?:should|must|(?:needs|has|have|need) to|ought to|(?:is|are) to)(?: only| just)? be"
# What is left alone: "the mugs stay where they are".
STAYS = r"(?:(?:should|must|can|may|will|has to|have to) )?(?:stays?|remains?)(?: put)?"
STAYING = ("alone", "where it is", "where they are", "here", "there", "in place", "out", "as it is")
# How many are to be there, said before them; and after the place, that they are all.
BOUNDS = {
    "at least": "end", "exactly": "exactly", "precisely": "exactly", "only": "only", "just": "only",
    **dict.fromkeys(("nothing but", "nothing except", "nothing other than", "nothing besides"), "alone"),
}  # fmt: skip
NOTHING_ELSE = (", and nothing else", "and nothing else", ", nothing else", "nothing else")
# "over there" may be shown with a hand
SAME_PLACE = r"there|(?:in|into|to|at) (?:the|that) (?:same|very same) place"
THE_TRASH = rf"(?:in|into|in to) the (?:{'|'.join(sorted(WASTE))})(?! (?!please|now|and|then)[a-z])"
SO_THAT = r"(?:, )?(?:so(?: that)?|until|such that) (?:it|they) (?:is|are|stands?|sits?|lies?|ends? up)"
PUSHING = _set("move shift slide nudge push pull drag shove")
SLIDING = _set("slide push shove")  # along the table: what is moved, shifted or pulled may be carried
UPRIGHT_END = r"(?:back )?upright(?: again)?|up again|up|on (?:its|their) ends?|(?:the )?right way up|right side up"
OPENS = {"open": "openup", "shut": "shut", "closed": "shut"}  # "pull the drawer open"
# What a place with "in", "on" or "beside" says after these: which things are meant, or where they go, or one of these.
_TELLS_WHICH = (
    "take", "get", "fetch", "give", "hand", "pass", "gimme", "take out", "get out", "throw away", "throw out",
    "toss away", "toss out", "discard", "dispose of", "remove", "clear", "clear off", "clear away", "clear out", "clean",
    "clean off", "empty", "empty out",
)  # fmt: skip
_TELLS_EITHER = (
    "move", "transfer", "shift", "slide", "nudge", "push", "pull", "drag", "shove", "relocate", "return", "carry",
    "bring", "collect", "tidy", "tidy up", "tidy away", "clean up", "clear up", "sort", "sort out", "group", "organize",
    "organise", "arrange", "hand over", "pass over",
)  # fmt: skip
LAST_PLACE = {
    **dict.fromkeys(_TELLS_WHICH, "which"), **dict.fromkeys(_TELLS_EITHER, "either"), "throw": "thrown", "toss": "thrown",
}  # fmt: skip
TAKING_OUT = _set("remove clear empty clean") | {"clear out", "clear off", "empty out", "clean out", "clean off"}
HOLLOW = {  # what these do with a container
    **dict.fromkeys(("empty", "empty out", "clean out", "clear", "clear out", "clear off"), "emptied"),
    **dict.fromkeys(("put away", "remove", "collect", "stow", "tidy away"), "itself"),
}
STOWING = frozenset(("put", "put away", "stow", "collect", "tidy", "tidy up", "tidy away"))  # into a place
PARTICLES = {
    "throw": ("away", "out"), "clear": ("up", "away", "off", "out"), "pick": ("up", "out"), "put": ("down", "away", "out"), "bring": ("out",), "stack": ("up",),
}  # fmt: skip
PARTICLES_AFTER = {"throw": ("away", "out"), "put": ("away",), "bring": ("out",)}  # after the place
ROBOT = ("you", "yourself", "the robot", "robot", "the base", "your base", "the arm")
# Which way, of a move; the robot's own left and right, forward is away from its base.
WAYS = {
    **{
        form: side
        for side in ("left", "right")
        for form in (
            side, f"to the {side}", f"to your {side}", f"to its {side}", f"to their {side}", f"{side}ward",
            f"{side}wards", f"over to the {side}", f"further {side}", f"further to the {side}",
        )
    },
    "forward": "forward", "forwards": "forward", "further away": "forward", "farther away": "forward",
    **{f"away from {robot}": "forward" for robot in ROBOT},
    "backward": "backward", "backwards": "backward", "back": "backward",
    **{
        f"{back}{toward} {robot}": "backward"
        for robot in ROBOT
        for toward in ("towards", "toward", "closer to", "nearer to")
        for back in ("", "back ")
    },
}  # fmt: skip
AWAY = {
    "away from": "away", "further from": "away", "farther from": "away", "further away from": "away",
    "farther away from": "away", "far from": "away", "far away from": "away", "clear of": "away",
    "closer to": "closer", "nearer to": "closer", "towards": "closer", "toward": "closer", "nearer": "closer",
}  # fmt: skip
UNITS = {
    **dict.fromkeys(("mm", "millimetre", "millimetres", "millimeter", "millimeters"), 0.001),
    **dict.fromkeys(("cm", "cms", "centimetre", "centimetres", "centimeter", "centimeters"), 0.01),
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters"), 1.0),
    **dict.fromkeys(("inch", "inches"), 0.0254),
}
A_BIT = ("a bit", "a little", "a little bit", "slightly", "a touch", "somewhat", "a few centimetres", "a few cm")
A_BIT_M = 0.05
# Superlatives: word → what the thing is most of.
BEST = {
    "heaviest": "heaviest", "lightest": "lightest", "biggest": "biggest", "largest": "biggest", "smallest": "smallest",
    "littlest": "smallest", "tiniest": "smallest", "tallest": "tallest", "highest": "top", "shortest": "lowest",
    "longest": "longest", "nearest": "nearest", "closest": "nearest", "farthest": "farthest", "furthest": "farthest",
    "leftmost": "leftmost", "rightmost": "rightmost", "topmost": "top", "uppermost": "top", "lowest": "bottom",
    "left": "leftmost", "right": "rightmost", "left-hand": "leftmost", "right-hand": "rightmost",
    "front": "frontmost", "back": "backmost", "frontmost": "frontmost", "rearmost": "backmost", "middle": "middle",
    "top": "top", "upper": "top", "bottom": "bottom", "lower": "bottom",
}  # fmt: skip
BEST_SIDE = _set("left right left-hand right-hand front back middle top upper bottom lower")  # only before a noun
PLAIN_SIZES = {
    "big": "biggest", "large": "biggest", "small": "smallest", "little": "smallest", "tiny": "smallest",
    "tall": "tallest", "short": "lowest", "long": "longest", "heavy": "heaviest",
}  # fmt: skip
NAMED_SIDES = BEST_SIDE | _set("rear inner outer inside outside side corner far near first second third")  # of a name
SIDED = frozenset(BEST[word] for word in BEST_SIDE)
OPPOSITES = {
    "biggest": ("smallest",), "smallest": ("biggest",), "tallest": ("lowest",), "longest": ("lowest",),
    "lowest": ("tallest", "longest"),
}  # fmt: skip
# Of one row a thing is one: "the big and the small spoon" are two.
CONTRARY = (
    "big large medium small little tiny", "left right", "tall long short", "heavy light", "old new used", "wide narrow",
    "thick thin", "deep shallow", "round square", "clean dirty", "full empty", "open closed", "upper lower",
)  # fmt: skip
COMPARED = {
    "heavier": "heaviest", "lighter": "lightest", "bigger": "biggest", "larger": "biggest", "smaller": "smallest",
    "taller": "tallest", "shorter": "lowest", "longer": "longest", "nearer": "nearest", "closer": "nearest",
    "farther": "farthest", "further": "farthest",
}  # fmt: skip
NEAREST = {
    "nearest to": "nearest", "nearest": "nearest", "closest to": "nearest", "closest": "nearest",
    "farthest from": "farthest", "furthest from": "farthest", "farthest away from": "farthest",
    "furthest away from": "farthest",
}  # fmt: skip
ON_THE_SIDE = {
    "on the left": "leftmost", "on the right": "rightmost", "on your left": "leftmost", "on your right": "rightmost",
    "to the left": "leftmost", "farthest to the left": "leftmost", "furthest to the left": "leftmost",
    "farthest to the right": "rightmost", "furthest to the right": "rightmost", "in the middle": "middle", "on the far left": "leftmost",
    "on the far right": "rightmost", "at the front": "frontmost", "at the back": "backmost", "in front": "frontmost",
    "on top": "top", "at the bottom": "bottom", "at the top": "top",
    **{f"on {the} {side}{hand} side": f"{side}most" for the in ("the", "your") for side in ("left", "right") for hand in ("", "-hand")},
}  # fmt: skip
del ON_THE_SIDE["to the left"]  # that says which way
SIDES = ("left", "right", "front", "behind")
PREPS: dict[str, str] = {
    "in": "in", "into": "in", "inside": "in", "inside of": "in", "in to": "in",
    "on": "on", "onto": "on", "on to": "on", "on top of": "on", "upon": "on", "atop": "on",
    "to": "to", "at": "at",
    "next to": "beside", "beside": "beside", "near": "beside", "by": "beside", "close to": "beside",
    "alongside": "beside", "right next to": "beside", "over to": "to", "back to": "to",
    "left of": "left", "to the left of": "left", "on the left of": "left", "to the left side of": "left",
    "on the left side of": "left", "on the left-hand side of": "left", "on the left half of": "left",
    "right of": "right", "to the right of": "right", "on the right of": "right", "to the right side of": "right",
    "on the right side of": "right", "on the right-hand side of": "right", "on the right half of": "right",
    "in front of": "front", "before": "front", "at the front of": "front", "behind": "behind", "in back of": "behind",
    "at the back of": "behind", "at the front edge of": "front", "at the far end of": "behind",
    "between": "between", "in between": "between", "halfway between": "between",
    "in the middle between": "between", "in the middle , between": "between", "midway between": "between",
    "in the space between": "between", "in the gap between": "between",
    **{
        f"{at} the {middle} of": "middle"
        for at in ("in", "at", "on", "to", "into")
        for middle in ("middle", "center", "centre")
    },
    "to the left edge of": "left", "to the right edge of": "right", "to the front of": "front",
    "to the back of": "behind",
    "from": "from", "off": "from", "off of": "from", "out of": "from", "from the top of": "from",
}  # fmt: skip
# Those that tell where a thing is, as well as where it goes.
WHERE_IT_IS = frozenset((
    "in", "inside", "inside of", "on", "on top of", "atop", "next to", "beside", "near", "by", "close to", "alongside",
    "behind", "in front of", "left of", "right of", "on the left of", "on the right of",
))  # fmt: skip
EXCEPT = (
    "with the exception of",
    "leaving out",
    "not counting",
    "not including",
    "except for",
    "except",
    "apart from",
    "other than",
    "but not",
    "excluding",
    "aside from",
    "besides",
    "save for",
    "but",
)
# What is not meant, after what is: "the mug, not the blue one".
CONTRAST = ("not", "and not", "but not", "instead of", "rather than", "i do not mean", "i did not mean")
PROTECT = _set(
    "touch touching move moving take taking grab grabbing disturb disturbing clear clearing pick picking "
    "use using include including remove removing"
)
ALL = _set("all every each everything both")
ANY = _set("a an any one some another")
OWN = _set("mine yours ours")
POSSESSIVES = _set("my your our")
THE = _set("the this that these those") | POSSESSIVES
_NUMBER_WORDS = "one two three four five six seven eight nine ten"
AMOUNTS = {"a couple of": 2.0, "half a": 0.5, "half an": 0.5, "a": 1.0, "an": 1.0}
NUMBERS = {**dict(zip(_NUMBER_WORDS.split(), range(1, 11), strict=True)), "fifteen": 15, "twenty": 20, "thirty": 30}
COUNTS = NUMBERS.keys() | _set("half dozen dozens hundred hundreds thousand thousands million couple")
PRONOUNS = _set("it them")
JOINS = (
    "and then",
    "and after that",
    "after that",
    "then",
    "and",
    "afterwards",
    "finally",
    "next",
    "as well as",
    "and also",
    "followed by",
)
THEN = ("and then", "and after that", "after that", "then", "afterwards", "finally", "next", "followed by")
QUESTIONS = _set(
    "what what's whats where where's which who whose whom when why how is are am was were do does did has have had "
    "should shall may might isn't aren't doesn't didn't wasn't weren't hasn't haven't tell list describe say count "
    "shouldn't couldn't wouldn't"
)
DOERS = _set("you i we they any")
ASK_SPEAK = _set("tell list describe say count have")
# Words of questions, which are no slips of others. What a question may be is in `question_forms`.
ASK_PLAIN = _set(
    "is are am be do does the a an any some there all every each both this that these those my your our me you i we "
    "it its they what what's which where where's how many much kind kinds of colour color colours colors have got has "
    "see tell list describe count say show can could please now still currently right moment and or not know else left "
    "been being hold holds holding held carrying hand gripper fingers contain contains lie lies lying stand stands "
    "standing sitting put clear tidy clean empty heavy weigh weighs weight mass big large tall high wide long small "
    "size sizes here open closed shut number position located none one left right front behind between middle far "
    "away from distance apart than or more most heaviest lightest biggest largest smallest tallest shortest longest "
    "nearest closest farthest furthest leftmost rightmost heavier lighter bigger larger smaller taller shorter longer "
    "nearer closer farther further robot robots arm arms who who's top bottom highest lowest something"
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

# Words of the grammar: no thing is called by them.
FUNCTION = frozenset(w for table in (VERBS, PREPS, EXCEPT, JOINS) for phrase in table for w in phrase.split()).union(
    NEGATIONS, QUESTIONS, IFS, ALL, ANY, THE, PRONOUNS, english_manners.WORDS
)


@lru_cache(maxsize=1)
def nouns_en() -> Mapping[str, frozenset[str]]:
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


@lru_cache(maxsize=1)
def nouns_zh() -> Mapping[str, frozenset[str]]:
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


@lru_cache(maxsize=1)
def main_nouns() -> frozenset[str]:
    """The first word of each kind in either language; the others ("tin", 可乐罐) are narrower when a name has more."""
    rows = ((english.split()[0], chinese.split()[0]) for _, english, chinese in KINDS.values())
    return frozenset(word for one, other in rows for word in (one, other, other.removesuffix("子")))


def chinese_names(kinds: Iterable[str]) -> list[str]:
    """The Chinese words for kinds of things."""
    return [word for kind in kinds for word in KINDS[kind[2:]][2].split()]


def ancestor_kinds(key: str) -> frozenset[str]:
    """A kind and all that it also is: apple is a fruit."""
    found, todo = set(), [key]
    while todo:
        now = todo.pop()
        if now not in found:
            found.add(now)
            todo += KINDS[now][0] if now in KINDS else ()
    return frozenset(f"k:{k}" for k in found)


FIRST_VERBS = frozenset(phrase.split()[0] for phrase in VERBS)


@lru_cache(maxsize=1)
def base_forms() -> dict[str, dict[str, str]]:
    """ "grabbing" → "grab", "moved" → "move": for what is said after "would you mind", "it would be nice if you"."""
    return english_manners.base_forms(FIRST_VERBS)
