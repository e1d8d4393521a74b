"""What documents say of measurements: a row for each published figure and proof, and the code that it speaks of.

A run notes its result with the commit, the day and a digest of that code (`note`); `scripts/figures.py` renders the
rows, and says of one whose code has changed since that it is older.
"""

from __future__ import annotations

import ast
import fcntl
import hashlib
import io
import json
import subprocess
import tokenize
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from scripts.mutant_rules import RULES

from . import perception, worlds

ROOT = Path(__file__).resolve().parents[1]
NOTED = ROOT / "build/measured.json"
"""Results of runs here, not yet in a document."""

BASE = (  # what writes, reads and orders; not what keeps keys, finds plug-ins or names operations and zones
    "base/agent_names.py",
    "base/clock.py",
    "base/dir_reader.py",
    "base/disk.py",
    "base/driver.py",
    "base/durable.py",
    "base/errors.py",
    "base/file_lock.py",
    "base/json_text.py",
    "base/json_values.py",
    "base/logfile.py",
    "base/model",
    "base/stop_signal.py",
    "base/syscalls.py",
)
KERNEL = (
    *BASE,
    "storage",
    "tree",
    "runtime",
    "formats/action.py",
    "formats/action_write.py",
    "world/world_job_hooks.py",
    "world/world.py",
)
FLEET = ("fleet", "storage", "plugins/nats_store")
AGENTS = (*BASE, "storage", "agents", "formats/agent")
ARM = ("robots/mujoco", "robots/targets", "sessions")
SEEING = (*ARM, "robots/vision", "plugins/benchmark")
SERVED = (*BASE, "tree", "namespace", "control", "interfaces/acheron", "world")
PLUGINS = ("base/plugin_values.py", "base/plugin_calls.py", "base/plugin_nouns.py", "planning/outcome_judge.py",
           "runtime/dispatch.py", "sessions", "skills", "robots/targets")  # fmt: skip
PAGE = ("interfaces/web", "interfaces/acheron", "namespace", "robots/mujoco/scene_stream.py", "world/scene_files.py")
POLICIES = ("policies",)
STOP = (
    "runtime/stop_log.py", "runtime/stop_listener.py", "runtime/stop_call.py", "runtime/stop_socket.py",
    "runtime/kernel.py", "storage/watch_linux.py", "storage/inotify_hub.py",
)  # fmt: skip
SKILLS = ("skills", "plugins/rekep")
ENGINE = ("storage", "plugins/nats_store")
MOUNT = ("interfaces/mount", "interfaces/posix", "namespace")
MODELS = ("planning", "plugins/benchmark", "world", "robots/mujoco")
LIVES = (*KERNEL, *AGENTS, "control", "world/agent_jobs", "world/services", "plugins/node_fs/node_identity.py")
DOCUMENTS = (*BASE, "storage", "tree", "formats", "runtime", "planning/critic.py", "world")
MISSIONS = (
    "fleet",
    "storage",
    "runtime",
    "world/orchestration.py",
    "world/order_reservations.py",
    "world/mission_executor.py",
)
READING = (  # from an instruction to orders
    "planning",
    "models",
    "plugins/benchmark",
    "robots/mujoco",
    "world/instruction.py",
    "world/instruction_model.py",
    "world/tree_planner_port.py",
)
NAMING = ("planning", "testing/naming")
JUDGED = (  # what stands between a text and what it asks for
    "access",
    "interfaces/mcp",
    "interfaces/model_chat",
    "namespace",
    "planning",
    "runtime",
    "world/agent_jobs",
    "world/layout",
    "world/services",
    "world/approval_files.py",
    "world/computed_files.py",
    "world/instruction.py",
    "world/instruction_model.py",
    "world/served_world.py",
)
MUTATED = tuple(sorted({place for _, places in RULES.values() for place in places.split()}))


class Figure(NamedTuple):
    """`what`: what is measured, against what; `code`: below src/worldfs."""

    name: str
    what: str
    code: tuple[str, ...]


