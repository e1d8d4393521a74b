"""The English reader: text to clauses by a small grammar that must consume every word, or refuses."""

from __future__ import annotations

import re
from dataclasses import replace

from worldfs.base.model import Vec

from . import english_manners, english_sequence, lexicon_en
from .english_nouns import FIRST_PREPS, EnglishNounParser, things_at
from .intent import THERE, Clause, DirectionalMove, NotUnderstood, NounPhrase
from .prohibitions import Prohibitions
from .vocabulary import Vocabulary

_TOKEN = re.compile(r"[+-]?\d+(?:\.\d+)?(?![\w])|[a-z0-9_][\w\-']*(?:\+{1,2}|#)?|[^\s]", re.I)
_SHORT = {
    "dont": "do not", "can't": "can not", "cannot": "can not", "won't": "will not", "let's": "let us",
    "it's": "it is", "that's": "that is", "there's": "there is",
}  # fmt: skip
_TAILS = (("n't", " not"), ("'d", " would"), ("'ve", " have"), ("'s", " 's"))
_GLUED = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(mm|cm|m)\b", re.I)  # 10cm
_WITHIN = ("in", "inside")  # said without what they are of
INTO = ("in", "on", "to", "at")
_ENDS = ("", ".", ",", ";", "and", "then")
ALL_ELSE = NounPhrase("everything else", (("everything", frozenset("*")),), "all", plural=True, other=True)
Place = tuple[str, tuple[NounPhrase, ...] | Vec]


def split(text: str) -> list[str]:
    """Tokens, lower case, short forms in full; numbers, ids, words and every other sign on its own."""
    found: list[str] = []
    plain = re.sub(r"\bnon-", "non ", text.lower()).replace("&", " and ")
    for token in _TOKEN.findall(_GLUED.sub(r"\1 \2", plain)):
        tail = next(((end, full) for end, full in _TAILS if token.endswith(end) and len(token) > len(end)), ("", ""))
        found += (_SHORT.get(token) or (token.removesuffix(tail[0]) + tail[1])).split()
    return found


def is_question(tokens: list[str]) -> bool:
    """Asked rather than ordered: by its first word, or by its mark; polite requests are orders."""
    form, rest = english_manners.requested(tokens)
    if form:  # "can you see the apple" and "can you reach it" order nothing
        marked = "?" in rest and not (english_manners.asks(tokens) or english_manners.tagged(rest))
        return marked or _asks(rest) or ("you" in tokens and rest[:1] in (["see"], ["reach"]))
    if rest[:1] == ["when"] and "," in rest and "?" not in rest:
        return False  # "when it is dark, go home" supposes, and asks nothing
    return _asks(rest) or ("?" in rest and not english_manners.tagged(rest))


def is_request(tokens: list[str]) -> bool:
    """ "Could you put …?": an order, which is not answered where it is not understood."""
    form, rest = english_manners.requested(tokens)
    return bool(form) and rest[:1] != [] and rest[0] in lexicon_en.FIRST_VERBS


def _out_of(what: tuple[NounPhrase, ...]) -> tuple[tuple[NounPhrase, ...], tuple[Place, ...]]:
    """ "Remove everything that is in the box": from there."""
    there = {noun.at for noun in what}
    at = next(iter(there)) if len(there) == 1 else ()
    if len(at) != 1 or at[0][0] not in ("in", "on"):
        return what, ()
    return tuple(replace(noun, at=()) for noun in what), (("from", (at[0][1],)),)


def _taken(before: list[Clause], clause: Clause) -> list[Clause]:
    """ "Take all the mugs and put them in the box": several things are not held, they are put one by one."""
    last = before[0] if before and before[0].act in ("pick", "bring") and len(before[0].what) == 1 else None
    one = last.what[0] if last is not None else NounPhrase("")
    names_all = one.quantity == "all" and all("*" in senses for _, senses in one.words)
    them = clause.act == "put" and all(n.pronoun and n.text and (n.plural or names_all) for n in clause.what)
    if last is None or not (them and (one.plural or one.quantity == "all")) or one.pronoun or last.or_places:
        return [*before, clause]
    there = tuple((side, where[0]) for side, where in last.places if len(where) == 1)
    if last.places and (not (last.act == "pick" or last.last_place == "which") or len(there) < len(last.places)):
        return [*before, clause]
    at = tuple((side, noun) for side, noun in there if isinstance(noun, NounPhrase))
    what = (replace(one, at=(*one.at, *at)),)
    return [replace(clause, what=what, but=(*last.but, *clause.but), keep=(*last.keep, *clause.keep), then=last.then)]


