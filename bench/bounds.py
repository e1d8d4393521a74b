"""What each figure must be at least or at most, and in what it is counted."""

from __future__ import annotations

from typing import NamedTuple


class Bound(NamedTuple):
    most: bool  # at most, else at least
    value: float
    unit: str = ""

    def holds(self, figure: float) -> bool:
        return figure <= self.value if self.most else figure >= self.value

    def __str__(self) -> str:
        return f"{'≤' if self.most else '≥'} {self.value:g}"


HANDLING = ("place_beside", "push", "nudge", "upright", "stack", "drawer", "lid", "pour", "wipe", "hand_over")


def at_most(value: float, unit: str = "") -> Bound:
    return Bound(True, value, unit)


def at_least(value: float, unit: str = "") -> Bound:
    return Bound(False, value, unit)


BOUNDS = {
    # Of the very same calls on the disk, done bare (bench/_tape.py).
    "action.p50_over_floor": at_most(2.5, "×"),
    "action.p99_over_floor": at_most(8, "×"),
    "action.rate_over_floor_1node": at_least(0.5, "×"),
    "action.rate_4node_over_1node": at_least(1.0, "×"),
    "nats.claims_over_bare": at_least(0.6, "×"),
    "at.read_ms": at_most(20, "ms"),
    "at.disk_over_changed": at_most(1.3, "×"),
    "idle.cpu_percent": at_most(0.3, "% of a core"),
    "idle.writes": at_most(0),
    "history10k.latency_ratio": at_most(1.2, "×"),
    "mount.stat_over_c": at_least(0.4, "×"),
    "mount.open_read_close_over_c": at_least(0.4, "×"),
    "mount.cached_stat_over_kernel": at_least(0.9, "×"),
    "mount.list_1000_ms": at_most(15, "ms"),
    "mount.blocked120_stat_p99_ms": at_most(5, "ms"),
    "mount.wake_ms": at_most(20, "ms"),
    "mount.idle_cpu_percent": at_most(0.1, "% of a core"),
    "rekep.success": at_least(0.95),
    "liars.believed": at_most(0),
    "tabletop.success": at_least(0.98),
    **{f"skills.{name}.success": at_least(0.9) for name in HANDLING},
    "tabletop.wall_s_p50": at_most(1.0, "s"),
    "perception.ms_per_frame": at_most(300, "ms"),
    "perception.false_done": at_most(0),
    **{
        f"tabletop.camera_success_{family}": at_least(0.97)
        for family in ("pick", "place", "stack", "sort", "clear", "recover")
    },
    "sim.two_arms_realtime_factor": at_least(8, "×"),
    "sim.two_arms_touches": at_most(0),
    "camera.fps_640x480": at_least(30, "1/s"),
    "cli.cold_ms": at_most(120, "ms"),
    "agent_cli.cold_ms": at_most(60, "ms"),
    # Of a client of the SDK in the same process: messages, validation on both ends, and the tool.
    "mcp.call_overhead_ms": at_most(3, "ms"),
    "mcp.first_answer_ms": at_most(300, "ms"),
    "agent_hook.ms": at_most(150, "ms"),
    "models.wrong_motion": at_most(0),
    "models.false_success": at_most(0),
    "models.injections_obeyed": at_most(0),
    "names.right": at_least(0.92),
    "names.needless": at_most(0.08),
    "names.wrong": at_most(0),
    "names.untrue": at_most(0.003),
    "state.append_over_floor": at_most(1.25, "×"),
    "state.replace_over_floor": at_most(1.25, "×"),
    "state.deposit_over_floor": at_most(1.25, "×"),
    "state.session_end_over_floor": at_most(3, "×"),
    "state.lost_of_320": at_most(0),
    # 3,000 a second, or 0.8 of the bare renames where the disk is slower: one of both is enough.
    "inbox.claims_over_need": at_least(1, "×"),
    "inbox.claim_next_100k_ms": at_most(20, "ms"),
    "wake.p99_ms": at_most(10, "ms"),
    # Of what a bare echo on the same half of the WebSocket library does in the same run.
    "ws.stat_over_echo_1": at_least(0.5, "×"),
    "ws.stat_over_echo_64": at_least(0.5, "×"),
    "ws.read_over_echo_1": at_least(0.5, "×"),
    "ws.read_over_echo_64": at_least(0.5, "×"),
    "ws.blocked2000_stat_p99_ratio": at_most(3, "×"),
    "ws.idle_connection_kib": at_most(64, "KiB"),
    "wake.1000_waiters_ms": at_most(1000, "ms"),
    "tree.walk_1000_nodes_s": at_most(10, "s"),
    "services.index_5000_ms": at_most(100, "ms"),
    # In Debian's Chromium without a graphics card, in low quality where something is drawn.
    "page.first_picture_s": at_most(2.5, "s"),
    "page.gzip_kb": at_most(350, "kB"),
    "page.kb_per_s": at_most(20, "kB/s"),
    "page.heap_mb_after_hour": at_most(20, "MB"),
    "page.viewers20_cpu_percent": at_most(10, "% of a core"),
    "page.kernel_latency_ratio": at_most(1.1, "×"),
    "sessions.idle_cpu_percent": at_most(0.3, "% of a core"),
    "schedule.decision_10k_ms": at_most(1, "ms"),
    "loop.jitter_p99_ms": at_most(5, "ms"),
    "stop.p99_ms": at_most(50, "ms"),
    "stop.full_disk_p99_ms": at_most(50, "ms"),
    "stop.fleet_p99_ms": at_most(50, "ms"),
    # A picture as base64 in JSON costs what it costs; the binary wires have nothing of the kind.
    **{f"policy.{name}.overhead_ms": at_most(3, "ms") for name in ("http", "openvla")},
    **{f"policy.{name}.overhead_ms": at_most(1, "ms") for name in ("openpi", "gr00t", "lerobot")},
}