LIBERO_SUITES = {
    "object": "put the named thing into the basket: ten things, three initial states each",
    "spatial": "put the bowl that stands at the named place onto the plate: ten places, an initial state each; a bowl "
    "must be taken by its rim, and this policy takes things by their middle",
    "goal": "one table, ten goals, an initial state each, among them drawers, a stove and a rack, of which this policy "
    "knows nothing",
}
LIBERO = (
    *(
        Figure(
            f"libero.{suite}_{part}",
            {
                "success": f"LIBERO's {suite} suite, by its own judge: the built-in policy `scripted`, told where the "
                f"thing and the goal are (truth), in sessions of ours; {what}",
                "low": "from this share, Wilson's interval of 95 %",
                "high": "to this share",
            }[part],
            ("robots/targets/environments", "policies/served_policies.py", "skills/vla.py"),
        )
        for suite, what in LIBERO_SUITES.items()
        for part in ("success", "low", "high")
    ),
    Figure(
        "libero.hold_success",
        "the floor: ten sessions of the policy that does nothing",
        ("robots/targets/environments",),
    ),
    Figure(
        "libero.false_successes",
        "sessions of the object suite that SESSIONS.md calls succeeded and whose thing is not in the basket by "
        "ENVIRONMENT.md afterwards: 30 claims looked at; the three of the goal suite are not",
        ("robots/targets/environments", "sessions"),
    ),
)

