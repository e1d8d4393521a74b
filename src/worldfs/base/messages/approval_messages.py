"""Messages about approvals, in English and Chinese: requests to move, answers, refusals."""

# a row stays on its line
ROWS = {
    "approval.too_long": ("a plan of {n} steps", "{n} 步的计划"),
    "approval.most": ("at most {n} steps", "最多 {n} 步"),
    "approval.own": ("{actor} ordered this plan", "该计划由 {actor} 自己下令"),
    "approval.no_person": ("{actor} is no person of this installation", "{actor} 不是本系统的人员"),
    "approval.a_person": ("the answer of a person", "由人答复"),
    "approval.as_person": (
        "a person approves it on the page, or with `paos approve`; no agent and no model does",
        "由人在页面上批准，或运行 `paos approve`；智能体和模型都不能批准",
    ),
    "approval.other_person": ("the answer of another person: {names}", "由另一人答复：{names}"),
    "approval.confirmation": ("a second, deliberate confirmation", "第二次明确的确认"),
    "approval.confirm": (
        "read the plan, then type its hash: paos approve HASH; or hold the button on the page",
        "请先阅读计划，再输入其哈希：paos approve 哈希；或在页面上按住按钮",
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
        "plan {plan} of {node} does not begin until a person approves it: paos approve {plan}",
        "{node} 的计划 {plan} 在有人批准之前不会开始：paos approve {plan}",
    ),
    "approval.granted": ("approved by {by}", "已由 {by} 批准"),
    "approval.step": ("{n}. {text}", "{n}. {text}"),
    "approval.final": ("cannot be undone", "无法撤销"),
    "approval.payload": (
        'JSON: {{"plan": "<hash>", "answer": "approved" or "refused"}}; of your own order also "confirm": "<hash>"',
        'JSON：{{"plan": "<哈希>", "answer": "approved" 或 "refused"}}；自己下的令还需 "confirm": "<哈希>"',
    ),
    "approval.elsewhere": ("plan {plan} is of {node}", "计划 {plan} 属于 {node}"),
    "approval.section": (
        "approval   none of these begins until a person approves it",
        "批准       在有人批准之前，以下内容不会开始",
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
