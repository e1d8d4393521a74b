"""Misspelt words: read as the one known word that they can be, and said so; never a guess between two."""

from __future__ import annotations

from . import words
from .vocabulary import Vocabulary, one_edit

SHORT = {"teh": "the", "hte": "the", "adn": "and", "nad": "and", "pu": "put", "tabel": "table", "u": "you"}
# Words of the language that are one letter from ours: what is no slip of the pen is not corrected.
OTHERS = frozenset(
    """able ample apply arrange attack bail bald bale balm band bandana bare bark base bash bask basket ball bead beak
    beam bear beard beast beat beds been beer bell bellow belt bend bent best bill bind binds bite blink blob bloc blocs
    blow blown blur board boat bolt bold bone boom boon boost boot born boss bought bow bowel boxer brace brag brake brat
    bray bread break breed brew brim brine brink brisk brow bull bulb burn buys cable cage cake calf call calm came camp
    candy cane cape card care cart case cash casket cast cat cave cell chair chest chose chosen clan clap class claw clay
    clearer cleat clock cloth cloud clove club clue coat code coin cold come cone cook cool cope core cork corn cost coup
    cove cover crab creed crick crop cross crow crowd crown cubs cue cure curb curl cute dean dear demon desks dice dine
    dire dish dive dome done door dose dove down drag draw drip droop drown drum duck dump each east edge eight else ends
    even ever evil face fact fade fail fair fake fall fame fang far farm fast fate fear feed feel fell fellow felt fence
    few file fill film fine fire firm fish five fix flag flat flock floors flow flue foam fold folk fond font food fool
    foot force ford form fort four frame free frog frost frown fuel full fund gable gain game gate gave gear gene ghost
    gift gild glue goad goal goes gold golf gone good grade grain grand grape graph grass grave great greed greet grid
    grim grin grind grope gross grout grow grown gulf hail hair half hall halt hang hard harm hate haul head heal heap
    hear heat hell help here hers hide high hike hill hint hire hole holy homes hood hook hope horn hose host hour house
    howl huge hung hunt hurt idea inch iron jump just keen keep kept kick kill kind king kiss knee knew knit know lace
    lack lady laid lake lamb lamp land lane last late lawn lead leaf leak lean leap lear led lens lent less lest life
    like lime limit line link lint lion list lit live loaf loan lock logo lone long loom loop lord lose loss lost loud
    love luck lung made mail main make male mall maple mark mask mass mast mate meal mean meat meet mellow melon melt
    menu mere mice mile milk mill mind mine mint mirror miss mist moan mock mode mold mole mood moon more moss moth
    mouse mouth mover much mugs must myth nail name navy neat neck need nest news night nose note noun null numb oath
    obey oils ounce oven over pace pack page paid pail pain pair pale palm pan pants park part pass past path pave peace
    peak pearl peas peck peel peer perch pest pets piano pier pies pine pink pinch pint pipe pity plan plane plank plant
    play plea pledge plot plow plug plume plump plus poem poet pole poll pool poor pork port pose post pour pray prep
    prey price prick pride prince print probe prop pull pump pure quick quit race rack rage raid rail rain rake ramp
    range rank rare rate rave read real reap rear reed reef rely rent rest rice rich rick ride ring ripe rise risk road
    roam roar robe rock role roll roof room root rope rose rough rover rude ruin rule rush rust sable sack safe sage
    sail sake salt same sand save scan scar seal seam seat seed seek seem seen self sell send sent shall shape share
    sharp shed shell shine shirt shock shoe shoot shop shore shot show shut sick side sigh sight sign silk sing sink
    site sits size skin slack slap slate slave sleep slip slit sliver slot slow slum smack small smell smile snack snap
    snatch snick snow soap soft soil sold sole some song soon sore sort soul soup sour spare spark spear speed spell
    spin spook spool spot stable staff stage stair stake stalk stamp star stare stark start state stay steam steel stem
    step stern stick stiff still stir stitch stock stone stool store storm story stove straw stray strip stuck such suit
    swap sway swim swing sword tablet tabled tack tail tale talk tall tame tang tank tape tart task team tear teach tell
    tend tent term test text thank that thaw thick thief thing think thorn throw thumb tick tide tight tile till time
    tiny tire toad toil told tone took toll tools tour town trace track trade trail train tram trap tree trek trial
    trick trim trip trot truck true trust tube tuck tune turn twin type unit vase vast very vest view vile voice vote
    wade wage wait wake walk wall want ward warm warn wash watch water weak wear week weight well went wept were west
    wheel whip whine white wick wide wife wild will wind wine wing wink wipe wire wise wish wolf wood wool work worm
    worn wrap wring yard yarn yawn year yell yolk zone""".split()
)
_INFLECTED = ("s", "es", "d", "ed", "ing", "er", "r", "ly", "n", "en", "y")
_TABLES = (
    words.VERBS, words.PREPS, words.REQUESTS, words.WISHES, words.EXCEPT, words.JOINS, words.OPENERS, words.CLOSERS,
    words.WAYS, words.AWAY, words.UNITS, words.A_BIT, words.BEST, words.NEAREST, words.ON_THE_SIDE, words.ROBOT,
    words.TAGS, words.NUMBERS, words.ALL, words.ANY, words.THE, words.PRONOUNS, words.QUESTIONS, words.PROTECT,
    words.ASK_PLAIN, words.COMPARED, ("colour color kind kinds type types category other others else either or only",),
    ("alone where it is in place as they are",), tuple(p for group in words.PARTICLES.values() for p in group),
)  # fmt: skip
_GRAVE = words.NEGATIONS | words.IFS | words.PAST
_PLAIN = frozenset(w for table in _TABLES for phrase in table for w in phrase.split()) | frozenset(words.gerunds())
# What a slip may stand for; the rest of a polite phrase is known, and nothing is read as it.
_CORE = frozenset(
    w
    for table in (words.VERBS, words.PREPS, words.UNITS, words.BEST, words.NUMBERS, words.ALL, words.THE, words.QUESTIONS)
    for phrase in table
    for w in phrase.split()
) | {"please", "could", "would", "then", "after", "except", "without", "colour", "color", "kind", "other", "them"}


def corrected(tokens: list[str], vocabulary: Vocabulary) -> tuple[list[str], list[str]]:
    """The tokens with slips put right, and a line for each that says what was read."""
    found, notes = [], []
    for token in tokens:
        better = "" if _known(token, vocabulary) else SHORT.get(token) or _meant(token, vocabulary)
        if better:
            notes.append(f"read “{token}” as “{better}”")
        found.append(better or token)
    return found, notes


def _known(word: str, vocabulary: Vocabulary) -> bool:
    return word in _PLAIN or word in _GRAVE or word in OTHERS or vocabulary.english_word(word) is not None


def _meant(word: str, vocabulary: Vocabulary) -> str:
    if len(word) < 4 or not word.isalpha() or not word.isascii():
        return ""
    own = {k[2:] for k in vocabulary.raw if k[2:].isalpha()}
    nouns = {*vocabulary.english, *own}
    known = {*nouns, *(n + "s" for n in nouns), *words.IRREGULAR, *_CORE, *_GRAVE}
    # a form of a word is no slip: what "places" or "placed" tells is no order
    if any(word == k + end or (k[-1:] == "e" and word == k[:-1] + end) for k in known for end in _INFLECTED if k):
        return ""
    close = {k for k in known if one_edit(word, k)}
    if len(close) != 1 or close & _GRAVE:
        return ""
    [only] = close
    return only if len(only) > 2 and only[0] == word[0] else ""