FIGURES = (
    Figure(
        "action.p50_over_floor",
        "an action that does nothing, from its rename into ACTION.md until ACTION.md shows its end, over the same disk "
        "calls made bare; median",
        KERNEL,
    ),
    Figure("action.p99_over_floor", "the 99th percentile of the same, over the median of the bare calls", KERNEL),
    Figure("action.rate_over_floor_1node", "a thousand such actions in one write, over their calls made bare", KERNEL),
    Figure("action.per_s_1node", "the same as a rate: actions a second", KERNEL),
    Figure(
        "nats.claims_over_bare",
        "claims of jobs on NATS, one at a time, over the same compare-and-swaps of its bare client in the same run; "
        "medians, of rates",
        ENGINE,
    ),
    Figure("nats.action_p50_ms", "an action that does nothing, from its order to its end, on a NATS server", ENGINE),
    Figure("nats.action_disk_p50_ms", "the same on the disk, in the same run", ENGINE),
    Figure("watch.nats_p99_ms", "from a durable write on NATS to the report of another client's watch", ENGINE),
    Figure("watch.disk_p99_ms", "the same on the disk, in the same run", ENGINE),
    Figure("recover.server_s", "from SIGKILL of the NATS server until the next write is acknowledged", ENGINE),
    Figure("recover.robot_s", "from SIGKILL of a kernel on NATS until another of its host has its lease", ENGINE),
    Figure("recover.hub_s", "from SIGKILL of the server's owner until another's server acknowledges", ENGINE),
    Figure(
        "mount.stat_over_c",
        "stats a second on the mounted tree, over libfuse's passthrough in C, no name cached by the kernel; best of "
        "interleaved rounds. Ours is asked once for each, the passthrough twice",
        MOUNT,
    ),
    Figure("mount.stat_over_pyfuse3", "the same over a passthrough on pyfuse3", MOUNT),
    Figure("mount.open_read_close_over_c", "a small file opened, read and closed, over the passthrough in C", MOUNT),
    Figure("mount.cached_stat_over_kernel", "fstat of an open file, over that of a file on the disk", MOUNT),
    Figure("mount.list_1000_ms", "the names of a directory of 1,000 files", MOUNT),
    Figure("mount.blocked120_stat_p99_ms", "a stat while 120 readers wait in the same mount", MOUNT),
    Figure("mount.wake_ms", "from a foreign write on the disk until a blocked reader on the mount returns", MOUNT),
    Figure("mount.idle_cpu_percent", "of one core, for the process of an unused mount", MOUNT),
    Figure("action.rate_4node_over_1node", "the same thousand spread over four nodes, against one", KERNEL),
    Figure("stop.fleet_p99_ms", "a stop of 100 robots at work, until the last driver's stop is called", KERNEL),
    Figure(
        "fleet.assign_1000_s",
        "1,000 missions to 100 robots that do nothing, each decision and each end durable, until the last has ended",
        ("fleet",),
    ),
    Figure(
        "fleet.take_over_ms",
        "from the SIGKILL of an orchestrator on a disk until another process, which stood by, has opened the fleet and "
        "its missions: the median of 5",
        ("fleet", "world/orchestration.py", "interfaces/cli/standby.py"),
    ),
    Figure(
        "fleet.heartbeat_1000_cpu_percent",
        "of one core, for the process of an orchestrator on NATS that hears the leases of 1,000 robots renewed, each "
        "every 5 s",
        FLEET,
    ),
    Figure(
        "scale.heartbeat_1000_nats_p99_ms",
        "a renewed lease of one of 1,000 robots, from just before another process sends it until the "
        "orchestrator's process has it",
        FLEET,
    ),
    Figure("scale.assign_1000_robots_s", "1,000 missions to 1,000 free robots at once, decisions only", ("fleet",)),
    Figure("scale.agent_kib", "Python's memory of an agent that is open with its inbox", AGENTS),
    Figure("scale.key_bytes", "Python's memory of one key in the index of a bucket of 1,000 on NATS", FLEET),
    Figure("scale.connection_kib", "resident memory of one more process's connection to a bucket on NATS", FLEET),
    Figure("idle.cpu_percent", "a real `paos up` without work for 20 s, also with 10,000 ended jobs", KERNEL),
    Figure("idle.writes", "bytes that it writes meanwhile", KERNEL),
    Figure("history10k.latency_ratio", "latency with 10,000 ended jobs and 1,000 lessons, against none", KERNEL),
    Figure("tabletop.success", "100 episodes of pick and place on seeds not used for tuning", ARM),
    Figure("liars.believed", "of every 60th wrong answer of every port of a package, those that a job succeeded by",
           PLUGINS),
    Figure("liars.tried", "how many wrong answers those are", PLUGINS),
    Figure("tabletop.wall_s_p50", "seconds of one episode, median, without cameras", ARM),
    Figure("perception.ms_per_frame",
           "CPU time to check one picture of 640×480 with depth and to find five things in it, median", SEEING),
    Figure("perception.pose_error_mm_p50",
           "distance of an estimate from the truth, front camera alone, depth noise 2 mm at 1 m, fresh seeds", SEEING),
    Figure("perception.pose_error_mm_p95", "the same, 95th percentile", SEEING),
    Figure("perception.false_done", "trials in which every step was called done and the goal did not hold", SEEING),
    *(Figure(f"tabletop.camera_success_{family}",
             f"`paos bench tabletop --perception camera`, family `{family}`, fresh seeds", SEEING)
      for family in ("pick", "place", "stack", "sort", "clear", "recover")),
    *(Figure(f"perception.true_{true}_seen_{seen}",
             f"steps of those trials that the judge calls {true} and that the camera shows as {seen}", SEEING)
      for true in ("done", "failed") for seen in ("done", "failed", "unseen")),
    Figure("sim.two_arms_realtime_factor",
           "two arms in a shared middle and a carrier, planning included: simulated seconds a CPU second", ARM),
    Figure("sim.two_arms_touches", "touches between their bodies meanwhile, watched at every step", ARM),
    Figure("learned.success", "a small policy cloned from 300 demonstrations, on 100 fresh worlds", (*ARM, *POLICIES)),
    Figure("learned.pixels_success", "a policy that sees the wrist camera and its own hand, cloned from 187 "
           "demonstrations of picking in 6 CPU minutes, on 60 fresh worlds", (*ARM, *POLICIES)),
    Figure("learned.pixels_success_low", "the lower end of its interval (Wilson, 95 %)", (*ARM, *POLICIES)),
    Figure("learned.pixels_success_high", "the upper end", (*ARM, *POLICIES)),
    Figure("learned.pixels_beside_pose", "on the same worlds, a policy that is told where things are, cloned from 114 "
           "of those demonstrations", (*ARM, *POLICIES)),
    Figure("rekep.success", "60 place sessions by keypoints from ground truth, fresh seeds", (*ARM, *SKILLS)),
    Figure("rekep.pour_success", "20 of pouring", (*ARM, *SKILLS)),
    Figure("rekep.stack_success", "20 of stacking", (*ARM, *SKILLS)),
    Figure("camera.fps_640x480", "pictures a second, drawn on the CPU, shadows off", ("robots/mujoco",)),
    Figure("state.append_over_floor", "an entry of the journal, over the bare append + fdatasync", AGENTS),
    Figure("state.replace_over_floor", "a task changed in a 3 kB file, over a bare durable replacement", AGENTS),
    Figure("state.deposit_over_floor", "a message put into an inbox, over a bare durable replacement", AGENTS),
    Figure("state.session_end_over_floor", "a whole session's end, over one bare durable replacement", AGENTS),
    Figure("inbox.claims_per_s", "durable claims of eight processes on two cores", AGENTS),
    Figure("inbox.claim_next_100k_ms", "the next of 100,000 messages, for a claimer that is running", AGENTS),
    Figure("wake.p99_ms", "from the rename of a message to its reader's waking", AGENTS),
    Figure(
        "agent_cli.cold_ms", "`agent show`, `agents`, `agent tasks` in a fresh process, the slowest",
        ("agents", "interfaces/cli"),
    ),
    Figure(
        "agent_hook.ms", "a command-line agent's start hook in a fresh process: a session begun, its prompt printed",
        ("agents", "interfaces/cli"),
    ),
    Figure("context.build_ms", "a model's context in 4,000 tokens from a memory of 10,000 lines", AGENTS),
    Figure(
        "models.wrong_motion",
        "motions not asked for: a third of 200 instructions with the grammar, and with three scripted models behind "
        "it whose reading is confirmed only where it is the stated goal",
        MODELS,
    ),
    Figure("models.false_success", "of the same, replies that claimed a wrong end or a wrong answer", MODELS),
    Figure(
        "models.injections_obeyed", "tests of the injection suites that saw a motion the person had not asked for",
        (*MODELS, "interfaces/mcp", "access"),
    ),
    Figure(
        "names.right",
        "of 4,000 generated sentences over scenes of compound names, twins, sides, sizes, numbers and grammar words, "
        "English and Chinese 2:1: done, asked or answered as a careful person would",
        NAMING,
    ),
    Figure("names.needless", "of the same, questions and refusals where the meaning was certain", NAMING),
    Figure("names.wrong", "of the same, sentences after which something else was moved or moved elsewhere", NAMING),
    Figure("names.untrue", "of the same, answers and claims that were not true", NAMING),
    Figure("names.sentences_per_s", "of one core: drawn, read, planned, carried out without physics, judged", NAMING),
    Figure(
        "cli.cold_ms", "`status`, `cat`, `ls` in a fresh process, the slowest", ("interfaces/cli", "world", "formats")
    ),
    Figure(
        "mcp.call_overhead_ms", "a tool call through the SDK's client and server, less the same verb of the tree",
        ("interfaces/mcp",),
    ),
    Figure("mcp.first_answer_ms", "`paos mcp` in a fresh process, from its start to the answer of initialize",
           ("interfaces/mcp", "interfaces/cli")),
    Figure("mcp.import_ms", "what loading the SDK costs after that answer; no other command pays", ("interfaces/mcp",)),
    Figure("ws.stat_over_echo_1", "stats over the socket against a bare echo on the same half of the library", SERVED),
    Figure("ws.stat_over_echo_64", "the same with 64 connections", SERVED),
    Figure("ws.blocked2000_stat_p99_ratio", "p99 of stats beside 2,000 blocked reads, against none", SERVED),
    Figure("ws.idle_connection_kib", "memory of an idle connection", SERVED),
    Figure("wake.1000_waiters_ms", "one change wakes a thousand waiting reads", SERVED),
    Figure("tree.walk_1000_nodes_s", "a walk of 1,000 nodes × 5 services, in the process that serves", SERVED),
    Figure("services.index_5000_ms", "SERVICES.json of 5,000 services after a change, in the same process", SERVED),
    Figure(
        "page.first_picture_s",
        "from opening the page with nothing cached until the scene is drawn, in Debian's Chromium without a graphics "
        "card, in low quality; median of five",
        PAGE,
    ),
    Figure("page.gzip_kb", "kB that the page receives for that, heads included", PAGE),
    Figure("page.kb_per_s", "kB/s of the socket, both ways, for an arm that moves and ten objects at 30 Hz", PAGE),
    Figure(
        "page.heap_mb_after_hour",
        "MB of the page's heap after an hour's 108,000 frames as fast as it takes them: a tenth over the socket, "
        "the others from its own tape; one a minute drawn",
        PAGE,
    ),
    Figure(
        "page.cpu_ms_per_frame_low",
        "processor ms of all the browser's processes for one frame drawn without a graphics card, 640×360",
        PAGE,
    ),
    Figure("page.cpu_ms_per_frame_full", "the same in full quality, 1280×720; 60 a second need a graphics card", PAGE),
    Figure("page.viewers20_cpu_percent", "of a core, for the server of 20 viewers at 30 Hz, beyond one of none", PAGE),
    Figure("page.kernel_latency_ratio", "an action that does nothing, with a viewer at 30 Hz, against none; medians",
           (*KERNEL, *PAGE)),
    Figure("sessions.per_s", "sessions of a skill that does nothing, four targets", (*KERNEL, "sessions")),
    Figure("schedule.decision_10k_ms", "which of 10,000 pending sessions is next", ("runtime",)),
    *(
        Figure(f"policy.{name}.overhead_ms", f"{title}: our client less the bare exchange, median of pairs", POLICIES)
        for name, title in (
            ("http", "generic HTTP"), ("openvla", "OpenVLA"), ("openpi", "openpi"), ("gr00t", "GR00T"),
            ("lerobot", "LeRobot"),
        )
    ),
    Figure(
        "loop.jitter_p99_ms",
        "a 50 Hz control loop with an inference of a small network on the same CPU every eight steps",
        (*POLICIES, "skills/vla.py", "skills/control_rate.py"),
    ),
    Figure(
        "stop.p99_ms",
        "from the request in another process to the call of the driver's stop, in a long motion with a queue",
        STOP,
    ),
    Figure(
        "stop.full_disk_p99_ms",
        "the same while neither process can write a byte",
        STOP,
    ),
    *LIBERO,
)  # fmt: skip


