"""The intent of an instruction: a command, a question, or a refusal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from worldfs.base.model import Json, Vec

from .goals import Goal


@dataclass(frozen=True, slots=True)
class CommandIntent:
    """Goals in the order wanted; `protected` are ids that no action may touch; `note` describes decisions of the
    parser. `proposed_by`: the model whose reading the person confirmed, for the record of its orders."""

    goals: tuple[Goal, ...]
    language: str = "en"  # en | zh
    text: str = ""
    protected: tuple[str, ...] = ()
    note: str = ""
    proposed_by: Json = field(default_factory=dict)
    later: tuple[int, ...] = ()  # indices of goals that were said to come after all before them
    emptied: tuple[str, ...] = ()  # containers that were to be emptied


@dataclass(frozen=True, slots=True)
class QuestionIntent:
    """Asked, not ordered: moves nothing. `answer` is from the scene; else it lists possible questions."""

    text: str
    language: str = "en"
    answer: str = ""
    answered: bool = True


@dataclass(frozen=True, slots=True)
class RefusedIntent:
    """Not acted on, with the reason; `can` are sentences that would be accepted. `kind` says why in one word.

    kind: negation | conditional | report | unknown | missing | ambiguous | impossible | empty | unconfirmed
    `reading`: the hash of a model's reading that the person may confirm; `plan`: that reading in words. `question`:
    what a model asked and got no answer to. `candidates`: ids of the things that may be meant, where it asks which.
    """

    reason: str
    can: tuple[str, ...] = ()
    language: str = "en"
    kind: str = "unknown"
    text: str = ""
    reading: str = ""
    plan: str = ""
    question: str = ""
    candidates: tuple[str, ...] = ()
    names_stop: bool = False  # its reason says that no robot was stopped, and how to stop one
    asked: bool = False  # it was a question, and it is not clear which thing it asks about


Intent = CommandIntent | QuestionIntent | RefusedIntent


class NotUnderstood(Exception):
    """Inside the parser only: becomes a RefusedIntent with the message of `code`. `ids`: the things to choose from."""

    def __init__(self, code: str, kind: str = "unknown", ids: Iterable[str] = (), **facts: str) -> None:
        super().__init__(code)
        self.code, self.kind, self.ids, self.facts = code, kind, tuple(ids), facts


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """One noun phrase as read, not yet looked up in a scene."""

    text: str  # "": left out, as in "put the cube inside"
    words: tuple[tuple[str, frozenset[str]], ...] = ()  # every word with its keys; a thing must fit them all
    quantity: str = ""  # the | all | any | "" (bare)
    count: int = 0
    plural: bool = False
    pronoun: bool = False
    at: tuple[tuple[str, NounPhrase], ...] = ()  # (in | on | beside | from | a side, where): only things that are there
    best: str = ""  # heaviest | biggest | nearest | leftmost …: of those, the one that is most so (`superlatives`)
    best_of: NounPhrase | None = None  # what "nearest" and "farthest" are measured from; None: the robot
    side_word: bool = False  # `best` was said with a side ("the left cube"), which may be part of a name as well
    size_word: bool = False  # `best` was said with a size ("the big cube"), which may be part of a name as well
    of_two: bool = False  # a comparative: "the bigger one" chooses of two, and of no other number
    without: tuple[tuple[str, frozenset[str]], ...] = ()  # words with their keys; a thing must fit none of them
    but: tuple[NounPhrase, ...] = ()  # "that is not the tea mug": none of what these mean
    being: tuple[tuple[str, frozenset[str]], ...] = ()  # "that is red": colours that it has, whatever it is called
    pair: bool = False  # "a pair of scissors": one thing that is called so, and not one of two
    pack: str = ""  # "a packet of chips": one thing that is called chips, and no other word for it
    portion: str = ""  # 一片梨, "some bread": a measure word that may take a part of a thing, or several together
    under: tuple[tuple[str, frozenset[str]], ...] = ()  # "the red cubes and balls": red may be said of the balls too
    summed: bool = False  # 都 after a list sums it up, and says nothing of how many one of its names means
    other: bool = False  # of those, the ones that this instruction has not named yet
    owner: str = ""  # "my", "your", 我的: of a person who is not named
    options: tuple[NounPhrase, ...] = ()  # "the apple or the can": one of these


THERE = NounPhrase("there", pronoun=True)  # the one place that the instruction has named, in either language


@dataclass(frozen=True, slots=True)
class DirectionalMove:
    """A move given by a direction: left | right | forward | backward, or away | closer with `other`. Metres."""

    way: str
    metres: float = 0.0  # 0: not given
    other: NounPhrase | None = None  # None: the robot
    slide: bool = False  # said so: pushed or slid, not carried


@dataclass(frozen=True, slots=True)
class Clause:
    """One act as read. `places` are (in | on | to | at | beside | from | a side, nouns or coordinates), as said;
    the side of "there" alone is ""."""

    act: str
    what: tuple[NounPhrase, ...] = ()
    places: tuple[tuple[str, tuple[NounPhrase, ...] | Vec], ...] = ()
    but: tuple[NounPhrase, ...] = ()
    by: str = ""  # colour | kind
    keep: tuple[NounPhrase, ...] = ()  # protected from here on
    shift: DirectionalMove | None = None
    then: bool = False  # said to come after those before
    or_places: tuple[tuple[str, tuple[NounPhrase, ...]], ...] = ()  # any of these instead of the last place
    gap: float = 0.0  # metres between the thing and the one beside it, 0: not given
    each: bool = False  # "respectively", 分别: the first thing in the first place, the second in the second
    barred: tuple[NounPhrase, ...] = ()  # where nothing may be put: "do not put it in the box", "do not touch the box"
    inside: bool = False  # said to be in there: "out of the basket", 从篮子里
    out: bool = False  # said to leave where it is: "out of the basket", "remove", 拿出来
    # how the last place is read, where "in" or "on" may tell which things are meant: "" a destination for certain;
    # which: it tells which ("take the cup in the box"); either: the scene decides, or the person ("move the cup in the
    # box"); thrown: as either, and into a bin for waste it is a destination
    last_place: str = ""
    # an end that is wanted, judged before anything moves (`wanted_ends`). end: it is so, of as many at least; exactly:
    # of so many; only: as alone, and with a number perhaps as exactly; alone: nothing else is there
    end: str = ""
    hollow: str = ""  # what becomes of a container that is cleared: emptied | itself (it is put away); "" is asked

    def nouns(self) -> tuple[NounPhrase, ...]:
        """Every noun phrase of the clause."""
        places = (noun for _, where in (*self.places, *self.or_places) for noun in where)
        return (*self.what, *self.but, *self.keep, *(noun for noun in places if isinstance(noun, NounPhrase)))

    def chosen_freely(self) -> Clause:
        """This clause with "any will do": of things, or of the places that were named."""
        if self.or_places:
            return self
        what = (
            replace(n, quantity="any", count=n.count or 1)
            if n.words and not (n.best or n.plural or n.quantity == "all")
            else n
            for n in self.what
        )
        return replace(self, what=tuple(what))
