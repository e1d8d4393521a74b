"""Messages of `paos setup`, in English and Chinese."""

ROWS = {
    "setup.other_file": ("the file", "该文件"),
    "setup.unreadable": ("cannot be read: {why}; nothing was changed", "无法读取：{why}；未作任何更改"),
    "setup.no_object": ("it is not a JSON object", "不是 JSON 对象"),
    "setup.repair": ("repair it and run the command again", "请先修复，再运行此命令"),
    "setup.other": (
        "{what} is there already, with other content; nothing was changed",
        "{what} 已存在且内容不同；未作任何更改",
    ),
    "setup.remove_it": ("remove it or rename it, and run the command again", "请删除或改名后再运行此命令"),
    "setup.changed_since": (
        "changed by someone else since it was set up: {names}; nothing was changed",
        "设置之后被他人改动：{names}；未作任何更改",
    ),
    "setup.changed_meanwhile": (
        "changed while the question was open; nothing was changed",
        "等待回答期间文件已改变；未作任何更改",
    ),
    "setup.again": ("run the command again", "请再次运行此命令"),
    "setup.no_setup": ("nothing is set up here for {tool}", "此处没有为 {tool} 设置任何内容"),
    "setup.done_before": ("{tool} is set up already: nothing to change", "{tool} 已设置，无需更改"),
    "setup.would_change": ("this would change {n} files", "这会更改 {n} 个文件"),
    "setup.yes": ("read the diff, then add --yes", "阅读差异后加上 --yes"),
    "setup.ask": ("Make these changes? [y/N] ", "进行以上更改？[y/N] "),
    "setup.done": (
        "{tool} is set up as the agent {agent} (role {role}); undo with: {name} setup {tool}{where} --undo",
        "{tool} 已设置为智能体 {agent}(角色 {role})；撤销：{name} setup {tool}{where} --undo",
    ),
    "setup.done_connected": (
        "{tool} is set up for {url}, with the rights of the token; "
        "undo with: {name} --connect {url} setup {tool}{where} --undo",
        "{tool} 已设置为连接 {url}，权限以令牌为准；撤销：{name} --connect {url} setup {tool}{where} --undo",
    ),
    "setup.needs_token_file": (
        "settings hold no token: they name a file that does",
        "设置中不保存令牌，只写明令牌所在的文件",
    ),
    "setup.trust_codex": (
        "Codex runs hooks that you have trusted: start `codex` and answer its question, or open /hooks",
        "Codex 只运行你已信任的钩子：启动 `codex` 并回答其询问，或打开 /hooks",
    ),
    "setup.undone": ("{tool}: what was set up is taken out", "{tool}：已移除所设置的内容"),
    "setup.left": ("left as it is, because it was changed since: {names}", "因之后被改动而保留：{names}"),
    "setup.bad_event": ("no event of a hook on standard input: {why}", "标准输入上没有钩子事件：{why}"),
    "setup.an_event": (
        "a JSON object with hook_event_name, as Claude Code writes it",
        "含 hook_event_name 的 JSON 对象，如 Claude Code 所写",
    ),
}