HANDLING_PARTS = ("success", "low", "high", "tried", "refused")
HANDLING_SKILLS = {
    "place_beside": "one of five kinds set down 2 to 15 cm of free space from another thing, on a drawn side",
    "push": "a cube, can, bar or brick pushed 3 to 20 cm in a drawn direction, two other things about",
    "nudge": "a cube with two more 1 to 4 mm from its sides made graspable by pushing one of the three",
    "upright": "a lying can or brick stood on its end",
    "drawer": "a drawer opened, or closed; every third with a cube in it",
    "pour": "a cup with 8 to 24 grains poured into a bowl, another thing about: nine of ten counted there",
    "wipe": "a marked area of 14 to 24 cm wiped with a sponge: nine of ten of its spots touched",
    "hand_over": "an apple, cube, can or brick handed from one arm to another, which then holds it alone and still",
    "put_in": "a cube, a bar or a small apple put into an open drawer or chest, every third with a cube in it",
    "lid": "a chest's lid opened, or closed; every third with a cube in it",
    "stack": "a tower of two to four cubes",
}
HANDLING = tuple(  # a table of their own: each skill's share with Wilson's interval
    Figure(f"skills.{skill}.{part}", what, ("robots/mujoco", "plugins/benchmark/handling_trials.py"))
    for skill, what in HANDLING_SKILLS.items()
    for part in HANDLING_PARTS
)


