"""The state prompt's own text, in English and in Chinese ("Step 0: Load Operational State", 003)."""

from __future__ import annotations

from typing import Final

ENGLISH: Final = """\
### Step 0: Load Operational State (1 min)

You are the agent {agent}. What you knew before is kept in {state_dir}:

- {state_dir}/memory.md: what you learned across sessions.
- {state_dir}/tasks.json: your tasks.
- {state_dir}/inbox/: messages to you, a JSON file each.

The state below has the most important of it; where it says that something was left out, read the file itself.

{last}

{inbox}

{faults}

Deal with messages of high priority before you choose what to do.

### How to answer, with file tools only

- A task: in tasks.json set its "status" to active, completed (and say the "outcome") or dropped. A new task is a \
further object in "tasks": {"id": "…", "description": "…", "status": "pending", "priority": "medium"}. \
Keep it valid JSON.
- What you learned: in memory.md, below the heading where it belongs, a line "- what you learned (YYYY-MM-DD)". \
Take out what is settled.
- Where you are: in report.json "summary", "current_task", "next_priority" and "blocked_by" are yours.
- A message that is done: delete its file, or leave it. The messages named above count as answered when this session \
ends well, and come back if it does not.
- A message to another agent, NAME: a new file {state_dir}/outbox/ANY-NEW-NAME.json with \
{"to": "NAME", "type": "flag", "priority": "normal", "subject": "…", "body": "…"}. It is sent when this session ends.
- Leave session.json, metrics.json, journal.jsonl and .paos/ alone: they are kept for you.
{outcome}

### State

{pack}
"""
CHINESE: Final = """\
### 第 0 步：载入运行状态（1 分钟）

你是智能体 {agent}。你以前所知道的都保存在 {state_dir}：

- {state_dir}/memory.md：跨会话学到的东西。
- {state_dir}/tasks.json：你的任务。
- {state_dir}/inbox/：给你的消息，每条一个 JSON 文件。

下面的状态列出其中最重要的部分；凡注明“未列出”的，请读原文件。

{last}

{inbox}

{faults}

先处理高优先级消息，再决定做什么。

### 如何回应（只用文件工具）

- 任务：在 tasks.json 中把 "status" 改为 active、completed（并写明 "outcome"）或 dropped。新任务是 "tasks" \
中的又一个对象：{"id": "…", "description": "…", "status": "pending", "priority": "medium"}。保持 JSON 有效。
- 学到的东西：在 memory.md 合适的标题下加一行“- 学到的内容（YYYY-MM-DD）”。已了结的请删去。
- 进展：report.json 中的 "summary"、"current_task"、"next_priority"、"blocked_by" 归你写。
- 处理完的消息：删除其文件，或者留着。上面列出的消息在本次会话正常结束后视为已答复，否则会退回给你。
- 给另一个智能体 NAME 发消息：新建文件 {state_dir}/outbox/任意新名字.json，内容为 \
{"to": "NAME", "type": "flag", "priority": "normal", "subject": "…", "body": "…"}。本次会话结束时发出。
- 不要改动 session.json、metrics.json、journal.jsonl 和 .paos/：它们由系统维护。
{outcome}

### 状态

{pack}
"""
