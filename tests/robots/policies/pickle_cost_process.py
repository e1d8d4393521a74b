"""Every opcode of a pickle with every size, and small pickles that ask for much: all end soon, in little memory.

    pickle_cost_process.py SURROUNDINGS RANDOM      of each opcode and size, and random pickles beside them

Prints the case that it is at, and each that took too much; the caller limits this process.
"""

from __future__ import annotations

import itertools
import pickle
import pickletools
import random
import struct
import sys
from collections.abc import Iterator

import numpy as np

from worldfs.policies.lerobot_pickle import load_actions
from worldfs.testing.cost import confine, spending

CPU_S = 5.0
TIMES = 80  # bytes of memory for each byte of a pickle, above
SMALL = 1 << 20  # bytes for a pickle of any size
ARRAYS = 64 << 20  # bytes that are allowed for arrays
ROOM = 1 << 30

SIZES = (
    0,
    1,
    2,
    127,
    128,
    255,
    256,
    2**15,
    2**16,
    2**24,
    400_000_000,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**40,
    2**63,
    2**64 - 1,
)
BITS = {"<B": 8, "<H": 16, "<I": 32, "<i": 31, "<Q": 64}
HELPERS = b"clerobot.async_inference.helpers\nTimedAction\n"
BEFORE = (b"", b"\x80\x04N", b"]", b"}", b"(", b"NN", b"((]N", b"]q\x00", HELPERS + b")\x81", b"N" * 30, b"N\x94" * 9)
AFTER = (b"", b".", b"N.", b"a.", b"\n1\n.", b"x" * 300)
STORAGE = b"ctorch.storage\n_load_from_bytes\n"
TENSOR = b"ctorch._utils\n_rebuild_tensor_v2\n"


def storage(numbers: int) -> bytes:
    """A tensor's storage as torch.save wrote it."""
    key = b"X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu"
    parts = [pickle.dumps(0x1950A86A20F9469CFC6C, 2), pickle.dumps(1001, 2), pickle.dumps({}, 2)]
    parts += [b"\x80\x02(" + key + b"J" + struct.pack("<i", numbers) + b"NtQ.", pickle.dumps(["0"], 2)]
    return b"".join(parts) + struct.pack("<q", numbers) + bytes(4 * numbers)


def binary(data: bytes) -> bytes:
    return b"B" + struct.pack("<I", len(data)) + data


def sized(surroundings: int) -> Iterator[tuple[str, bytes]]:
    """Each opcode with each size as its argument, where it can be read and where it cannot."""
    draw = random.Random(surroundings)
    places = list(itertools.product(BEFORE, AFTER))
    forms = ("<B", "<H", "<I", "<i", "<Q")
    arguments = [struct.pack(form, size) for size in SIZES for form in forms if size < 2 ** BITS[form]]
    arguments += [str(size).encode() + b"\n" for size in SIZES]
    for code, argument in itertools.product(range(256), arguments):
        for before, after in draw.sample(places, min(surroundings, len(places))):
            yield f"opcode {code:#04x}", before + bytes((code,)) + argument + after