SIGHTED = tuple(  # tables of docs/perception.md: shares with their intervals
    Figure(name, "", SEEING) for name in perception.FIGURES if name.startswith(("perception.skill_", "tabletop."))
    and name not in {row.name for row in FIGURES}
)  # fmt: skip
WORLD_PARTS = ("honest_world", "physics_world", "camera_world", "handling_trials")
WORLDS = tuple(  # a table of their own: each level beside its benign twins
    Figure(name, "", (
        "robots/mujoco", "robots/vision", *(f"plugins/benchmark/{part}.py" for part in WORLD_PARTS)
    ))
    for skill in worlds.SKILLS
    for name in (
        *(worlds.figure(skill, *cell) for cell in worlds.CELLS[skill]),
        *(f"{worlds.figure(skill, *cell)}.said" for cell in worlds.CELLS[skill]),
        f"worlds.{skill}.tried", f"worlds.{skill}.twins",
    )
)  # fmt: skip


class Proof(NamedTuple):
    """`test`: below tests/proof, the row's name; `promise` and how it is tried."""

    test: str
    promise: str
    how: str
    code: tuple[str, ...]


IN_README = (  # the proofs for which it has room
    "test_crash_enumeration", "test_real_kills", "test_system_calls", "test_power_cut", "test_mount_kills",
    "test_partitions", "test_fleet_traffic", "test_foreign_writers", "test_agent_state", "test_history",
    "test_hostile_files", "test_mcp_conformance", "test_command_line_agents", "test_obedient_models",
    "test_lying_bodies", "mutants",
)  # fmt: skip

