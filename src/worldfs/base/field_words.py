"""The words of fields that no program reads: what holds back, what limits, and what only tells of an order.

One table for every document, form and call. `restricting_fields` judges a field by it.
"""

from __future__ import annotations

import re
from typing import Final

# What an order may be: as a name, and as a value among data that no program reads (`tags: [dry_run]`)
HELD: Final = frozenset((
    "disabled", "disable", "inactive", "deactivated", "skip", "skipped", "ignore", "ignored", "dryrun", "simulate",
    "simulated", "simulation", "simulateonly", "simulationonly", "simonly", "noop", "preview", "previewonly",
    "testonly", "validateonly", "checkonly", "planonly", "readonly", "draft", "shadow", "paused", "pause", "hold",
    "onhold", "held", "suspended", "suspend", "blocked", "locked", "frozen", "freeze", "deferred", "defer",
    "postponed", "postpone", "wait", "requiresapproval", "needsapproval", "awaitingapproval", "approvalrequired",
    "requiresconfirmation", "needsconfirmation", "confirmationrequired", "cancel", "cancelled", "canceled", "abort",
    "aborted", "stop", "stopped", "donotrun", "donotexecute", "donotmove", "donotstart", "rehearsal", "rehearse",
    "whatif", "pretend", "trialrun", "testrun",
))  # fmt: skip
# The same, of words that are like many others: a slip of one is not looked for
STATED: Final = frozenset((
    "afterwards", "archived", "awaiting", "backlogged", "cannot", "closed", "declined", "denied", "dont", "eventually",
    "expired", "forbidden", "halt", "halted", "later", "manual", "manually", "never", "nogo", "norun", "nostart", "not",
    "obsolete", "offline", "parked", "prohibited", "quarantine", "quarantined", "rejected", "revoked", "shelved",
    "broken", "defective", "donottouch", "donotuse", "faulty", "maintenance", "outoforder", "outofservice", "retired",
    "someday", "stalled", "standby", "superseded", "tbd", "tomorrow", "unapproved", "unconfirmed", "unreviewed",
    "unsafe", "void", "voided", "waiting", "wip", "withdrawn",
))  # fmt: skip
HOLDING: Final = HELD | frozenset((
    "dry", "blockedby", "waits", "waituntil", "notbefore", "notafter", "startafter", "starttime", "scheduledat",
    "scheduledfor", "scheduledtime", "schedule", "delay", "delays", "delayms", "delayseconds", "expire", "expires",
    "expiresat", "expiresin", "expiry", "expiration", "validuntil", "validfrom", "activefrom", "activeuntil",
    "effectivefrom", "timewindow", "until", "deadline", "timetolive", "unless", "condition", "conditions",
    "precondition", "preconditions", "prerequisite", "prerequisites", "guard", "guards", "onlyif", "onlywhen",
    "approval", "approvals", "requireapproval", "confirmation", "permission", "supervised", "after", "before",
    "depends", "dependson", "dependencies", "dependency", "deps", "requires", "require", "required", "needs",
    "exclusive", "repeat", "repeats", "cooldown", "safety", "watchdog", "limits", "workspacebounds", "maxspeed",
    "speedlimit", "maxforce", "forcelimit", "maxduration", "maxsteps", "maxretries", "timeout", "timeouts", "retries",
    "attempts",
))  # fmt: skip
# So short, or so like another's field (`run_id`), that a slip of it is not told from that
EXACT: Final = frozenset((
    "when", "if", "ttl", "waitfor", "waiton", "startat", "startsat", "startson", "startdate", "startif",
    "beginat", "begintime", "runat", "runafter", "runif", "executeat", "executeafter", "executeif", "validto",
    "blockedon",
))  # fmt: skip
OWN: Final = frozenset((
    "about", "cause", "parse", "parsed", "passed", "read", "reads", "attempt", "inclusive", "allof", "alloc",
    "scheduler", "simulator", "supervisor", "headline", "readline", "seeds", "feeds", "drift", "graft",
    "emitted", "emission", "permuted", "cancer", "relay", "relays", "decay", "looked", "docked", "shipped",
    "referred", "refer", "alter", "activated", "activeform", "startedat", "watts", "stepped",
    "conformed",
))  # fmt: skip
ALLOWING: Final = frozenset((
    "enabled", "enable", "active", "approved", "confirmed", "allowed", "allow", "permitted", "authorized",
    "authorised", "ready",
))  # fmt: skip
# Whose false says that an order is not ready; anything else only tells
PASSED: Final = frozenset((
    "accepted", "checked", "cleared", "reviewed", "released", "signed", "tested", "validated", "verified",
))  # fmt: skip
DENIED: Final = frozenset(("false", "no", "none", "off", "pending", "0", "否", "未"))
NO: Final = frozenset(("false", "no", "off", "否", "不"))
FILLERS: Final = frozenset(
    ("is", "are", "was", "be", "been", "has", "have", "can", "may", "must", "should", "do", "please")
)
# Anywhere among the words of a name
WORDS: Final = frozenset((
    "max", "min", "maximum", "minimum", "limit", "limits", "only", "timeout", "timeouts", "deadline",
    "approval", "confirmation", "required", "requires", "require", "needs", "until", "unless", "expires",
    "expiry", "expiration", "disabled", "paused", "hold", "blocked", "forbidden", "precondition",
    "preconditions",
))  # fmt: skip
SIZES: Final = frozenset(
    ("max", "min", "maximum", "minimum", "limit", "limits")
)  # of WORDS; as a value, no order is held
# Before another word
OPENING: Final = frozenset(("after", "before", "once", "till", "until", "unless"))
# Of a value that may be such words and is no prose; figures are not counted
MOST_WORDS: Final = 4
MOST_SIGNS: Final = 12  # Chinese
FIRST: Final = frozenset((
    "when", "if", "not", "wait", "waiting", "awaiting", "blocked", "depends", "dependent", "contingent", "conditional",
))  # fmt: skip
# Anywhere in a name or in a short value, in simplified signs
HELD_ZH: Final = re.compile(
    "挂起|冻结|推迟|等待|等候|等.{0,6}(?:再|后|通知|指示|命令|批准|确认|审[核批])|禁止|禁用|停用|暂停|暂缓|暂不|暂时不|跳过|仿真(?!器)|模拟(?!器)|试运行|"
    "空跑|演练|预演|预览|审批|需要?批准|需要?确认|待(?:批|审|确认|定|命|机)|未(?:批准|确认|审|经|获|授权|启用|就绪|准备)|尚未|还没|延迟|延期|延后|推后|"
    "押后|截止|仅当|取消|不要|不得|不能|不可|不许|不准|不允许|不执行|不运行|不启动|不动|勿|(?<![类级区性个识特分判鉴辨告派])别(?:动|再|碰|拿|放|做|跑|"
    "走|开|执行|运行|启动|移动|急)|先别|先不|搁置|稍后|晚点|以后再|之后再|过后|改天|明天|手动|人工(?!智能)|关闭|停止|中止|终止|中断|作废|撤销|撤回|废弃|弃用|"
    "草稿|草案|只读|锁定|封锁|阻塞|屏蔽|忽略|停机|休眠|离线|过期|失效|拒绝|驳回|归档|不安全|隔离"
)
# Anywhere in a name
HOLDING_ZH: Final = re.compile(f"{HELD_ZH.pattern}|保持|避开|速度|力度|有效期|条件|前提|依赖|上限|下限|限制|最大|最小")
ALLOWING_ZH: Final = re.compile("^(已?启用|已?批准|已?确认|已?允许)$")
PASSED_ZH: Final = re.compile("^已?(审核|审查|检查|测试|验证|复核)(通过)?$")
STATES: Final = (
    "mode",
    "state",
    "status",
    "stage",
    "phase",
    "runmode",
    "executionmode",
)  # whose value may be such a word
# A name whose every word is one of these tells where an order comes from, of whom, why, or how it ended
TELLING: Final = frozenset((
    "abstract", "annotation", "annotations", "app", "author", "authors", "batch", "branch", "build", "caller",
    "caption", "categories", "category", "cause", "changelog", "checksum", "client", "comment", "comments", "commit",
    "company", "confidence", "copyright", "correlation", "created", "creator", "customer", "department",
    "description", "detail", "details", "digest", "display", "doc", "docs", "documentation", "email", "emoji", "epic",
    "error", "errors", "etag", "event", "experiment", "explanation", "feedback", "fingerprint", "generator", "goal",
    "hash", "headline", "history", "href", "icon", "id", "info", "intent", "issue", "issuer", "issues", "keyword",
    "keywords", "kind", "label", "labels", "lang", "language", "license", "link", "links", "locale", "log", "logs",
    "maintainer", "message", "messages", "meta", "metadata", "mission", "model", "name", "note", "notes", "operator",
    "org", "organization", "origin", "outcome", "owner", "parent", "permalink", "planner", "platform", "project",
    "prompt", "provenance", "publisher", "rationale", "reason", "reasoning", "reasons", "ref", "reference",
    "references", "refs", "remark", "remarks", "reporter", "requester", "response", "result", "results", "revision",
    "run", "schema", "score", "sender", "session", "sha", "signature", "source", "sources", "span", "subject",
    "subtitle", "summary", "tag", "tags", "team", "tenant", "thinking", "thought", "thoughts", "thread", "ticket",
    "timestamp", "title", "topic", "trace", "traceparent", "tracestate", "updated", "uri", "url", "user", "username",
    "uuid", "version", "why", "workflow",
))  # fmt: skip
# Those whose value is data that no program reads, at any depth: a word of `HELD` in it is no remark
GROUPING: Final = frozenset((
    "annotation", "annotations", "categories", "category", "info", "keyword", "keywords", "kind", "label", "labels",
    "meta", "metadata", "tag", "tags",
))  # fmt: skip
# The last word of a name whose value is a sentence, a name or an address, and no state
PROSE: Final = frozenset((
    "comment", "comments", "description", "explanation", "id", "ids", "link", "message", "name", "note", "notes",
    "rationale", "reason", "reasons", "remark", "remarks", "summary", "text", "title", "uri", "url", "uuid",
))  # fmt: skip
GROUPING_ZH: Final = re.compile("标签|类别|分类|元数据|元信息|信息|关键词")
DONE: Final = frozenset((
    "created", "updated", "modified", "changed", "requested", "issued", "submitted", "sent", "received", "generated",
    "written", "logged", "recorded", "reported", "queued", "claimed", "started", "finished", "completed", "ended",
    "failed", "imported", "exported", "edited", "reviewed", "assigned", "authored",
))  # fmt: skip
OF_DONE: Final = frozenset(("at", "by", "on", "time", "date", "timestamp", "ts", "from", "via", "utc", "ms", "with"))
# Limits of motion, as the whole of a name among data that no program reads
LIMITS: Final = frozenset((
    "acceleration", "avoid", "clearance", "forbid", "force", "gentle", "jerk", "keepaway", "keepclear", "keepout",
    "nogo", "nogozone", "slow", "slowly", "speed", "speeds", "torque", "velocity", "velocities",
))  # fmt: skip
# Words of a limit of motion, in the settings of a robot
BOUNDS: Final = LIMITS | frozenset((
    "accelerations", "bound", "bounds", "boundary", "boundaries", "ceiling", "constraint", "constraints", "fence",
    "forbidden", "forces", "limit", "limits", "maxforce", "maxspeed", "maxvelocity", "payload", "safe", "safety",
    "torques", "workspace", "zone", "zones",
))  # fmt: skip
FOREIGN: Final = ("x_", "x-", "_", "$schema")  # how another tool marks names as its own
IDS: Final = ("id", "ids", "uuid")
# Whose id says which thing, place or robot is meant, or not meant
MEANT: Final = frozenset((
    "arm", "arms", "area", "container", "device", "gripper", "hand", "location", "node", "object", "objects", "place",
    "policy", "region", "robot", "robots", "skill", "support", "target", "targets", "thing", "things", "tool", "zone",
    "zones",
))  # fmt: skip
SPARED: Final = ("avoid", "except", "keep", "no", "spare", "without")
BEGUN: Final = frozenset((
    "begin", "do", "execute", "go", "move", "ok", "okay", "perform", "proceed", "run", "safe", "start",
))  # fmt: skip
USUAL: Final = frozenset((
    "active", "auto", "automatic", "default", "live", "new", "normal", "open", "pending", "queued", "ready", "standard",
    "usual",
))  # fmt: skip
TELLING_ZH: Final = re.compile(
    "(?:备注|注释|注解|评论|说明|描述|标题|名称|标签|来源|出处|作者|原因|理由|编号|序号|单号|工单号?|版本号?|结果|摘要|目标说明|链接|网址|类别|分类|"
    "语言|时间戳|日志|元数据|元信息|信息|关键词|项目|班次|用途|目的|操作员|负责人|(创建|更新|修改|提交|完成|下发|生成)(时间|日期|者|人)?)"
)
