"""Messages about skill files, in English and Chinese: trials in simulation, promotion, refusals of drafts."""

# a row stays on its line
ROWS = {
    # -- the file
    "skill.bytes": ("{n} bytes", "{n} 字节"),
    "skill.at_most_bytes": ("at most {n} bytes", "最多 {n} 字节"),
    "skill.markdown": ("a Markdown text with a program of constraints", "含有约束程序的 Markdown 文本"),
    # -- its state
    "skill.too_few": (
        "{tried} of {needed} trials in simulation since it was written or edited",
        "自编写或修改以来，{needed} 次仿真试验中完成了 {tried} 次",
    ),
    "skill.too_often": (
        "it failed too often in simulation: {rate}; the lower end must be at least {least}",
        "仿真中失败过多：{rate}；区间下限至少应为 {least}",
    ),
    "skill.simulated": ("it succeeded in simulation: {rate}", "仿真中成功：{rate}"),
    "skill.not_allowed": (
        "it is not allowed on {target} yet, as both are now",
        "以二者目前的内容，尚未获准在 {target} 上执行",
    ),
    "skill.record_refused": (
        "its record {file} is for another text or another body, or not what the trials say",
        "其记录 {file} 属于另一文本或另一机体，或与试验结果不符",
    ),
    "skill.allowed": ("allowed on {target} by {by} at {at}", "由 {by} 于 {at} 允许在 {target} 上执行"),
    "skill.taken": (
        "SKILLS.md declares a skill {skill}, which is used instead",
        "SKILLS.md 已声明技能 {skill}，使用的是后者",
    ),
    "skill.enough": (
        "at least {n} trials in simulation, and a lower end of their interval of at least {rate}",
        "至少 {n} 次仿真试验，且其区间下限至少为 {rate}",
    ),
    # -- a draft on a real target
    "skill.allowed_one": (
        "on {target}, a skill file that is allowed on it",
        "在 {target} 上执行的应是获准的技能文件",
    ),
    "skill.is": ("{skill} is {state}: {why}", "{skill} 的状态为 {state}：{why}"),
    "skill.no_file": ("constraints that are in no skill file", "不在技能文件中的约束"),
    "skill.write_file": (
        "write them as skills/NAME.md, then: paos skill try NAME",
        "把它们写成 skills/NAME.md，然后：paos skill try NAME",
    ),
    "skill.params": ("{names}: it was tried without", "{names}：试验时没有这些"),
    "skill.other_runtime": ("another skill runtime", "另一个技能运行时"),
    "skill.no_params": (
        "leave them out, or write another skill file and try that",
        "删去它们，或另写一个技能文件并试验",
    ),
    "skill.try_it": ("paos skill try {skill}", "paos skill try {skill}"),
    "skill.allow_it": ("paos skill allow {skill} {target}", "paos skill allow {skill} {target}"),
    # -- promotion
    "skill.payload": ('{{"skill": NAME, "sha256": HASH}}', '{{"skill": NAME, "sha256": HASH}}'),
    "skill.unknown": ("no skill file skills/{skill}.md", "没有技能文件 skills/{skill}.md"),
    "skill.not_real": ("{target} is no real target", "{target} 不是真实目标"),
    "skill.real_target": (
        "a real target of TARGETS.md; a simulated one runs drafts",
        "TARGETS.md 中的真实目标；仿真目标可执行草稿",
    ),
    "skill.changed": ("skills/{skill}.md has another hash now", "skills/{skill}.md 现在的哈希已不同"),
    # -- the commands
    "skill.no_files": ("no skill files: skills/NAME.md", "没有技能文件：skills/NAME.md"),
    "skill.line": ("{skill}: {state}; {why}", "{skill}：{state}；{why}"),
    "skill.on_target": ("  on {target}: {state}; {why}", "  在 {target} 上：{state}；{why}"),
    "skill.trial_done": ("{n}/{of}  seed {seed}: done{midway}", "{n}/{of}  种子 {seed}：完成{midway}"),
    "skill.trial_failed": (
        "{n}/{of}  seed {seed}: not done{midway}: {why}",
        "{n}/{of}  种子 {seed}：未完成{midway}：{why}",
    ),
    "skill.midway": (" (midway: {disturbed})", "（途中：{disturbed}）"),
    "skill.now_allowed": (
        "{skill} is allowed on {target}, as both are now",
        "{skill} 已获准在 {target} 上执行（以二者目前的内容为准）",
    ),
}
