// The texts of the panel Agents.

export const texts = {
  en: {
    "agents.title": "Agents", "agent.no_files": "This agent keeps no files that you may read.",
    "agent.report": "Report", "agent.session": "Session", "agent.no_session": "No session yet.", "agent.current": "at work on", "agent.blocked": "blocked by", "agent.next": "next",
    "agent.model": "model", "agent.tokens": "tokens", "agent.cost": "cost (USD)", "agent.notes": "notes",
    "agent.tasks": "Tasks", "agent.no_tasks": "No task.", "agent.memory": "Memory", "agent.search": "Search what it remembers", "agent.nothing_found": "Nothing found.",
    "inbox.title": "Messages", "inbox.empty": "No message waits.", "inbox.from": "from", "inbox.send_to": "Send a message to {agent}", "inbox.subject": "Subject", "inbox.body": "Message", "inbox.send": "Send",
    "inbox.sent": "The message is in the inbox.", "inbox.waits": "not read yet:", "inbox.acknowledged": "acknowledged:",
    "journal.title": "Journal", "journal.empty": "Nothing has happened yet.", "journal.entry": "entry", "journal.more": "the whole entry",
    "metrics.title": "Metrics", "metrics.lifetime": "Since the beginning", "metrics.rolling_30d": "Last 30 days", "metrics.sessions": "Sessions", "metrics.tokens": "Tokens of a session", "metrics.cost": "Cost of a session (USD)",
    "chat.title": "Chat with {agent}", "chat.log": "Messages and answers", "chat.message": "Message", "chat.send": "Send", "chat.you": "You:", "chat.empty": "Nothing was said yet.", "chat.earlier": "Earlier ({n})",
  },
  zh: {
    "agents.title": "智能体", "agent.no_files": "此智能体没有您可以读取的文件。",
    "agent.report": "报告", "agent.session": "会话", "agent.no_session": "还没有会话。", "agent.current": "正在处理", "agent.blocked": "受阻于", "agent.next": "下一步",
    "agent.model": "模型", "agent.tokens": "令牌数", "agent.cost": "费用（美元）", "agent.notes": "备注",
    "agent.tasks": "任务", "agent.no_tasks": "没有任务。", "agent.memory": "记忆", "agent.search": "搜索它记得的内容", "agent.nothing_found": "没有找到。",
    "inbox.title": "消息", "inbox.empty": "没有等待的消息。", "inbox.from": "来自", "inbox.send_to": "给 {agent} 发消息", "inbox.subject": "主题", "inbox.body": "内容", "inbox.send": "发送",
    "inbox.sent": "消息已放入收件箱。", "inbox.waits": "尚未读取：", "inbox.acknowledged": "已确认：",
    "journal.title": "日志", "journal.empty": "还没有发生任何事。", "journal.entry": "条目", "journal.more": "完整条目",
    "metrics.title": "指标", "metrics.lifetime": "累计", "metrics.rolling_30d": "最近 30 天", "metrics.sessions": "会话数", "metrics.tokens": "每次会话的令牌数", "metrics.cost": "每次会话的费用（美元）",
    "chat.title": "与 {agent} 聊天", "chat.log": "消息与回答", "chat.message": "消息", "chat.send": "发送", "chat.you": "您：", "chat.empty": "还没有任何对话。", "chat.earlier": "更早（{n}）",
  },
};