def asking() -> Iterator[tuple[str, bytes]]:
    """Pickles of a few kilobytes that ask for far more than they hold."""
    kept = binary(storage(100_000)) + b"r\x01\x00\x00\x000"
    yield "one storage, many times", b"\x80\x04" + kept + b"]" + (STORAGE + b"j\x01\x00\x00\x00\x85Ra") * 2_000 + b"."
    one = STORAGE + binary(storage(100_000)) + b"\x85Rr\x01\x00\x00\x000"
    call = TENSOR + b"(j\x01\x00\x00\x00K\x00J\xa0\x86\x01\x00\x85K\x01\x85NNtRa"
    yield "one storage, many tensors", b"\x80\x04" + one + b"]" + call * 2_000 + b"."
    row = HELPERS + b")\x81}(X\x06\x00\x00\x00actionj\x01\x00\x00\x00X\x08\x00\x00\x00timestepK\x01uba"
    shared = b"\x80\x04" + one + TENSOR + b"(j\x01\x00\x00\x00K\x00J\xa0\x86\x01\x00\x85K\x01\x85NNtRr\x01\x00\x00\x000"
    yield "one tensor, many actions", shared + b"]" + row * 3_000 + b"."
    double = b"N\x85r\x01\x00\x00\x000" + b"j\x01\x00\x00\x00j\x01\x00\x00\x00\x86r\x01\x00\x00\x000" * 60
    yield "a key of tuples in tuples", b"\x80\x04" + double + b"}j\x01\x00\x00\x00Ns."
    yield "tuples in tuples", b"\x80\x04" + double + b"j\x01\x00\x00\x00."
    yield "tuples in tuples as letters", b"\x80\x04" + double + b"cnumpy\ndtype\nj\x01\x00\x00\x00\x85R."
    yield (
        "tuples in tuples as sides",
        b"\x80\x04"
        + double
        + one.replace(b"\x01\0\0\x000", b"\x02\0\0\x000")
        + (TENSOR + b"(j\x02\x00\x00\x00K\x00j\x01\x00\x00\x00j\x01\x00\x00\x00NNtR."),
    )
    yield (
        "letters as sides",
        b"\x80\x04" + one + TENSOR + b"(j\x01\x00\x00\x00K\x00J\xff\xff\xff\x7f\x85X\x01\0\0\0a\x85NNtR.",
    )
    yield "deep lists", b"\x80\x04" + b"]" * 150_000 + b"a" * 149_999 + b"."
    yield "deep tuples", b"\x80\x04N" + b"\x85" * 150_000 + b"."
    yield "deep keys", b"\x80\x04N" + b"\x85" * 150_000 + b"}q\x00h\x00NNs."
    yield "marks", b"\x80\x04" + b"(" * 150_000 + b"."
    yield "empty lists", b"\x80\x04" + b"]" * 5_000_000
    yield "empty dictionaries", b"\x80\x04" + b"}" * 5_000_000
    yield "memo", b"\x80\x04N" + b"\x94" * 5_000_000
    yield "a dtype of records", b"\x80\x04cnumpy\ndtype\nX\x30\x75\x00\x00" + b"i4," * 10_000 + b"\x85R."
    yield "a dtype with a size", b"\x80\x04cnumpy\ndtype\nX\x10\x00\x00\x00(99999999,9999)u1"[:-2] + b"\x85R."
    yield (
        "a view with a size",
        b"\x80\x04" + one + b"ctorch.storage\nTypedStorage\n(j\x01\x00\x00\x00X\x09\0\0\0(99999,)1tR.",
    )
    reconstruct = b"cnumpy.core.multiarray\n_reconstruct\n)R(K\x01%scnumpy\ndtype\nX\x02\0\0\0u1\x85RNC\x00tb."
    yield (
        "an array of no bytes and many sides",
        b"\x80\x04" + reconstruct % b"(K\x00J\xff\xff\xff\x7fJ\xff\xff\xff\x7ft",
    )
    yield "a long name", b"\x80\x04c" + b"a" * 5_000_000 + b"\nb\n."


def drawn(count: int) -> Iterator[tuple[str, bytes]]:
    draw = random.Random(count)
    codes = [code.code.encode("latin-1") for code in pickletools.opcodes]
    pieces = [
        HELPERS,
        STORAGE,
        TENSOR,
        binary(storage(10)),
        b"cnumpy\ndtype\n",
        b"X\x02\0\0\0f4",
        b")\x81",
        b"\x85R",
        b"(",
        b"N",
    ]
    for _ in range(count):
        parts = [
            draw.choice(codes) + draw.randbytes(draw.choice((0, 1, 1, 2, 4, 8))) for _ in range(draw.randrange(1, 30))
        ]
        parts += draw.choices(pieces, k=draw.randrange(0, 12))
        draw.shuffle(parts)
        yield "random", b"\x80\x04" + b"".join(parts) + b"."


def main() -> int:
    confine(ROOM)
    np.zeros(1)
    count = bad = 0
    for label, data in itertools.chain(asking(), sized(int(sys.argv[1])), drawn(int(sys.argv[2]))):
        if label != "random":
            print(f"{label}: {data[:60]!r}", flush=True, end="\r")
        memory = False
        with spending() as spent:
            try:
                actions = load_actions(data)
                np.stack([action.reshape(-1) for action in actions or [np.zeros(1)]])  # as the client does
            except ValueError as refused:
                memory = "MemoryError" in str(refused)
        count += 1
        most = SMALL + TIMES * len(data) + (ARRAYS if label.startswith("one ") else 0)
        if memory or spent.cpu_s > CPU_S or spent.peak > most:
            bad += 1
            print(f"TOO MUCH {label}: {spent.cpu_s:.2f} s, {spent.peak >> 20} MiB: {data[:60]!r}", flush=True)
    print(f"\n{count} pickles")
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
