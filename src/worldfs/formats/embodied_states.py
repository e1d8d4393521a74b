"""Words of EMBODIED.md for a state in which a body, a part or an operation cannot be used (workspace §3.8)."""

from __future__ import annotations

import re
from functools import lru_cache

_STATES = re.compile(
    r"\b(?:broken|defective|faulty|damaged|worn(?:[- ]out)?|jammed|malfunction\w*|inoperative|inoperable|unusable"
    r"|unavailable|unreliable|untested|out[- ]of[- ](?:order|service|action|use|commission)|decommissioned"
    r"|deactivated|disabled|suspended|blocked|locked|seized|retired|withdrawn|revoked|quarantined|offline"
    r"|(?:shut|switched|turned|taken|powered|put) (?:off|down|offline|out)|(?:has|have) (?:an? )?(?:faults?|defects?)"
    r"|(?:under|in|for|at|being|awaiting|needs?|due for|requires?|undergoing) (?:an? |the )?"
    r"(?:repair(?:s|ed)?|maintenance|inspection|servic(?:e|ing|ed)|replacement)"
    r"|(?:to be|being|needs? to be|must be|not yet|not) (?:repaired|replaced|fixed|serviced|inspected)"
    r"|(?:not|cannot|can't|doesn't|don't|isn't|aren't|won't|never|no longer|hardly|barely|stopped|ceased)"
    r"(?: (?:currently|yet|now|really|properly|correctly|reliably|be|to be|be able to))*"
    r" (?:work(?:s|ed|ing)?|function(?:s|al|ed|ing)?|operat\w+|usable|available|ready|safe|trusted|used"
    r"|in (?:use|service|order)))\b"
    r"|坏|损[坏毁]|破损|断裂|故障(?![排代码诊处率列记信恢])|失[灵效常]|停[用机]|禁用|未启用|不可用|不能用|不好[用使]|用不了"
    r"|别用|无法(?:使用|工作|正常)|不(?:能|再|会)?(?:正常)?(?:工作|运行|正常)"
    r"|(?:维修|检修|修理|保养|维护|返修|检查)(?:中|期间|状态)|(?:正在|[在待需送])(?:要|进行)?(?:[维检返]修|修理?|保养|维护)"
    r"|[停暂][止停]?使用|锁[定死住]|卡[住死]|堵[塞住]|报废|老化|磨损|异常|离线"
    r"|\b(?:defekt\w*|kaputt\w*|außer betrieb|gesperrt\w*|gestört\w*|beschädigt\w*|abgenutzt\w*"
    r"|in (?:wartung|reparatur)|en panne|hors service|défectueu\w+|cassée?s?|en réparation|rot[oa]s?|averiad\w+"
    r"|estropead\w+|fuera de servicio|guasto|fuori servizio|сломан\w*|неисправ\w*|не работает)\b"
    r"|修理中|使用不可|使えない|고장",
    re.IGNORECASE,
)
_IF = re.compile(r"\b(?:if|whether|unless|in case)\b|如果|若|是否|一旦|万一", re.IGNORECASE)
_CLAUSES = re.compile(r"[.;!?,，。；！？]")
_REST = re.compile(
    r"\b(?:supported|supports?|actions?|action types?|ops|operations|commands|primitives|skills|verbs|the|these|those"
    r"|all|is|are|currently|now|yet|temporarily|at present|following|and|or|that|which)\b"
    r"|支持|动作|操作|指令|技能|的|已|了|暂时|目前|[\W_]",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def withdraws(text: str) -> bool:
    """Whether a text says that something cannot be used now: broken, under repair, locked. A condition says nothing of
    now: "fails if the way is blocked"."""
    return any(_IF.search(_CLAUSES.split(text[: found.start()])[-1]) is None for found in _STATES.finditer(text))


def only_withdraws(text: str) -> bool:
    """Whether a text has no words but such a state and those for actions: the title of a list that is denied."""
    return withdraws(text) and not _REST.sub("", _STATES.sub("", text))
