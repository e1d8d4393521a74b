"""One function of a constraint file made into closures; what no table holds is refused, with line and reason."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np

from worldfs.base.messages import coded

from .allowed_functions import (
    BUILTINS,
    METHODS,
    MODULES,
    PROPERTIES,
    Constant,
    ConstraintError,
    ListedFunction,
    Value,
    check_value,
    checked_index,
    few_numbers,
)
from .constraint_function import (
    BREAK,
    CONTINUE,
    CallFrame,
    ConstraintFunction,
    Expression,
    ReturnSignal,
    Statement,
    spend_budget,
)
from .constraint_grammar import (
    BINARY,
    COMPARE,
    DEPTH,
    NODES,
    UNARY,
    bound_function,
    combine,
    indexed,
    items_of,
    loaded,
    refuse,
    run_block,
)


class FunctionCompiler:
    """One function into closures; everything unknown is refused here, before anything is computed."""

    def __init__(self, file: str, friends: frozenset[str], given: frozenset[str]) -> None:
        self.file, self.friends, self.given = file, friends, given
        self.depth = 0
        self.local: set[str] = set()

    def function(
        self, node: ast.FunctionDef, text: str, friends: Mapping[str, ConstraintFunction]
    ) -> ConstraintFunction:
        if sum(1 for _ in ast.walk(node)) > NODES:
            refuse(self.file, node, f"at most {NODES} parts", "a function that is too long")
        given = node.args
        if (
            given.vararg
            or given.kwarg
            or given.kwonlyargs
            or given.defaults
            or given.posonlyargs
            or node.decorator_list
        ):
            refuse(self.file, node, "def name(end_effector, keypoints):", "decorators, defaults or stars")
        parameters = tuple(argument.arg for argument in given.args)
        for name in (node.name, *parameters):
            self._name(node, name)
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self.local.add(self._name(part, part.id))
        self.local |= set(parameters)
        self.line_friends = friends
        body = self._block(node.body)
        lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
        return ConstraintFunction(node.name, self.file, node.lineno, "\n".join(lines), parameters, body, friends)

    # -- statements --------------------------------------------------------------------------------------------------

    def _block(self, nodes: Sequence[ast.stmt]) -> tuple[Statement, ...]:
        return tuple(self._statement(node) for node in nodes if not isinstance(node, ast.Pass))

    def _statement(self, node: ast.stmt) -> Statement:
        line, inner = node.lineno, self._plain(node)

        def step(frame: CallFrame) -> Value:
            frame.line = line
            spend_budget(frame)
            return inner(frame)

        return step

    def _plain(self, node: ast.stmt) -> Statement:
        match node:
            case ast.Return(value=None):
                return lambda frame: ReturnSignal(None)
            case ast.Return(value=value) if value is not None:
                one = self._of(value)
                return lambda frame: ReturnSignal(one(frame))
            case ast.Assign(targets=[target], value=value):
                return self._assign(target, self._of(value))
            case ast.AnnAssign(target=target, value=value) if value is not None:
                return self._assign(target, self._of(value))
            case ast.AugAssign(target=target, op=op, value=value):
                kind, change = type(op), self._of(value)
                if kind not in BINARY:
                    refuse(self.file, node)
                now = self._of(loaded(target))
                return self._assign(target, lambda frame: combine(kind, frame, now(frame), change(frame)))
            case ast.If(test=test, body=body, orelse=orelse):
                asked, yes, no = self._of(test), self._block(body), self._block(orelse)
                return lambda frame: run_block(yes if asked(frame) else no, frame)
            case ast.For(target=target, iter=over, body=body, orelse=[]):
                return self._loop(self._assign(target, None), self._of(over), self._block(body))
            case ast.Break():
                return lambda frame: BREAK
            case ast.Continue():
                return lambda frame: CONTINUE
            case ast.Expr(value=ast.Constant()):
                return lambda frame: None
            case ast.Expr(value=ast.Call() as call):
                done = self._of(call)

                def perform(frame: CallFrame) -> None:
                    done(frame)

                return perform
        refuse(self.file, node)

    def _loop(self, put: Callable[..., Value], over: Expression, body: tuple[Statement, ...]) -> Statement:
        def loop(frame: CallFrame) -> Value:
            for item in items_of(over(frame)):
                spend_budget(frame)
                put(frame, item)
                signal = run_block(body, frame)
                if signal is BREAK:
                    break
                if isinstance(signal, ReturnSignal):
                    return signal
            return None

        return loop

    def _assign(self, target: ast.expr, value: Expression | None) -> Callable[..., Value]:
        """A closure that stores a value under a name; with `value` None the caller passes the value."""
        put = self._target(target)
        if value is None:
            return put
        return lambda frame: put(frame, value(frame))

    def _target(self, target: ast.expr) -> Callable[[CallFrame, Value], None]:
        match target:
            case ast.Name(id=name):
                return lambda frame, value: frame.names.__setitem__(name, value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                puts = [self._target(part) for part in parts]

                def spread(frame: CallFrame, value: Value) -> None:
                    for put, item in zip(puts, items_of(value), strict=True):
                        put(frame, item)

                return spread
            case ast.Subscript(value=owner, slice=index):
                whose, which = self._of(owner), self._of(index)

                def write(frame: CallFrame, value: Value) -> None:
                    holder = whose(frame)
                    if not isinstance(holder, np.ndarray | list):
                        raise ConstraintError(
                            coded("plugin.rekep_change_of", kind=type(holder).__name__),
                            expected=coded("plugin.rekep_own_array"),
                        )
                    few_numbers(value)
                    holder[checked_index(holder, which(frame))] = value
                    check_value(holder)

                return write
        refuse(self.file, target, "a name")

    # -- expressions -------------------------------------------------------------------------------------------------

    def _of(self, node: ast.expr) -> Expression:
        self.depth += 1
        if self.depth > DEPTH:
            refuse(self.file, node, f"expressions at most {DEPTH} deep", "an expression that nests too deep")
        inner = self._expression(node)
        self.depth -= 1
        return inner

    def _expression(self, node: ast.expr) -> Expression:
        match node:
            case ast.Constant(value=value) if value is None or isinstance(value, bool | int | float):
                constant = check_value(value) if not isinstance(value, int) or abs(value) <= 10**15 else None
                if constant is None and value is not None:
                    refuse(self.file, node, "numbers of this world", "a number beyond 10^15")
                return lambda frame: constant
            case ast.Name(id=name):
                return self._read(node, name)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
                kind, one, other = type(op), self._of(left), self._of(right)

                def binary(frame: CallFrame) -> Value:
                    spend_budget(frame)
                    return combine(kind, frame, one(frame), other(frame))

                return binary
            case ast.UnaryOp(op=unary_op, operand=operand) if type(unary_op) in UNARY:
                turn, inner = UNARY[type(unary_op)], self._of(operand)
                return lambda frame: turn(inner(frame))
            case ast.BoolOp(op=bool_op, values=values):
                return self._bool(isinstance(bool_op, ast.And), [self._of(value) for value in values])
            case ast.Compare(left=left, ops=ops, comparators=rest) if all(type(one) in COMPARE for one in ops):
                return self._compare([self._of(part) for part in (left, *rest)], [COMPARE[type(one)] for one in ops])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                asked, yes, no = self._of(test), self._of(body), self._of(orelse)
                return lambda frame: yes(frame) if asked(frame) else no(frame)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                items, make = [self._of(part) for part in parts], list if isinstance(node, ast.List) else tuple
                return lambda frame: check_value(make(item(frame) for item in items))
            case ast.Subscript(value=owner, slice=index):
                whose, which = self._of(owner), self._of(index)

                def item(frame: CallFrame) -> Value:
                    spend_budget(frame)
                    holder, place = indexed(whose(frame)), which(frame)
                    return check_value(holder[place if type(place) is int else checked_index(holder, place)])

                return item
            case ast.Slice(lower=lower, upper=upper, step=step):
                ends = [self._of(end) if end is not None else None for end in (lower, upper, step)]
                return lambda frame: slice(*(end(frame) if end is not None else None for end in ends))
            case ast.ListComp(elt=element, generators=rounds) | ast.GeneratorExp(elt=element, generators=rounds):
                return self._comprehension(self._of(element), rounds)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call(func=function, args=arguments, keywords=keywords):
                return self._call(node, function, arguments, keywords)
        refuse(self.file, node)

    def _name(self, node: ast.AST, name: str) -> str:
        if name.startswith("_") or "__" in name:
            refuse(self.file, node, "a plain name", f"the name {name}")
        return name

    def _read(self, node: ast.AST, name: str) -> Expression:
        self._name(node, name)
        if name not in self.local:
            what = f"the name {name}"
            refuse(self.file, node, "end_effector, keypoints, and names that the function itself assigns", what)

        def value(frame: CallFrame) -> Value:
            if name not in frame.names:
                raise ConstraintError(
                    coded("plugin.rekep_no_value", name=name), expected=coded("plugin.rekep_assign_first")
                )
            return frame.names[name]

        return value

    def _bool(self, every: bool, parts: list[Expression]) -> Expression:
        def both(frame: CallFrame) -> Value:
            value: Value = every
            for part in parts:
                value = part(frame)
                if bool(value) is not every:
                    break
            return value

        return both

    def _compare(self, parts: list[Expression], asks: list[Callable[[Value, Value], Value]]) -> Expression:
        def compared(frame: CallFrame) -> Value:
            left, value = parts[0](frame), True
            for ask, part in zip(asks, parts[1:], strict=True):
                right = part(frame)
                if isinstance(left, list | tuple) or isinstance(right, list | tuple):
                    raise ConstraintError(
                        coded("plugin.rekep_list_comparison"), expected=coded("plugin.rekep_numbers_or_arrays")
                    )
                spend_budget(frame)
                value = ask(left, right)
                check_value(value)
                if len(asks) > 1 and not value:
                    return value
                left = right
            return value

        return compared

    def _comprehension(self, element: Expression, rounds: Sequence[ast.comprehension]) -> Expression:
        if len(rounds) != 1 or rounds[0].is_async:
            refuse(self.file, rounds[0].iter, "one `for`", "more than one `for` in brackets")
        put, over = self._target(rounds[0].target), self._of(rounds[0].iter)
        tests = [self._of(test) for test in rounds[0].ifs]

        def made(frame: CallFrame) -> Value:
            found = []
            for item in items_of(over(frame)):
                spend_budget(frame)
                put(frame, item)
                if all(test(frame) for test in tests):
                    found.append(element(frame))
            return check_value(found)

        return made

    def _attribute(self, node: ast.Attribute) -> Expression:
        table, name = self._listed(node)
        if table is not None:
            constant = table[name]
            if isinstance(constant, ListedFunction):
                refuse(self.file, node, "a call of it", f"{name} without its brackets")
            return lambda frame: constant
        if node.attr not in PROPERTIES:
            refuse(self.file, node, "one of " + ", ".join(sorted(PROPERTIES)), f"the attribute .{node.attr}")
        owner, attribute = self._of(node.value), node.attr

        def value(frame: CallFrame) -> Value:
            holder = owner(frame)
            if not isinstance(holder, np.ndarray):
                raise ConstraintError(
                    coded("plugin.rekep_attribute_of", attribute=attribute, kind=type(holder).__name__),
                    expected=coded("plugin.rekep_an_array"),
                )
            return check_value(getattr(holder, attribute))

        return value

    def _listed(self, node: ast.Attribute) -> tuple[Mapping[str, ListedFunction | Constant] | None, str]:
        """(table, name) of `np.x`, `np.linalg.x`, `math.x`; (None, "") for an attribute of a value."""
        parts: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            parts.insert(0, inner.attr)
            inner = inner.value
        if not isinstance(inner, ast.Name) or inner.id not in MODULES or inner.id in self.local:
            return None, ""
        name = ".".join(parts)
        if name not in MODULES[inner.id]:
            refuse(self.file, node, f"a pure function of {inner.id} that is listed", f"{inner.id}.{name}")
        return MODULES[inner.id], name

    def _call(
        self, node: ast.Call, function: ast.expr, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword]
    ) -> Expression:
        target, listed = self._callable(node, function)
        self._fits(node, listed, len(arguments), [str(keyword.arg) for keyword in keywords])
        given = [self._of(argument) for argument in arguments]
        named = {str(keyword.arg): self._of(keyword.value) for keyword in keywords}

        def call(frame: CallFrame) -> Value:
            values = [value(frame) for value in given]
            chosen = {name: value(frame) for name, value in named.items()}
            spend_budget(frame, 2 + few_numbers(*values, *chosen.values()) // 16)
            return check_value(target(frame)(*values, **chosen))

        return call

    def _fits(self, node: ast.Call, listed: ListedFunction, given: int, names: Sequence[str]) -> None:
        """Refuses arguments that the function does not take: others of numpy's can cost anything."""
        for name in names:
            if name not in listed.names:
                expected = "one of " + ", ".join(sorted(listed.names)) if listed.names else "arguments by position"
                refuse(self.file, node, expected, f"the argument {name}=")
        if not listed.least <= given <= listed.most:
            expected = str(listed.least) if listed.least == listed.most else f"{listed.least} to {listed.most}"
            refuse(self.file, node, f"{expected} arguments by position", f"{given} arguments")

    def _callable(
        self, node: ast.Call, function: ast.expr
    ) -> tuple[Callable[[CallFrame], Callable[..., Value]], ListedFunction]:
        if isinstance(function, ast.Name):
            name = self._name(function, function.id)
            if name in self.local:
                refuse(self.file, node, "a function that is listed", f"a call of the value {name}")
            if name in self.friends:
                friends = self.line_friends
                return lambda frame: bound_function(friends, name, frame), _OWN
            if name in self.given:
                return lambda frame: frame.names[name], _OWN
            if name not in BUILTINS:
                refuse(self.file, node, "one of " + ", ".join(BUILTINS), f"a call of {name}")
            plain = BUILTINS[name]
            return lambda frame: plain.call, plain
        if not isinstance(function, ast.Attribute):
            refuse(self.file, node, "a function by its name", "a call of a value")
        table, name = self._listed(function)
        if table is not None:
            listed = table[name]
            if not isinstance(listed, ListedFunction):
                refuse(self.file, node, "a function", f"a call of {name}")
            return lambda frame: listed.call, listed
        name = function.attr
        owner = self._of(function.value)
        if name == "append":
            return lambda frame: _appender(owner(frame)), _APPEND
        if name not in METHODS:
            refuse(self.file, node, "one of " + ", ".join(sorted(METHODS)), f"the method .{name}()")
        method = METHODS[name]

        def bound(frame: CallFrame) -> Callable[..., Value]:
            holder = owner(frame)
            if not isinstance(holder, np.ndarray):
                raise _no_method(name, holder)
            return partial(method.call, holder)

        return bound, method


_OWN: Final = ListedFunction(len, 0, 64)  # a function of the file, or of the runtime: it counts its arguments itself
_APPEND: Final = ListedFunction(list.append, 1, 1)


def _appender(holder: Value) -> Callable[..., Value]:
    if not isinstance(holder, list):
        raise _no_method("append", holder)
    check_value([*holder, None])
    return holder.append


def _no_method(name: str, holder: Value) -> ConstraintError:
    return ConstraintError(
        coded("plugin.rekep_method_of", method=name, kind=type(holder).__name__),
        expected=coded("plugin.rekep_an_array"),
    )
