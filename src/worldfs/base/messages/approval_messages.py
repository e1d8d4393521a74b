"""Messages about approvals, in English and Chinese: requests to move, answers, refusals."""

# a row stays on its line
ROWS = {
    "approval.too_long": ("a plan of {n} steps", "{n} 步的计划"),
    "approval.most": ("at most {n} steps", "最多 {n} 步"),
    "approval.own": ("{actor} asked for this plan", "该计划由 {actor} 自己提出"),
    "approval.other_actor": (
        "an answer by another actor than planned or ordered it",
        "由计划者和下令者以外的角色答复",
    ),
    "approval.as_planner": (
        "what the operator approves is submitted by another role: paos do …, or paos --as planner write ACTION.md",
        "由操作员批准的动作应由其他角色提交：paos do …，或 paos --as planner write ACTION.md",
    ),
    "approval.answered": ("plan {plan} has been answered already", "计划 {plan} 已有答复"),
    "approval.unknown": ("no plan {plan} waits for approval", "没有等待批准的计划 {plan}"),
    "approval.a_request": ("the hash of a request that waits", "等待中的请求的哈希"),
    "approval.list": ("list what waits: paos approve", "列出等待批准的计划：paos approve"),
    "approval.changed": ("the request {plan} was changed after it was made", "请求 {plan} 在提出之后被改动"),
    "approval.refused": ("plan {plan} was refused by {by}", "计划 {plan} 被 {by} 拒绝"),
    "approval.edited": (
        "what it does was edited after its approval: its skill, its target or a file of it; submit it again",
        "批准之后其内容被改动（技能、目标或其文件）；请重新提交",
    ),
    "approval.expired": (
        "its approval expired before it began; submit it again",
        "批准在开始之前已过期；请重新提交",
    ),
    "approval.waiting": (
        "nothing moves until another actor approves plan {plan} of {node}: paos approve {plan}",
        "在其他角色批准 {node} 的计划 {plan} 之前不会运动：paos approve {plan}",
    ),
    "approval.granted": ("approved by {by}", "已由 {by} 批准"),
    "approval.step": ("{n}. {text}", "{n}. {text}"),
    "approval.final": ("cannot be undone", "无法撤销"),
    "approval.payload": (
        'JSON: {{"plan": "<hash>", "answer": "approved" or "refused"}}',
        'JSON：{{"plan": "<哈希>", "answer": "approved" 或 "refused"}}',
    ),
    "approval.elsewhere": ("plan {plan} is of {node}", "计划 {plan} 属于 {node}"),
    "approval.section": (
        "approval   nothing of these moves until another actor approves it",
        "批准       在其他角色批准之前，以下内容不会运动",
    ),
    "approval.asked": (
        "  {plan}  {node}  asked by {asker}: {purpose}",
        "  {plan}  {node}  由 {asker} 提出：{purpose}",
    ),
    "approval.commands": (
        "    {name} approve {plan}   or: {name} approve --refuse {plan}",
        "    {name} approve {plan}   或：{name} approve --refuse {plan}",
    ),
    "approval.nothing": ("nothing waits for approval", "没有等待批准的计划"),
    "approval.approved_plan": ("{plan}: approved", "{plan}：已批准"),
    "approval.refused_plan": ("{plan}: refused", "{plan}：已拒绝"),
    "approval.held": ("{node} asks for approval: {name} approve", "{node} 等待批准：{name} approve"),
    "approval.by_id": ("write the id as it is declared, or remove the line", "按声明时的写法填写 id，或删去这一行"),
    "approval.three": ("never, risky or always", "never、risky 或 always"),
}
