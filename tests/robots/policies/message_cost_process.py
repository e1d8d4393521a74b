"""Messages of a policy server that say they are long, or are long and hold nothing: all end soon, in little memory.

    message_cost_process.py EVERY       1: each message, 7: every seventh

Prints the case that it is at, and each that took too much; the caller limits this process.
"""

from __future__ import annotations

import io
import itertools
import json
import struct
import sys
import zlib
from collections.abc import Callable, Iterator

import msgpack
import numpy as np

from worldfs.policies import arrays, gr00t, msgpack_arrays
from worldfs.policies.policy_client import PolicyError
from worldfs.testing.cost import confine, spending

CPU_S = 5.0
TIMES = 80  # bytes of memory for each byte of a message, up to as many values as a message may have
ALWAYS = 8 << 20
SIZES = (0, 1, 255, 2**15, 2**16, 2**16 + 1, 2**24, 2**31 - 1, 2**31, 2**32 - 1)
HUGE = (0, 1, 2**16, 2**31, 2**40, 2**62, 2**63, 10**30)
Read = Callable[[bytes], object]


def heads() -> Iterator[bytes]:
    """The head of every kind of msgpack value with every size, alone, nested and beside others."""
    for code in range(256):
        for form in (">B", ">H", ">I"):
            for size in SIZES:
                if size < 256 ** struct.calcsize(form):
                    head = bytes((code,)) + struct.pack(form, size)
                    yield from (head, head + b"x" * 40, head * 900, b"\x92" + head)


def msgpacks() -> Iterator[bytes]:
    yield from heads()
    for one in (b"\x90", b"\x80", b"\xc0", b"\xa0", b"\x00"):
        whole = b"".join(b"\xdc\xff\xff" + one * 65_535 for _ in range(60))
        yield b"\xdc\x00\x3c" + whole
    for dtype, shape in itertools.product(names(), HUGE):
        value = {b"__ndarray__": True, b"data": b"12345678", b"dtype": dtype, b"shape": [min(shape, 2**63), 0]}
        yield msgpack.packb(value)
        yield msgpack.packb({b"__npgeneric__": True, b"data": 1, b"dtype": dtype})


def names() -> tuple[str, ...]:
    return ("<f4", "", "(99999999,9)u1", "i4," * 30_000, "V" + "9" * 300, "U4000000000", "O", "M8[" + "9" * 30 + "s]")


def npys() -> Iterator[bytes]:
    for dtype, one, other in itertools.product(("<f4", "|u1", "|O", "|V0", "<U0", "|V2147483647"), HUGE, HUGE):
        yield npy(repr(dtype), f"({one}, {other})")
    yield npy("'<f4'", "(" + "1," * 30_000 + ")")
    yield npy("[" + "('a', '<f4')," * 400 + "]", "(1,)")
    yield npy("'<f4'", "(" * 90 + ")" * 90)
    for version in ((1, 0), (2, 0), (3, 0), (9, 9)):
        for size in (0, 10, 2**16 - 1):
            yield b"\x93NUMPY" + bytes(version) + struct.pack("<I", size << 16)


def npy(dtype: str, shape: str) -> bytes:
    head = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", len(head)) + head + b"12345678"


def pngs() -> Iterator[bytes]:
    for width, height in itertools.product((0, 1, 4_000, 2**16, 2**31 - 1), repeat=2):
        chunk = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
        data = b"IDAT" + zlib.compress(b"\0" * 1000)
        yield head + struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))
        yield head + struct.pack(">I", 2**31 - 1) + data


def texts() -> Iterator[bytes]:
    for one in (b"[],", b"{},", b"0,", b'"",', b"null,", b"[[],[]],", b"1e9,", b'{"":{}},'):
        yield b"[" + one * (6_000_000 // len(one)) + b"0]"
    for one in (b"[", b'{"a":', b"-", b"9", b"0." + b"0" * 99, b'"\\u0000'):
        yield one * 1_000_000
    for shape, dtype in itertools.product(HUGE, names()):
        yield json.dumps({"__numpy__": "AAAA", "dtype": dtype, "shape": [shape, shape]}).encode()


def as_json(data: bytes) -> object:
    value = arrays.read_json(data)
    return arrays.array_from_json(value)


READERS: dict[str, tuple[Read, Callable[[], Iterator[bytes]]]] = {
    "msgpack": (msgpack_arrays.unpack, msgpacks),
    "msgpack of gr00t": (lambda data: msgpack_arrays.read_msgpack(data, gr00t._plain, strict_map_key=False), msgpacks),
    "npy": (arrays.npy_array, npys),
    "npy in gr00t": (lambda data: gr00t._plain({"__ndarray_class__": True, "as_npy": data}), npys),
    "png": (lambda data: arrays._pixels(data, "here"), pngs),
    "json": (as_json, texts),
}
REFUSED = (PolicyError, ValueError, TypeError, RecursionError, msgpack.UnpackException)


def main() -> int:
    np.save(io.BytesIO(), np.zeros(1))
    confine(2 << 30)
    count, bad, every = 0, 0, int(sys.argv[1])
    for name, (read, cases) in READERS.items():
        for data in itertools.islice(cases(), 0, None, every):
            print(f"{name}: {data[:60]!r}", flush=True, end="\r")
            with spending() as spent:
                try:
                    read(data)
                except REFUSED:
                    pass
                except MemoryError:
                    spent.peak = 2 << 30
            count += 1
            most = ALWAYS + min(TIMES * len(data), 160 << 20) + (3 * 3 * arrays.MOST_PIXELS if name == "png" else 0)
            if spent.cpu_s > CPU_S or spent.peak > most:
                bad += 1
                print(f"TOO MUCH {name}: {spent.cpu_s:.2f} s, {spent.peak >> 20} MiB: {data[:60]!r}", flush=True)
    print(f"\n{count} messages")
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
