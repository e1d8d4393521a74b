// The texts of the tree.

export const texts = {
  en: {
    "tree.title": "Tree", "tree.files": "Files", "tree.file": "The chosen file", "tree.path": "Path", "tree.go": "Go", "tree.more": "{n} more …", "tree.empty": "empty",
    "tree.writable": "you may write it", "tree.may": "You may write this file.", "tree.may_not": "You may not write this file:", "tree.no_reason": "it is computed.", "tree.past": "This is the past.",
    "tree.readme": "README", "tree.schema": "Schema", "tree.last_error": "Last error", "tree.content": "Content", "tree.picture": "The picture {path}",
    "tree.blocks": "Reading this file waits until something happens.", "tree.own": "This page waits here for its own events, so it is not read twice.", "tree.watch": "Read it, and go on reading", "tree.watching": "Waiting for what comes next …",
    "tree.writers": "written by {names}", "tree.nobody": "written by nobody", "tree.kind": "What it is",
    "kind.record": "stored: a write replaces it whole", "kind.log": "stored: a write adds to its end", "kind.control": "takes orders: each write is one", "kind.sheet": "computed: a row that is new is an order", "kind.drop": "a message: written once, whole", "kind.view": "computed", "kind.link": "a link",
    "tree.order": "Write an order", "tree.send": "Send", "tree.sent": "Sent.", "tree.name": "Name", "tree.size": "Size", "tree.changed": "Changed", "tree.entries": "Files in {path}", "tree.rendered": "rendered", "tree.source": "as text", "tree.cut": "{size} more are not shown.", "tree.binary": "Not text: shown as bytes.", "tree.no_json": "Not valid JSON: shown as it is.",
    "tree.edit": "Edit", "tree.save": "Save", "tree.cancel": "Cancel", "tree.saved": "Saved.", "tree.ordered": "Taken as job {job}.", "tree.editor": "Text of the file", "tree.too_large": "Too large to edit here.",
    "tree.conflict": "Conflict", "tree.conflict_said": "Another writer has changed this file since you began. Nothing of yours is written yet.", "tree.yours": "Yours", "tree.theirs": "Theirs, stored now", "tree.take_theirs": "Take theirs", "tree.keep_mine": "Keep mine", "tree.merge": "Merge by hand",
    "tree.not_text": "This file is not text in UTF-8, so it cannot be edited here.", "tree.changing": "This file changes too fast to be edited.",
  },
  zh: {
    "tree.title": "目录树", "tree.files": "文件", "tree.file": "所选文件", "tree.path": "路径", "tree.go": "前往", "tree.more": "还有 {n} 个……", "tree.empty": "空",
    "tree.writable": "您可以写入", "tree.may": "您可以写入此文件。", "tree.may_not": "您不能写入此文件：", "tree.no_reason": "它由系统计算。", "tree.past": "这是过去的内容。",
    "tree.readme": "README", "tree.schema": "结构", "tree.last_error": "最近的错误", "tree.content": "内容", "tree.picture": "图片 {path}",
    "tree.blocks": "读取此文件会一直等待到有事发生。", "tree.own": "此页面在这里等待它自己的事件，因此不重复读取。", "tree.watch": "读取并持续读取", "tree.watching": "正在等待后续内容……",
    "tree.writers": "写入者：{names}", "tree.nobody": "无人写入", "tree.kind": "文件类型",
    "kind.record": "存储的文件：写入会整体替换", "kind.log": "存储的文件：写入会追加到末尾", "kind.control": "接受指令：每次写入即一条指令", "kind.sheet": "由系统计算：新增的行即指令", "kind.drop": "消息：一次写入完整内容", "kind.view": "由系统计算", "kind.link": "链接",
    "tree.order": "写一条指令", "tree.send": "发送", "tree.sent": "已发送。", "tree.name": "名称", "tree.size": "大小", "tree.changed": "更改时间", "tree.entries": "{path} 中的文件", "tree.rendered": "排版显示", "tree.source": "按文本显示", "tree.cut": "还有 {size} 未显示。", "tree.binary": "不是文本：按字节显示。", "tree.no_json": "不是有效的 JSON：按原样显示。",
    "tree.edit": "编辑", "tree.save": "保存", "tree.cancel": "取消", "tree.saved": "已保存。", "tree.ordered": "已作为任务 {job} 接受。", "tree.editor": "文件内容", "tree.too_large": "太大，不能在这里编辑。",
    "tree.conflict": "冲突", "tree.conflict_said": "您开始编辑之后，另一个写入者更改了此文件。您的内容尚未写入。", "tree.yours": "您的", "tree.theirs": "现在存储的", "tree.take_theirs": "采用对方的", "tree.keep_mine": "保留我的", "tree.merge": "手动合并",
    "tree.not_text": "此文件不是 UTF-8 文本，不能在这里编辑。", "tree.changing": "此文件变化太快，无法编辑。",
  },
};
