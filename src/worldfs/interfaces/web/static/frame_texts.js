// The texts of the frame: header, sign-in, states of the connection.

export const texts = {
  en: {
    "app.tabs": "Panels", "app.skip": "Skip to the panel", "app.language": "Language", "app.theme": "Theme", "app.waiting": "{n} waiting for approval",
    "theme.auto": "system", "theme.light": "light", "theme.dark": "dark",
    "state.connecting": "connecting …", "state.open": "connected", "state.lost": "connection lost, trying again …", "state.refused": "signed out",
    "state.stale": "What is shown is as of {time}.", "state.retry": "Try now",
    "who.is": "{role} · {agent}", "who.label": "Signed in as {role}, agent {agent}",
    "past.banner": "You see {time}. Nothing can be written there.", "past.leave": "Back to now",
    "signin.title": "Sign in", "signin.token": "Token", "signin.go": "Sign in",
    "signin.how": "`paos page` prints an address that signs you in; `paos page --open` opens it. A token stays in this tab only.",
    "signin.refused": "The server refused this token: {why}", "signin.expired": "The token is no longer valid: {why}. What is on the screen stays and is no longer updated.",
    "signin.fix": "Ask for a new one with `paos page`.", "signout": "Sign out",
    "stop.label": "Stop all robots", "stop.word": "Stop", "stop.done": "Stopped: {names}", "stop.none": "No robot to stop is visible.", "stop.failed": "Not stopped: {names}. {why}", "stop.running": "Stopping …",
    "panel.broken": "This panel has failed: {why}", "panel.again": "Show it again",
    "error.loading": "loading …",
  },
  zh: {
    "app.tabs": "面板", "app.skip": "跳到面板", "app.language": "语言", "app.theme": "主题", "app.waiting": "{n} 项等待批准",
    "theme.auto": "跟随系统", "theme.light": "浅色", "theme.dark": "深色",
    "state.connecting": "正在连接……", "state.open": "已连接", "state.lost": "连接已断开，正在重试……", "state.refused": "已退出登录",
    "state.stale": "显示的是 {time} 时的内容。", "state.retry": "立即重试",
    "who.is": "{role} · {agent}", "who.label": "以 {role} 身份登录，智能体 {agent}",
    "past.banner": "您看到的是 {time}。那里不能写入。", "past.leave": "回到现在",
    "signin.title": "登录", "signin.token": "令牌", "signin.go": "登录",
    "signin.how": "`paos page` 会输出一个可登录的地址；`paos page --open` 会打开它。令牌只保留在此标签页中。",
    "signin.refused": "服务器拒绝了此令牌：{why}", "signin.expired": "令牌已失效：{why}。屏幕上的内容会保留，但不再更新。",
    "signin.fix": "用 `paos page` 申请新的令牌。", "signout": "退出登录",
    "stop.label": "停止所有机器人", "stop.word": "停止", "stop.done": "已停止：{names}", "stop.none": "看不到可以停止的机器人。", "stop.failed": "未停止：{names}。{why}", "stop.running": "正在停止……",
    "panel.broken": "此面板出错：{why}", "panel.again": "重新显示",
    "error.loading": "正在加载……",
  },
};