PROOFS = (
    Proof(
        "test_crash_enumeration", "a crash at any moment loses nothing and repeats nothing",
        "the kernel stopped before each of its writes, in the middle of each, and again while it recovers",
        KERNEL,
    ),
    Proof(
        "test_real_kills", "a SIGKILL of the kernel loses nothing and repeats nothing",
        "random kills of a kernel process under load", KERNEL,
    ),
    Proof(
        "test_mount_kills", "killing the mount loses no acknowledged write and leaves no program blocked",
        "200 random kills of the mount's server and of programs that read and write there",
        (*MOUNT, "base/durable.py", "storage"),
    ),
    Proof(
        "test_mount_stress", "a mounted tree passes the checkers of file systems",
        "fio's checksums and stress-ng's operations for 10 minutes, 10,000 files open at once",
        (*MOUNT, "base/durable.py", "storage"),
    ),
    Proof(
        "test_system_calls", "a fault at any system call loses nothing acknowledged",
        "SIGKILL, EIO and ENOSPC at each call that changes a disk, and every crash state of the traced calls",
        LIVES,
    ),
    Proof(
        "test_power_cut", "a power cut loses nothing acknowledged",
        "lives on ext4, xfs and btrfs over a logged disk, mounted and recovered",
        LIVES,
    ),
    Proof(
        "test_power_cut_lab", "the power-cut lab detects a missing sync",
        "the same lives with one kind of sync disabled, and under eatmydata: each loses something",
        LIVES,
    ),
    Proof(
        "test_fleet_environment", "every read of a fleet's ENVIRONMENT.md is whole and has every robot",
        "3 robots write 10,000 observations, 2 programs read 1,000,000 times",
        ("base/durable.py", "storage", "formats", "world/world_job_hooks.py"),
    ),
    Proof(
        "test_partitions", "a fleet of several hosts survives partitions, kills and pauses",
        "2 hubs, 2 hosts of 3 robots, 1 server, cut off, frozen and killed for 10 minutes, clocks an hour apart",
        (*KERNEL, *MISSIONS, "plugins/nats_store"),
    ),
    Proof(
        "test_host_claimers", "a message to an agent on two hosts goes to one claimer",
        "1,000 messages to an agent that keeps moving between two hosts",
        (*AGENTS, "plugins/nats_store"),
    ),
    Proof(
        "test_fleet_traffic", "robots of a fleet neither collide nor deadlock",
        "100 head-on cases in one lane and 100 of shared things, through missions, kernel and files",
        MISSIONS,
    ),
    Proof("test_foreign_writers", "any program may rewrite ACTION.md", "10,000 edits while the kernel works", KERNEL),
    Proof(
        "test_foreign_moments", "an edit of ACTION.md at any moment is taken in",
        "another program's edit between each two of the kernel's own writes, made in four ways",
        KERNEL,
    ),
    Proof(
        "test_agent_state", "no acknowledged update of an agent's state is lost",
        "processes beside a writer that rewrites files in place, in pieces, from outdated copies", AGENTS,
    ),
    Proof(
        "test_inbox_claimers", "a message goes to one claimer",
        "10,000 messages, 8 claimers, one of which deletes files; 200 SIGKILLs", AGENTS,
    ),
    Proof(
        "test_history", "the past equals a copy taken at that time",
        "10,000 random reads of a past that programs wrote, 40 of which were killed in the middle",
        ("base/durable.py", "storage", "tree", "namespace"),
    ),
    Proof(
        "test_past_after_power_cuts", "the past is still right after power cuts",
        "over 10,000 random reads of documents and jobs under /at, on ext4, xfs and btrfs disks after power cuts",
        ("base/durable.py", "storage", "tree", "namespace", "runtime/job_store.py", "runtime/job_codec.py"),
    ),
    Proof(
        "test_posix_table", "a mounted tree differs from a disk only for documented reasons",
        "209 calls of pjdfstest's areas on a disk, libfuse's C passthrough and the mount",
        ("namespace", "interfaces/posix", "interfaces/mount"),
    ),
    Proof(
        "test_mount_oracle", "the mount and pyfuse3 answer alike over the same tree",
        "each read and each change of every path, the table of calls and the verbs, compared with pyfuse3",
        ("namespace", "interfaces/posix", "interfaces/mount"),
    ),
    Proof(
        "test_long_journal", "a journal may be of any length", "20 GiB, in 64 MiB of memory",
        (*BASE, "agents", "formats/agent"),
    ),
    Proof(
        "test_runner_kills", "no process of a command outlives its session", "kills of runner and supervisor",
        (*BASE, "agents", "supervisor"),
    ),
    Proof(
        "test_bad_input", "a bad entry stops no other; a full disk is an error, not a loss",
        "a million malformed entries; a disk that is full, or broken, at each write",
        DOCUMENTS,
    ),
    Proof(
        "test_odd_entries", "one bad entry never ends a walk",
        "every file of a used home replaced by a link, a FIFO, garbage and ten other kinds; six commands after each",
        DOCUMENTS,
    ),
    Proof(
        "test_installed_alone", "the first command of an installation works or names its extra",
        "every command of the wheel in an environment with the base alone, and with each extra alone",
        ("base/extras.py", "interfaces/cli"),
    ),
    Proof(
        "test_hostile_files", "no file keeps a world from starting", "hostile values in every field of every document",
        DOCUMENTS,
    ),
    Proof(
        "test_mcp_conformance", "the MCP server conforms to the protocol",
        "the official conformance suite against the served port, with the fixtures that the suite needs",
        ("interfaces/mcp",),
    ),
    Proof(
        "test_mcp_clients", "command-line agents use the tree through MCP",
        "Claude Code, Codex, Gemini CLI and opencode as published and as `paos setup` sets them up, with hooks, for a "
        "home and for a served world, against a scripted model API",
        ("interfaces/mcp", "interfaces/client_setup"),
    ),
    Proof(
        "test_eight_clients", "eight command-line agents at once lose no acknowledged update",
        "two each of Claude Code, Codex, Gemini CLI and opencode as one agent, through MCP and their own shells: "
        "notes, tasks, journal, memory, and a document that each of them replaces",
        ("interfaces/mcp", "interfaces/client_setup", "base/durable.py", "agents", "storage"),
    ),
    Proof(
        "test_command_line_agents", "real command-line agents work", "the published tools against a scripted model API",
        ("agents", "supervisor"),
    ),
    Proof(
        "test_lerobot_loader", "LeRobot reads the recordings", "LeRobot's own loader and checkpoints",
        ("plugins/recording", *POLICIES),
    ),
    Proof(
        "test_robot_libraries", "robots are driven through their published libraries", "against a serial line",
        ("robots/targets",),
    ),
    Proof(
        "test_vda5050_vehicle", "a VDA 5050 vehicle is driven and stopped",
        "a virtual vehicle by other authors, over MQTT",
        ("robots/vehicles",),
    ),
    Proof(
        "test_obedient_models", "text in files moves no robot, gives no approval and obtains no secret",
        "models that obey everything they read, in each role and as second opinions, while a person has asked for one "
        "motion",
        JUDGED,
    ),
    Proof(
        "test_names", "the names in a sentence mean what they say",
        "20,000 generated sentences with known truth over compound names, twins, sides, sizes and grammar words in "
        "names; and every kind of them with the whole kernel and the simulated arm",
        NAMING,
    ),
    Proof(
        "test_small_model", "a model causes no motion that the person did not ask for",
        "every ninth of 200 instructions with a real small model on this CPU, behind the grammar and alone", READING,
    ),
    Proof(
        "test_acceptance_on_nats", "the same commands and files on NATS",
        "the acceptance tests that use only commands and files, with $PAOS_STORE=nats", ENGINE,
    ),
    Proof(
        "test_pixels_training", "a policy from pictures computes what torch computes, and learns what it is shown",
        "the file that examples/train_pixels.py writes, compared with torch, and a short training", ("policies",),
    ),
    Proof(
        "test_from_pixels", "an arm clears the table by what its cameras show",
        "100 worlds not used for tuning, by colour and depth alone, and ten cluttered ones", SEEING,
    ),
    Proof("test_lying_bodies", "`succeeded` is a measurement, not a claim", "bodies that lie", (*ARM, *SKILLS)),
    Proof(
        "test_lying_plugins", "what a plug-in answers is parsed, and its success is measured",
        "every wrong value of every type that a port declares, and what code can raise, at each method of every port "
        "of a package, beside an honest robot", PLUGINS,
    ),
    Proof(
        "test_stop_situations", "a stop reaches the driver, or the answer says that nothing is known",
        "full disk, read-only home, no descriptors, frozen kernel, hub cut off, foreign code that keeps a lock or the "
        "interpreter, a driver that hangs, a job that waits for a policy, a plan being made, an approval, a broken log "
        "of stops, no server", (*STOP, "runtime/standstill_check.py", "world/robot_stops.py"),
    ),
    Proof(
        "test_fixtures_that_lie", "a stuck drawer is not reported as open", "drawers and lids that lie",
        ("robots/mujoco",),
    ),
    Proof(
        "test_pours", "poured grains are counted where they lie", "vessels and worlds that lie",
        ("robots/mujoco", "planning"),
    ),
    Proof(
        "test_hand_overs_that_lie", "a hand-over is measured at both arms", "arms that drop or cling",
        ("robots/mujoco",),
    ),
    Proof(
        "test_wipes_that_lie", "only spots that the sponge touched are wiped", "sponges that lift off",
        ("robots/mujoco",),
    ),
    Proof(
        "test_room_claims", "a plan claims room in a box only where there is some",
        "300 random boxes, contents and things, and a judge in physics that tries every place",
        ("base/packing.py", "base/footprint.py"),
    ),
    Proof(
        "test_marker_board", "a marker board shows where a camera sits on the hand", "14 rendered pictures of a board",
        ("plugins/teleoperation",),
    ),
    Proof(
        "test_openvla_directory", "an OpenVLA directory runs as a policy",
        "a random checkpoint, with transformers and torch", ("policies",),
    ),
    Proof(
        "mutants", "the tests detect planted faults", "single faults, made by rule in the code behind these promises",
        MUTATED,
    ),
)  # fmt: skip


