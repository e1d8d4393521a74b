"""How the two languages say what a kind of sentence means: noun phrases, places, and frames to put them into."""

from __future__ import annotations

import random
from collections.abc import Sequence

from . import words_zh
from .labels import EN, Label
from .truth import Item


class Speech:
    """Noun phrases of one language. Names keep their own."""

    def __init__(self, language: str, rng: random.Random) -> None:
        self.en, self.rng = language == EN, rng
        self.language = language

    def pick(self, en: str, zh: str) -> str:
        """One of the ways to say it, written with ` / ` between them."""
        return self.rng.choice((en if self.en else zh).split(" / "))

    def the(self, name: Label) -> str:
        if not self.en:
            return (
                name.text if self.rng.random() < 0.85 else f"{self.rng.choice('这那')}{self.measure(name)}{name.text}"
            )
        if name.text[-1].isdigit() and name.words:
            return name.text
        return f"the {name.text}"

    def measure(self, name: Label) -> str:
        """The Chinese measure word; 个 serves for all."""
        return words_zh.MEASURES.get(name.head, "个") if self.rng.random() < 0.5 else "个"

    def a(self, name: Label) -> str:
        if not self.en:
            return f"一{self.measure(name)}{name.text}"
        return f"{'an' if name.text[0] in 'aeiou' else 'a'} {name.text}"

    def all(self, name: Label) -> str:
        return self.pick(
            "all the {} / all {} / all of the {} / every one of the {}", "所有的{} / 所有{} / 全部{}"
        ).format(name.plural)

    def both(self, name: Label) -> str:
        return self.pick("both {} / both of the {} / both the {}", "两{m}{}都 / 两{m}{}").format(
            name.plural, m=self.measure(name)
        )

    def two_of(self, name: Label) -> str:
        return self.pick("two of the {} / any two of the {} / any two {}", "其中两{m}{} / 任意两{m}{}").format(
            name.plural, m=self.measure(name)
        )

    def one_of(self, name: Label) -> str:
        return self.pick("one of the {} / any one of the {}", "其中一{m}{} / 任意一{m}{}").format(
            name.plural, m=self.measure(name)
        )

    def join(self, said: Sequence[str], word: str = "and") -> str:
        last = {"and": " and ", "or": " or "}[word] if self.en else {"and": "和", "or": "或者"}[word]
        comma = ", " if self.en else "、"
        return comma.join(said[:-1]) + last + said[-1] if len(said) > 1 else said[0]

    def into(self, place: Item, phrase: Label | None = None) -> str:
        """English: "in the basket"; Chinese with its verb: "放进篮子里"."""
        name = phrase or place.name
        tray = place.name.head in ("tray", "托盘")
        if self.en:
            return f"{self.pick('in / into', '') if not tray else self.pick('on / in / onto', '')} {self.the(name)}"
        ways = "放到{}上 / 放在{}上 / 放进{} / 放到{}里" if tray else "放进{} / 放到{}里 / 放进{}里 / 放入{} / 放在{}里"
        return self.pick("", ways).format(name.text)

    def put(self, what: str, where: str) -> str:
        """An order. Chinese `what` may end in 都."""
        if self.en:
            return self.pick(
                "put {} {} / put {} {} / please put {} {} / place {} {} / could you put {} {}? / can you put {} {}? / "
                "please place {} {} / I'd like you to put {} {}",
                "",
            ).format(what, where)
        return self.pick("", "把{}{} / 把{}{} / 请把{}{} / 帮我把{}{} / 麻烦把{}{}").format(what, where)

    def style(self, text: str) -> str:
        """With or without a capital and a full stop."""
        if self.en:
            roll = self.rng.random()
            if roll < 0.3:
                text = text[0].upper() + text[1:]
            return text + "." if self.rng.random() < 0.25 and text[-1] not in "?." else text
        return text + "。" if self.rng.random() < 0.25 and text[-1] not in "？。" else text
