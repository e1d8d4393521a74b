"""Six Feetech STS3215 servos on a serial line that is none: a pseudo-terminal that speaks their protocol.

Packets are FF FF id length instruction parameters checksum; registers as in the servo's memory table.
"""

from __future__ import annotations

import os
import select
import threading
import time
import tty

PING, READ, WRITE, SYNC_READ, SYNC_WRITE = 1, 2, 3, 0x82, 0x83
MODEL, ID, LOW, HIGH, OFFSET, TORQUE, GOAL, PRESENT = 3, 5, 9, 11, 31, 40, 42, 56
STS3215, EVERYBODY = 777, 0xFE
SPEED = 3000  # steps a second


class Servos:
    """`spans`: the calibrated range of each (id 1 …), in steps of 4096 a turn. Each begins in the middle of it."""

    def __init__(self, spans):
        self.memory = {}
        for id, (low, high) in enumerate(spans, 1):
            self.memory[id] = memory = bytearray(256)
            for at, value in ((MODEL, STS3215), (LOW, low), (HIGH, high), (GOAL, (low + high) // 2)):
                memory[at : at + 2] = value.to_bytes(2, "little")
            memory[PRESENT : PRESENT + 2] = memory[GOAL : GOAL + 2]
            memory[0], memory[1], memory[ID] = 3, 10, id
        self.place = {id: float(self.word(id, PRESENT)) for id in self.memory}
        self.goals = []  # each goal of all, as it was written
        self._ours, theirs = os.openpty()
        tty.setraw(theirs)
        self.port, self._theirs = os.ttyname(theirs), theirs
        self._over = threading.Event()
        self._then = time.monotonic()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def word(self, id, at):
        return int.from_bytes(self.memory[id][at : at + 2], "little")

    def close(self):
        self._over.set()
        self._thread.join()
        os.close(self._ours)
        os.close(self._theirs)

    def _serve(self):
        heard = b""
        while not self._over.is_set():
            self._turn()
            if not select.select([self._ours], [], [], 0.005)[0]:
                continue
            heard += os.read(self._ours, 4096)
            while (start := heard.find(b"\xff\xff")) >= 0 and len(heard) >= start + 4:
                end = start + 4 + heard[start + 3]
                if len(heard) < end:
                    break
                self._do(heard[start + 2], heard[start + 4], heard[start + 5 : end - 1])
                heard = heard[end:]

    def _turn(self):
        now = time.monotonic()
        most, self._then = SPEED * (now - self._then), now
        for id, memory in self.memory.items():
            if memory[TORQUE]:
                self.place[id] += max(-most, min(most, self.word(id, GOAL) - self.place[id]))
            offset = self.word(id, OFFSET)  # a sign in bit 11
            seen = round(self.place[id]) + (offset & 0x7FF if offset & 0x800 else -offset)
            memory[PRESENT : PRESENT + 2] = (seen % 4096).to_bytes(2, "little")

    def _do(self, id, what, given):
        if what == PING:
            for each in self.memory if id == EVERYBODY else (id,):
                self._say(each)
        elif what == READ:
            self._say(id, self.memory[id][given[0] : given[0] + given[1]])
        elif what == WRITE:
            self.memory[id][given[0] : given[0] + len(given) - 1] = given[1:]
            self._say(id)
        elif what == SYNC_READ:
            for each in given[2:]:
                self._say(each, self.memory[each][given[0] : given[0] + given[1]])
        elif what == SYNC_WRITE:
            at, size = given[0], given[1]
            rows = [given[i : i + size + 1] for i in range(2, len(given), size + 1)]
            for row in rows:
                self.memory[row[0]][at : at + size] = row[1:]
            if at == GOAL:
                self.goals.append([int.from_bytes(row[1:3], "little") for row in rows])

    def _say(self, id, words=b""):
        if id in self.memory:
            body = bytes([id, len(words) + 2, 0, *words])
            os.write(self._ours, b"\xff\xff" + body + bytes([~sum(body) & 0xFF]))
