"""Messages of `paos top` and `paos view`, in English and Chinese."""

# a row stays on its line
ROWS = {
    "top.robots": ("Robots", "机器人"),
    "top.queue": ("Queue", "队列"),
    "top.ended": ("Ended", "已结束"),
    "top.agents": ("Agents", "智能体"),
    "top.alerts": ("Alerts", "警报"),
    "top.key_stop": ("Stop", "停止"),
    "top.key_stop_all": ("Stop all", "全部停止"),
    "top.key_resume": ("Resume", "恢复"),
    "top.key_open": ("Open", "打开"),
    "top.key_quit": ("Quit", "退出"),
    "top.kernel": ("kernel runs as process {pid}", "内核运行中，进程 {pid}"),
    "top.no_kernel": ("no kernel runs", "内核未运行"),
    "top.row": ("{name}  {facts}", "{name}  {facts}"),
    "top.job": ("{clock}  {node} {what}: {facts}", "{clock}  {node} {what}：{facts}"),
    "top.doing": ("“{text}”", "“{text}”"),
    "top.approval": (
        "{node} waits for approval: {purpose} (paos approve {plan})",
        "{node} 等待批准：{purpose}(paos approve {plan})",
    ),
    "top.in_session": ("in a session", "会话进行中"),
    "top.messages": ("messages: {n}", "消息：{n}"),
    "top.last": ("last: {outcome}", "上次：{outcome}"),
    "top.lost": ("nothing can be read: {why}", "无法读取：{why}"),
    "top.stopped": ("stopped: {robots}", "已停止：{robots}"),
    "top.ask_path": ("a file, such as ENVIRONMENT.md", "文件，例如 ENVIRONMENT.md"),
    "top.cut": ("(only the first {n} bytes are shown)", "(仅显示前 {n} 字节)"),
    "top.no_terminal": ("this needs a terminal", "此命令需要终端"),
    "top.instead": ("paos status --watch", "paos status --watch"),
}