def _narrows(said: list[str], rest: list[str]) -> str:
    """The "only" that stands before the order itself; "" for none."""
    before = said[: len(said) - len(rest)][-1:]
    return before[0] if before in (["only"], ["just"]) else ""


def _asks(tokens: list[str]) -> bool:
    """By its first word. "do" asks only before its subject: "do a backflip" is an order."""
    if tokens in (["help"], ["help", "me"]):
        return True
    if tokens[:1] == ["do"]:
        return tokens[1:2] != [] and tokens[1] in lexicon_en.DOERS
    return bool(tokens) and tokens[0] in lexicon_en.QUESTIONS


class EnglishParser(EnglishNounParser):
    """Reads one sentence; `clauses` returns all of it or raises NotUnderstood."""

    def __init__(self, tokens: list[str], vocabulary: Vocabulary) -> None:
        self.listed = tokens[:1] == ["first"] and "then" in tokens  # "first the can in the bin, then the cup"
        form, tokens = english_manners.requested(said := english_sequence.in_order(tokens))
        if form in ("", "end") and (only := _narrows(said, tokens)):  # "make sure only the plum is in the basket"
            tokens = [only, *tokens]
        if form == "wish":
            tokens = ["bring", *filter(None, (_narrows(said, tokens),)), *tokens]
        base = lexicon_en.base_forms().get(form, {})
        tokens = [base.get(t, t) for t in tokens]
        while tokens and tokens[-1] in ("?", ",", "!", "."):
            tokens = tokens[:-1]
        tokens, self.any_will_do = english_manners.without_choice(tokens)
        super().__init__(tokens, vocabulary)
        self.before: Clause | None = None  # of the sentence before, whose verb and place "And the key." takes up
        self.kept: list[NounPhrase] = []
        self.forbidden = Prohibitions()  # after the order
        self.or_places: list[tuple[str, tuple[NounPhrase, ...]]] = []
        self.barred: list[NounPhrase] = []
        self.then = self.out = self.inside = self.besides = False
        self.gap = 0.0
        self.wishing, self.ending = form == "wish", form == "end"
        self.said_prep = ""  # the preposition of the last place
        self.to_me = self.excepted_first = False  # "everything except the cup in the box": which of them is there?
        self.rather = False  # "not in the crate but in the basket": that is where it goes
        self.not_there = False  # "everything in the crate not in the tub": which things, or where they do not go?

    # -- the grammar ----------------------------------------------------------------------------------------------

    def clauses(self) -> list[Clause]:
        found: list[Clause] = []
        while self.at < len(self.tokens):
            if self.protection(bool(found)):
                if self.at < len(self.tokens):
                    raise NotUnderstood("planner.after_protection", "negation", word=self.ahead())
                break
            self.besides = False
            handed, self.to_me = self.to_me, False
            clause = self.clause(found[-1] if found else self.before)
            if self.besides and not (clause.what and all(noun.quantity == "all" for noun in clause.what)):
                raise NotUnderstood("planner.left_or_meant", "ambiguous", what=clause.but[-1].text)  # beside, as well?
            clause = replace(clause, then=self.then)
            found = [*found, clause] if handed else [*found[:-1], *_taken(found[-1:], clause)]
            self.closers()
            if self.at < len(self.tokens) and not self.protecting():
                self.join()
        if self.any_will_do and found:
            found[-1] = found[-1].chosen_freely()
        return [*found[:-1], self.forbidden.after(replace(found[-1], keep=tuple(self.kept)))] if found else []

    def join(self) -> None:
        mark = self.at
        comma = self.ahead() == ","
        self.at += comma
        joined = self.phrase(lexicon_en.JOINS)
        self.then = joined in lexicon_en.THEN or self.ahead() in lexicon_en.THEN
        if not (joined or comma):
            raise NotUnderstood("planner.word", word=self.ahead())
        if self.at >= len(self.tokens):
            self.at = mark
            raise NotUnderstood("planner.word", word=self.ahead())

    def closers(self) -> None:
        if self.ahead() == "first" and self.ahead(1 + (self.ahead(1) in (",", "and"))) == "then":
            self.at += 1  # "put the cup in the bin first, then the key"
        while size := english_manners.closing(self.tokens[self.at :]):
            self.at += size

    def protecting(self) -> bool:
        mark = self.at
        found = self.protection(True, look=True)
        self.at = mark
        return found

    def protection(self, after: bool, look: bool = False) -> bool:
        """`(and|but|,) do not touch NP`, `without touching NP`, `leave NP alone`: only after something was ordered."""
        mark = self.at
        while self.ahead() in (",", "and", "but"):
            self.at += 1
        if english_manners.reminds(english_manners.strip_openers(self.tokens[self.at :])):
            self.at = mark
            return False
        if after and (left := self.staying()):
            self.kept += () if look else left
            return True
        negated = self.phrase(("do not", "never", "without", "please do not"))
        leaving = "" if negated else self.phrase(("leave", "leave out", "keep"))
        if not (negated or leaving) or not after:
            self.at = mark
            return False
        if look:
            return True
        if negated and (denied := self.denied_place()) is not None:
            self.forbidden = self.forbidden.also(denied)
            return True
        if negated:
            if self.ahead() not in lexicon_en.PROTECT:
                raise NotUnderstood("planner.negation", "negation", word=negated)
            self.at += 1
            self.phrase(("up", "away"))
            if self.tokens[self.at : self.at + 2] == ["anything", "else"]:  # denied of each: all the others stay
                self.tokens = [*self.tokens[: self.at], "everything", *self.tokens[self.at + 1 :]]
        nouns, _ = self.left_out(placed=False)
        if leaving:  # "leave the rest", and no spoon rest
            nouns = tuple(ALL_ELSE if noun.text in ("rest", "others") else noun for noun in self.left_where(nouns))
        self.kept += nouns
        return True

    def left_where(self, nouns: tuple[NounPhrase, ...]) -> tuple[NounPhrase, ...]:
        """What is left alone, with the place that is said of it: "leave the cup on the table"."""
        if self.phrase(lexicon_en.STAYING) or not (prep := self.phrase(lexicon_en.PREPS)):
            return nouns
        side = lexicon_en.PREPS[prep]
        if side not in ("in", "on", "beside") or not self.noun_here():
            raise NotUnderstood("planner.word", word=prep)
        there = self.noun()
        return tuple(replace(noun, at=(*noun.at, (side, there))) for noun in nouns)

    def staying(self) -> tuple[NounPhrase, ...]:
        """ "The mugs stay where they are": what is left alone; () and nothing consumed for none."""
        mark = self.at
        if not re.search(rf" {lexicon_en.STAYS}\b", " ".join(self.tokens[mark:])) or not self.noun_here():
            return ()
        try:
            nouns, _ = self.left_out(placed=False)
        except NotUnderstood:
            nouns = ()
        if nouns and self.pattern(lexicon_en.STAYS):
            return self.left_where(nouns)
        self.at = mark
        return ()

    def denied_place(self) -> Prohibitions | None:
        """After "do not": "put the plum in the box"; None and nothing consumed for anything else."""
        mark = self.at
        verb = self.phrase(lexicon_en.VERBS)
        if lexicon_en.VERBS.get(verb) in ("put", "bring", "drop", "throw") and self.noun_here():
            nouns, _ = self.left_out(placed=False)
            self.said_prep = ""
            places, but = self.places("put") if self.ahead() in FIRST_PREPS else ((), ())
            named = tuple(n for _, where in (*places, *self.or_places) for n in where if isinstance(n, NounPhrase))
            which = lexicon_en.LAST_PLACE.get(verb) == "which" and self.said_prep in lexicon_en.WHERE_IT_IS
            if named and not (but or which) and len(places) == 1 and places[0][0] in INTO:
                return Prohibitions("do not", denied=nouns, not_there=named)
        self.at = mark
        return None

    def clause(self, before: Clause | None) -> Clause:
        form, rest = english_manners.requested(self.tokens[self.at :])
        only, end, opened = "", "", list[str]()
        if form in ("", "base", "end"):
            self.ending |= form == "end"
            only = _narrows(self.tokens[self.at :], rest)
            opened, self.at = self.tokens[self.at : len(self.tokens) - len(rest)], len(self.tokens) - len(rest)
        if self.verb_here() and self.pattern(
            rf"(?:put|bring|return|set|get) (?:{lexicon_en.ALL_OF_IT}) (?:{lexicon_en.BACK})"
        ):
            return Clause("undo")
        verb = self.phrase(lexicon_en.VERBS)
        again: tuple[Place, ...] = ()
        if not verb:
            if (wished := self.wished(only)) is not None:
                return wished
            # "put the apple in the basket and the can on the table": the verb is understood again
            if before is not None and before.act == "put" and self.noun_here():
                end = before.end  # "make sure a plum is in the basket and a mug in the tray"
                if not english_manners.CORRECTING.isdisjoint(opened):  # "…, well, the plum"
                    raise NotUnderstood("planner.corrected", "ambiguous", what=" ".join(self.tokens[self.at :]))
                verb, again = "put", before.places
            elif before is not None and before.act == "go" and self.then and (self.phrase(("to",)) or self.noun_here()):
                verb = "go to"  # "go to the gate, then to the dock"
            else:
                raise NotUnderstood("planner.verb", word=self.ahead() or "…")
        self.inside = self.ending = False
        act, self.out = lexicon_en.VERBS[verb], verb in ("remove", "take out", "get out")
        if act == "undo":
            self.pattern(lexicon_en.UNDONE)
        if verb == "move" and self.ahead() in ("to", "above", "over"):
            raise NotUnderstood("planner.word", word=self.ahead())
        if act in ("home", "open", "close", "wave", "undo"):
            return Clause(act)
        if act == "go":
            return self.going(verb)
        self.to_me, self.said_prep = False, ""
        if verb == "set" and self.ahead() == "up":
            self.phrase(("me",))
        if act == "bring":
            self.to_me = bool(self.phrase(("me", "us")))
        if act == "sort" and self.ahead() == "by":
            return self.sorting(())
        wanted = self.wishing and lexicon_en.BOUNDS.get(self.phrase(lexicon_en.BOUNDS), "")
        denied = self.contrasted() if act in ("put", "bring", "pick") else ()
        what = self.nouns(then=act in ("put", "look", "clear")) if self.noun_here() else ()
        what = self.narrowed(what) if act != "clear" else what
        mark = self.at
        if self.phrase(lexicon_en.NOTHING_ELSE) and (act != "put" or self.ahead() not in FIRST_PREPS):
            self.at = mark
        if act == "pick" and what and self.length():
            raise NotUnderstood("planner.vertical", word=verb)
        mark = self.at
        particle = self.phrase(lexicon_en.PARTICLES.get(act, ())) if what else ""
        if particle == "away" and self.ahead() == "from":
            self.at, particle = mark, ""
        if particle == "off" and self.noun_here():  # "everything off the table" says from where
            self.at, particle = mark, ""
        if particle == "out" and self.ahead() == "of":  # "out of the basket" says from where
            self.at, particle = mark, ""
        self.out |= particle == "out"
        if act == "throw" and (particle or self.pattern(lexicon_en.THE_TRASH)):
            act = "discard"
        if act == "put" and particle in ("down", "away"):
            act = "down" if particle == "down" else "clear"
        if what and (act == "upright" or verb in ("put", "set", "place")) and self.pattern(lexicon_en.UPRIGHT_END):
            return Clause("upright", what)
        if what and verb in lexicon_en.PUSHING and (how := self.phrase(tuple(lexicon_en.OPENS))):
            return Clause(lexicon_en.OPENS[how], what)
        if act == "wipe" and what:
            self.phrase(("clean", "down", "off"))
            tool = self.nouns() if self.phrase(("with", "using")) else ()
            return Clause("wipe", what, (("with", tool),) if tool else ())
        if act == "upright" and verb != "stand up":
            raise NotUnderstood("planner.word", word=self.ahead() or verb)
        if what and ((act in ("put", "bring") and not particle) or act == "down"):
            shift = self.shift()
            put = verb in ("put", "place", "set", "lay")
            if shift is not None and not (shift.metres or shift.other) and put:
                raise NotUnderstood("planner.how_far", "ambiguous", word=shift.way)
            if shift is not None and shift.metres and shift.other and put:  # so far from it, but on which side?
                raise NotUnderstood("planner.which_side", "ambiguous", name=shift.other.text)
            mark = self.at
            if shift is None and self.length() and self.ahead() in _ENDS:  # "move the can 10 cm"
                raise NotUnderstood("planner.which_way", "ambiguous")
            self.at = mark
            if shift is not None:
                return Clause("shift", what, shift=replace(shift, slide=verb in lexicon_en.SLIDING))
            if back := self.pattern(lexicon_en.BACK):
                if back == "back" and verb in lexicon_en.PUSHING:  # to where it was, or backwards?
                    raise NotUnderstood("planner.how_far", "ambiguous", word="backward")
                return Clause("undo", what)
            self.phrase(("back",))  # "back in the basket"
            self.pattern(lexicon_en.SO_THAT)
        alone = verb in ("tidy", "tidy up", "clean up", "clear up") or act in ("drop", "down")
        if not what and not alone:
            raise NotUnderstood("planner.object", verb=verb) if self.at >= len(self.tokens) else self._lost()
        if act == "sort":
            return self.sorting(what)
        places, but = self.places(act)
        but = (*denied, *but)
        several = any(noun.plural or noun.quantity == "all" for noun in what)
        if (self.not_there and several) or (self.rather and len(places) > 1):
            raise NotUnderstood("planner.negation", "negation", word="not")
        if places and any("more" in noun.text.split() for noun in what):
            what = self.more(what, places[-1])
        after = self.phrase(lexicon_en.PARTICLES_AFTER.get(act, ())) if places and what else ""
        if after:  # "throw everything on the table away"
            act = {"throw": "discard", "put": "clear"}.get(act, act)
            verb = f"{verb} {after}"
            self.out |= after == "out" and act == "bring"
            more, aside = self.places(act)
            places, but = (*places, *more), (*but, *aside)
        elif particle in ("away", "off", "up", "out"):
            verb = f"{verb} {particle}"
        last_place = "which" if after and act == "clear" else self.last_place(verb, act, what, places, but)
        if wanted and places and not self.or_places:  # "I want nothing but the plum in the basket"
            barred = tuple(self.barred)
            return Clause("put", what, places, but, gap=self.gap, barred=barred, last_place=last_place, end=wanted)
        if last_place == "which" and (verb in lexicon_en.TAKING_OUT or (act == "bring" and self.out)):
            places, last_place = (*places[:-1], ("from", places[-1][1])), ""
        if act == "clear" and verb in lexicon_en.TAKING_OUT and not places:
            what, places = _out_of(what)
        ends = {"throw": ("in",), "discard": ("in", "from")}.get(act)
        if ends is not None and last_place != "which" and places and places[-1][0] not in ends:
            raise NotUnderstood("planner.word", word=verb)
        if act == "throw" or (act == "discard" and not last_place and places and places[-1][0] == "in"):
            act = "put"  # "throw it in the box": not through the air
        each = bool(self.phrase((", respectively", "respectively")))
        what = self.narrowed(what) if act != "clear" else what
        self.out |= act == "clear" and verb not in lexicon_en.STOWING and any(side == "from" for side, _ in places)
        act = "empty" if verb in ("empty", "empty out") else act
        return Clause(
            act, what, places or again, but, or_places=tuple(self.or_places), gap=self.gap, out=self.out, each=each,
            barred=tuple(self.barred), last_place=last_place, inside=self.inside, end=end,
            hollow=lexicon_en.HOLLOW.get(verb, ""),
        )  # fmt: skip

    def last_place(
        self, verb: str, act: str, what: tuple[NounPhrase, ...], places: tuple[Place, ...], but: tuple[NounPhrase, ...]
    ) -> str:
        """Whether the last place may tell which things are meant: `Clause.last_place`."""
        if not what or not places or self.said_prep not in lexicon_en.WHERE_IT_IS or self.gap:
            return ""
        if any(side == "from" for side, _ in places):
            return ""
        away = verb.endswith((" away", " out", " off")) and act in ("discard", "bring")
        reading = "which" if away else lexicon_en.LAST_PLACE.get(verb, "")
        reading = "which" if reading == "either" and self.to_me else reading
        reading = "either" if reading and self.wishing else reading
        if reading and act == "clear" and places[-1][0] == "on":
            reading = "which"  # what is cleared goes into something
        if reading and places[-1][0] not in ("in", "on") and reading != "which":
            return ""
        if reading == "which" and self.or_places:
            raise NotUnderstood("planner.word", word="or")
        if reading and but and self.excepted_first and not any(noun.pronoun for noun in what):
            raise NotUnderstood("planner.left_or_meant", "ambiguous", what=but[-1].text)  # which of the two is there?
        return reading

    def wished(self, only: str = "") -> Clause | None:
        """ "the apple goes in the basket", "the can onto the table": the end that is wanted; None for none."""
        mark = self.at
        there = self.pattern(lexicon_en.THERE_BE) or (self.ending and self.pattern("there (?:is|are|be|to be)"))
        inner = next((one for one in ("only", "just") if there and one in there.split()), only)
        bound = self.phrase(lexicon_en.BOUNDS) or inner
        denied = self.contrasted()
        if not self.noun_here():
            self.at = mark
            return None
        start = self.at
        what = self.nouns()
        inner = next((one for one in self.tokens[start : self.at] if one in ("only", "just")), "")
        said = self.phrase(lexicon_en.EXCEPT)
        self.besides |= said == "besides"
        aside = self.left_out(placed=False, excepted=True)[0] if said and self.noun_here() else ()
        self.phrase((",",) if aside else ())
        alone = self.phrase(lexicon_en.NOTHING_ELSE)  # "the key and nothing else should be …"
        if (
            (shall := self.shall())
            or there
            or self.ahead() in ("into", "onto")
            or (self.listed and self.ahead() in FIRST_PREPS)
        ):
            places, but = self.places("put")
            some = self.narrowed(what)
            bound, what = bound if some is what else "only", some
            if places:
                if "more" in self.tokens[start : self.at]:  # "one more mug should be …": how many are there then?
                    raise NotUnderstood("planner.word", word="more")
                but = (*denied, *aside, *but)
                ors, barred = tuple(self.or_places), tuple(self.barred)
                end = "end" if self.ending or there or re.fullmatch(lexicon_en.SHALL_BE, shall) else ""
                if end and inner:  # "the fig and only the plum"
                    raise NotUnderstood("planner.word", word=inner)
                if end and (alone or self.phrase(lexicon_en.NOTHING_ELSE)):
                    end = "alone"
                elif end and bound:
                    end = lexicon_en.BOUNDS[bound]
                elif bound and bound not in ("only", "just", "nothing but", "nothing except"):
                    raise NotUnderstood("planner.word", word=bound)
                return Clause("put", what, places, but, or_places=ors, gap=self.gap, barred=barred, end=end)
            if there:
                raise NotUnderstood("planner.where", word=f"{there} {what[0].text}")
        self.at = mark
        return None

    def more(self, what: tuple[NounPhrase, ...], place: Place) -> tuple[NounPhrase, ...]:
        """ "Two more mugs in the basket": of those that are not there."""
        side, where = place
        there = where[0]
        if side not in ("in", "on") or len(where) > 1 or not isinstance(there, NounPhrase) or there.pronoun:
            raise NotUnderstood("planner.word", word="more")
        return tuple(replace(n, but=(*n.but, things_at(side, there))) if "more" in n.text.split() else n for n in what)

    def contrasted(self) -> tuple[NounPhrase, ...]:
        """ "Not the cup but" before the mug: what is not meant; () and nothing consumed for none."""
        mark = self.at
        if self.phrase(("not",)) and self.noun_here():
            denied, _ = self.left_out(placed=False)
            of_number = any(n.quantity == "all" or n.text.split()[0] in ("only", "just", "nothing") for n in denied)
            if self.phrase(("but", ", but", "but rather", ", but rather")) and self.noun_here() and not of_number:
                return denied
        self.at = mark
        return ()

    def shall(self) -> str:
        """ "Should be", and of an end that is wanted "is": "make sure the key is in the box and the can is on it"."""
        return self.pattern(lexicon_en.SHALL) or (self.pattern("is|are") if self.ending else "")

    def shift(self) -> DirectionalMove | None:
        """`10 cm to the left`, `away from the can`, `closer to the basket by 5 cm`; None and nothing consumed."""
        if self.ahead() == "right" and self.ahead(1) in FIRST_PREPS - {"of", "by", "to"}:
            return None  # "right in the middle", "right next to": no direction
        mark, metres = self.at, self.length()
        here, way = self.at, self.phrase(lexicon_en.WAYS)
        self.at = here
        other = self.phrase(lexicon_en.AWAY)
        self.at = here
        prep = self.phrase(lexicon_en.PREPS)
        self.at = here
        if len(way) > max(len(other), len(prep)) and (way != "back" or metres or self._metres_after(way)):
            self.at += len(way.split())
            return DirectionalMove(lexicon_en.WAYS[way], metres or self.length())
        if len(other) > len(prep):
            self.at += len(other.split())
            if not self.noun_here():
                raise NotUnderstood(
                    "planner.noun", word=self.ahead() or other, hint=self.vocabulary.closest_word(self.ahead())
                )
            return (
                DirectionalMove(lexicon_en.AWAY[other], metres, self.noun())
                if metres
                else self._away(lexicon_en.AWAY[other])
            )
        self.at = mark
        return None

    def _away(self, way: str) -> DirectionalMove:
        noun = self.noun()
        return DirectionalMove(way, self.length(), noun)

    def _metres_after(self, way: str) -> bool:
        mark = self.at
        self.at += len(way.split())
        found = self.length()
        self.at = mark
        return found > 0

    def _lost(self) -> NotUnderstood:
        word = self.ahead()
        return NotUnderstood("planner.noun", word=word, hint=self.vocabulary.closest_word(word))

    def going(self, verb: str) -> Clause:
        if verb == "go" and (spot := self.coordinates()) is None:
            raise NotUnderstood("planner.word", word=self.ahead() or verb)
        if verb == "go":
            return Clause("go", (), (("at", spot),)) if spot else self._never()
        self.phrase(("above", "over"))
        spot = self.coordinates()
        if spot is not None:
            return Clause("go", (), (("at", spot),))
        if not self.noun_here():
            raise NotUnderstood(
                "planner.noun", word=self.ahead() or verb, hint=self.vocabulary.closest_word(self.ahead())
            )
        nouns = self.nouns()
        places, but = self.places("go")
        return Clause("go", nouns, places, but)

    def _never(self) -> Clause:
        raise NotUnderstood("planner.word", word=self.ahead())

    def sorting(self, what: tuple[NounPhrase, ...]) -> Clause:
        places, but = self.places("sort")
        by = ""
        if self.phrase(("by",)):
            self.phrase(("their", "the"))
            word = self.ahead()
            self.at += 1
            by = {"color": "colour", "colour": "colour", "colors": "colour", "colours": "colour"}.get(word, "")
            by = by or ("kind" if word in ("kind", "kinds", "type", "types", "category", "sort") else "")
            if not by:
                raise NotUnderstood("planner.sort_by" if word else "planner.sort_by_what", word=word)
        more, but2 = self.places("sort")
        if not by:
            raise NotUnderstood("planner.sort_by_what")
        return Clause("sort", what, (*places, *more), (*but, *but2), by)

    def other_place(self, side: str) -> bool:
        """ "… or the tray", "… or on the tray": a place that will do as well; nothing consumed for none."""
        if not self.phrase((", or", "or")):
            return False
        prep = self.phrase(lexicon_en.PREPS)
        if not self.noun_here() or self.verb_here():
            return False
        self.or_places.append((lexicon_en.PREPS.get(prep, side), (self.noun(),)))
        return True

    def not_meant(self, said: str, *, placed: bool, opened: bool) -> tuple[NounPhrase, ...] | bool:
        """What "not" is said of after what was meant: things; True for places; False for neither.

        `said`: the words for it; `placed`: they stand after a place, `opened`: after a comma.
        """
        if (prep := self.phrase(lexicon_en.PREPS)) and self.noun_here():
            nouns, _ = self.left_out(placed=True)
            self.rather |= not placed
            if prep == "before":  # "but not before the can": later
                raise NotUnderstood("planner.negation", "negation", word=said)
            if not placed and not (self.phrase(("but", ", but", "but rather")) and self.ahead() in FIRST_PREPS):
                raise NotUnderstood("planner.negation", "negation", word=said)  # "the cups not in the tub": which?
            self.not_there |= placed and not opened and prep in lexicon_en.WHERE_IT_IS
            if lexicon_en.PREPS[prep] == "from":  # "out of all boxes, but not out of the red box"
                return nouns
            self.barred += nouns if lexicon_en.PREPS[prep] in INTO else ()
            return True
        if prep or not self.noun_here():
            return False
        found, joins = self.left_out(placed=placed)
        each = not joins or any("or" in joined for joined in joins)
        if not each and not self._is_apart(said, joins, placed=placed, opened=opened):
            raise NotUnderstood("planner.left_or_meant", "ambiguous", what=found[-1].text)
        mark = self.at
        self.phrase((",",))
        also = self.phrase(("but", "too", "also", "as well"))  # "not the plate but the spoon", "… and the spoon too"
        self.at = mark
        if also and (joins or also == "but") and not self._but_again():
            raise NotUnderstood("planner.left_or_meant", "ambiguous", what=found[-1].text)
        return found

    def _but_again(self) -> bool:
        """Does "but not", "but leave …" or "but only" follow?"""
        mark = self.at
        self.phrase((",",))
        again = self.ahead() == "but" and self.ahead(1) in ("not", "leave", "keep", "do", "only", "just", "never")
        again |= self.ahead() == "but" and self.ahead(1) in lexicon_en.FIRST_VERBS
        self.at = mark
        return again

    def _is_apart(self, said: str, joins: tuple[str, ...], *, placed: bool, opened: bool) -> bool:
        """Does "not" plainly hold for all of a list that "and" or a comma joins?

        "The cup, not the plate, and the spoon" may mean the spoon too.
        """
        several = len(joins) > 1 and "," in joins[0]
        if placed or self.at == len(self.tokens):
            return joins[-1] in ("and", ",") or several
        closed = self.ahead() == ","
        whole = joins[-1] == "and" and (len(joins) == 1 or (closed and several))
        return whole and (said in ("instead of", "rather than") or (opened and closed))

    def owned_side(self) -> Place | None:
        """ "to the can's left": None and nothing consumed for none."""
        mark = self.at
        if "'s" in self.tokens[mark : mark + 6] and self.phrase(("to", "on", "at")) and self.noun_here():
            noun = self.noun()
            if self.phrase(("'s",)) and (side := self.pattern(r"(?:left|right)(?:-hand)?(?: side)?")):
                return ("left" if side[0] == "l" else "right", (noun,))
        self.at = mark
        return None

    def places(self, act: str) -> tuple[tuple[Place, ...], tuple[NounPhrase, ...]]:
        """Prepositional phrases and exceptions, as many as follow."""
        found: list[Place] = []
        but: list[NounPhrase] = []
        self.or_places, self.barred = [], []
        self.excepted_first = self.not_there = self.rather = False
        while True:
            mark = self.at
            self.phrase((", but", "but", ","))
            stays, self.at = bool(found and self.staying()), mark
            if stays or self.only_here():
                self.at = mark
                return tuple(found), tuple(but)
            if found and act in ("put", "bring") and self.other_place(found[-1][0]):
                continue
            self.at = mark
            if self.phrase(("to me", "to us", "here")) and act == "bring":
                self.to_me = True
                continue
            self.at = mark
            if found and (size := english_manners.closing(self.tokens[self.at :])):  # "in the box, please, not the bin"
                self.at += size
                after = self.tokens[self.at + (self.ahead() == ",") :]
                if not any(after[: len(p.split())] == p.split() for p in (*lexicon_en.CONTRAST, *lexicon_en.EXCEPT)):
                    self.at = mark
            comma = self.ahead() == ","
            self.at += comma
            if (said := self.phrase((*lexicon_en.EXCEPT, *lexicon_en.CONTRAST))) in lexicon_en.CONTRAST:
                if not (found_not := self.not_meant(said, placed=bool(found), opened=comma)):
                    self.at = mark
                    return tuple(found), tuple(but)
                but += found_not if isinstance(found_not, tuple) else ()
                self.barred += found_not if found and isinstance(found_not, tuple) else ()  # "in the box, not the bin"
                continue
            if said:
                self.besides |= said == "besides"
                if not (self.noun_here() or self.general_there()):
                    self.at = mark
                    return tuple(found), tuple(but)
                but += self.left_out(placed=bool(found), excepted=True)[0]
                continue
            self.at = mark
            if owned := self.owned_side():
                found.append(owned)
                continue
            self.at += comma and not found and act == "put" and self.ahead(1) in lexicon_en.PREPS
            self.phrase(("that is", "that are", "which is", "which are", "lying", "standing", "sitting"))
            self.phrase(("right", "just", "directly", "immediately")) if self.ahead(1) in FIRST_PREPS else ""
            self.phrase(("either",)) if self.ahead(1) in FIRST_PREPS else ""
            if not found and act in ("put", "bring", "drop") and self.pattern(lexicon_en.SAME_PLACE):
                found.append(("", (THERE,)))
                continue
            middle = self.at
            gap = self.length() if act in ("put", "bring") else 0.0
            prep = self.phrase(lexicon_en.PREPS)
            if gap and lexicon_en.PREPS.get(prep, "") not in (*lexicon_en.SIDES, "from", "beside"):
                self.at = mark
                return tuple(found), tuple(but)
            self.gap = gap or self.gap
            self.out |= prep in ("out of", "off", "off of")
            self.inside |= prep == "out of"
            self.said_prep = prep or self.said_prep
            self.excepted_first |= bool(prep and but) and not found
            if not prep or (act == "sort" and prep == "by"):
                self.at = mark if middle == mark or not prep else middle
                if prep == "by" or not prep:
                    self.at = mark
                return tuple(found), tuple(but)
            spot = self.coordinates()
            if spot is not None:
                found.append(("at", spot))
            elif act == "put" and prep in _WITHIN and self.ahead() in _ENDS:
                found.append(("in", (NounPhrase("", pronoun=True),)))
            elif lexicon_en.PREPS[prep] in ("in", "on") and not gap and self.phrase(("there",)):
                found.append((lexicon_en.PREPS[prep], (THERE,)))
            elif self.noun_here():
                found.append(("beside" if gap and prep == "from" else lexicon_en.PREPS[prep], self.nouns(gap=True)))
            else:
                word = self.ahead()
                raise NotUnderstood("planner.noun", word=word or prep, hint=self.vocabulary.closest_word(word))