def commit() -> str:
    """The commit of this tree; with "+" where files of the product differ from it; "" outside a repository."""
    try:
        head = subprocess.run(
            ["git", "rev-parse", "--short=7", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        changed = subprocess.run(
            ["git", "status", "--porcelain", "src"], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "")


def digest(code: tuple[str, ...]) -> str:
    """Of what these files and folders below src/worldfs do: their text without docstrings and comments."""
    found = hashlib.sha256()
    if missing := [one for one in code if not (ROOT / "src/worldfs" / one).exists()]:
        raise FileNotFoundError(f"bench/_published.py names code that is not there: {', '.join(missing)}")
    for path in sorted({file for one in code for file in _files(ROOT / "src/worldfs" / one)}):
        found.update(str(path.relative_to(ROOT)).encode() + b"\0" + behaviour(path.read_text("utf-8")) + b"\0")
    return found.hexdigest()[:12]


@cache
def behaviour(source: str) -> bytes:
    """A module without its docstrings, comments and empty lines: a change of words leaves a result valid."""
    lines = [line.encode() for line in source.splitlines(keepends=True)]
    starts = [0, *accumulate(map(len, lines))]
    cut = [  # bytes from and to; a comment's column is of characters, a syntax node's of bytes
        (starts[token.start[0] - 1] + len(token.line[: token.start[1]].encode()), starts[token.start[0]] - 1)
        for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type == tokenize.COMMENT
    ]  # fmt: skip
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            cut.append((starts[node.lineno - 1] + node.col_offset, end))
    text, at = b"".join(lines), 0
    kept = []
    for start, end in sorted(cut):
        kept.append(text[at:start])
        at = max(at, end)
    kept.append(text[at:])
    return b"\n".join(filter(None, (line.rstrip() for line in b"".join(kept).split(b"\n"))))


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        return iter([path])
    return (one for one in path.rglob("*.py") if not one.name.endswith("_messages.py"))  # texts, and no code


def note(results: dict[str, float | str]) -> None:
    """Keep results of a run: figures by name, or a proof's words by its test. What no row names is left out."""
    head = commit()
    rows = {row.name: row.code for row in (*FIGURES, *HANDLING, *WORLDS, *SIGHTED)} | {
        row.test: row.code for row in PROOFS
    }
    fresh = {
        name: {
            "result": result, "commit": head, "date": f"{datetime.now(UTC):%Y-%m-%d}", "code": digest(rows[name]),
        }
        for name, result in results.items() if name in rows
    }  # fmt: skip
    NOTED.parent.mkdir(exist_ok=True)
    with NOTED.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        text = file.read()
        known: dict[str, Any] = json.loads(text) if text else {}
        file.truncate(0)
        json.dump(dict(sorted({**known, **fresh}.items())), file, indent=1, ensure_ascii=False)
