"""Words of EMBODIED.md that announce rules, tell what to do or describe (workspace §3.8).

Default deny where a heading announces rules, or is not known to describe: every line there is unread, but for a closed
list of harmless forms (`is_harmless`). Elsewhere a sentence is unread that tells what an arm or a thing may do
(`instructs`). Words of care for software and cables (`_SETUP`) are none, unless a part of the robot is named with them.
"""

from __future__ import annotations

import re
from functools import lru_cache

from . import embodied_sections as sections
from .embodied_states import withdraws

_CJK = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
# Words of headings and labels under which rules come.
_RULES = (
    r"\b(?:safety|safely|warn(?:ing)?s?|cautions?|dangers?|dangerous|hazards?|risks?|(?:\w{2,12})?rules?|regulations?"
    r"|attention|notices?|restrictions?|limitations?|precautions?|polic(?:y|ies)|must[- ]knows?|do'?s|don'?ts?|beware"
    r"|alerts?|taboos?|etiquette|conduct|guidelines?|instructions?|keep in mind|remember|please|read (?:this "
    r"|me )?first|mandatory|emergenc(?:y|ies)|prohibitions?|security|protection|never|must|watch out|careful"
    r"|agreements?|obligations?)\b|\b(?:(?:vor|ab|ver)?warn\w*|achtung|bitte"
    r"|\w{0,12}(?:sicherheit|vorsicht|gefahr|regel|vorschrift|wichtig|hinweis|schränkung|verbot|richtlinie|anweisung"
    r"|schutz)\w{0,12})\b|\b(?:s[ée]curit[ée]|avertissements?|r[èe]gles?|consignes?|pr[ée]cautions?"
    r"|interdi\w*|à savoir|politiques?|prudence|mises? en garde|avis|seguridad|advertencias?|avisos?|atenci[óo]n"
    r"|peligros?|reglas?|normas?|restricci\w*|precauci\w*|prohibi\w*|pol[íi]ticas?|cuidado|instrucciones|sicurezza"
    r"|avverten\w*|attenzione|regole|pericol\w*|seguran[çc]a|aten[çc][ãa]o|regras|veiligheid\w*|waarschuwing\w*"
    r"|\w*regels|s[äa]kerhet\w*|varning\w*|bezpiecze\w*|uwaga|zasady)\b|安全|注意|警[告示戒]?|危[险険]"
    r"|[规規][则則定范程]|守则|准则|须知|禁止?|提醒|提示|限制|约束|务必|事项|当心|小心|纪律|公约|政策|ルール|お願い"
    r"|約束|必読|안전|주의|경고|규칙|위험|금지|безопасн|внимани|правил|осторожн|опасн|запре"
)
_HEADS = r"\b(?:important\w*|requirements?|permissions?|allowed|forbidden|prohibited|denied)\b|重要|要求|权限"
_ANNOUNCES = re.compile(_RULES, re.IGNORECASE)
_ANNOUNCES_BELOW = re.compile(
    f"{_RULES}|{_HEADS}", re.IGNORECASE
)  # a heading; as a label or a column such a word may mean something else
_ONLY_ANNOUNCES = re.compile(  # possessive: no word is tried twice
    rf"(?>{_RULES}|{_HEADS}|\b(?:and|or|of|on|for|the|to|about|in|our|all|general|basic|following|these|note|apply"
    r"|are|is|und|et|y|de|der|die|des|das|la|les|los|el|zur|allgemeine|general\w*|g[ée]n[ée]ral\w*|robots?|arm|notes?"
    r"|information|tips?)\b|操作|使用|以下|的|机器人|机械臂|如下|と|の|事項|[\W\d_])++",
    re.IGNORECASE,
)
_PARTS = re.compile(  # of the body and its papers, that have such a word in their name
    r"\bsafety[- ](?:sensors?|scanners?|lasers?|features?|functions?|equipment|hardware|ratings?|standards?"
    r"|certifi\w+|controllers?|relays?|category|levels?|plc|stops?|rated)\b|\b(?:emergency"
    r"|protective)[- ]stops?(?: buttons?)?\b|\be-?stops?\b|急停(?:按钮|开关)?|\bNot-?(?:Aus|Halt)\b"
    r"|\b(?:(?:re)?connect\w*|retry|update|restart|back-?off|cach\w+|log\w*|retention|licen[cs]e|privacy|version\w*"
    r"|reset) polic(?:y|ies)\b|\b(?:system|software|hardware|power|electrical|install\w*|python|network|minimum"
    r"|space) requirements?\b|\b(?:install\w*|assembly|set-?up|build|mounting|charging|cleaning|maintenance|update"
    r"|wiring) instructions?\b",
    re.IGNORECASE,
)
_DENIES = re.compile(  # what an introduction does not say; with "actions" it is a list of those that are not supported
    r"\b(?:never|must|forb\w+|prohib\w*|denied|allowed|don'?ts?|interdi\w*|verbot\w*)\b|禁止?", re.IGNORECASE
)
# Words of headings and labels of what describes a robot, its place and its papers.
_DESCRIBES = re.compile(
    r"\b(?:identity|overview|descriptions?|about|intro\w*|summary|background|general|info\w*|details?|notes?|remarks?"
    r"|comments?|history|change ?logs?|changes|versions?|revisions?|releases?|logs?|to ?do|roadmap|planned|plans?"
    r"|status|sensors?|sensing|cameras?|lidars?|imu|perception|vision|joints?|links?|kinematics?|dynamics|geometry"
    r"|dimensions?|measure(?:ment)?s?|mass|weights?|inertia|motors?|actuators?|drives?|drivers?|grippers?|fingers?"
    r"|(?:end[- ])?effectors?|hands?|arms?|legs?|wheels?|base|body|chassis|head|mast|tray|wrist|torso|hardware"
    r"|software|firmware|electr\w+|power|batter\w+|charging|charger|network\w*|connect\w+|interfaces?|protocols?"
    r"|communication|api|ports?|wiring|cables?|mount\w*|install\w*|set-?up|config\w*|settings?|parameters?|fields?"
    r"|options?|calibration|maintenance|service|repairs?|spares?|parts?|components?|support\w*|contacts?|authors?"
    r"|owners?|makers?|manufacturer|vendor|supplier|origin|provenance|licen[cs]e|copyright|credits?|references?"
    r"|sources?|docs|document\w*|manuals?|data ?sheets?|glossary|examples?|usage|use cases?|applications?|tasks?"
    r"|skills?|actions?|operations?|commands?|manipulation|navigation|locomotion|capabilit\w+|abilities|features?"
    r"|functions?|modes?|states?|behaviou?rs?|performance|accuracy|repeatability|precision|speeds?|reach|payload"
    r"|workspace|coordinates?|frames?|axes|axis|poses?|home|locations?|site|place|rooms?|lab|laboratory|workshop"
    r"|bench|desk|tables?|environment|simulat\w+|engine|models?|robots?|names?|types?|appearance|looks|colou?rs?"
    r"|sounds?|lights?|leds?|displays?|buttons?|materials?|tools?|accessor\w+|equipment|inventory|spec\w*|technical"
    r"|profiles?|embodiment|properties|attributes?|figures|tests?|results?|formats?|targets?|data|schemas?|keys?"
    r"|structure|protocol|sdk|code|prerequisites|faults?|errors?|troubleshooting|faq|serial|warranty|certific\w*"
    r"|standards?|compliance|temperature|noise|lifetime|issues|bugs|dof|degrees of freedom|hosts?|ip|url|e-?mails?"
    r"|phone|dates?|updated|year|units?|values)\b|\b(?:identität|übersicht|beschreibung|notizen|anmerkungen|sensoren"
    r"|gelenke|antrieb|greifer|wartung|technische daten|kontakt|identité|aperçu|description|remarques|capteurs"
    r"|actionneurs|entretien|identidad|resumen|descripción|notas|sensores|mantenimiento|contacto)\b|身份|信息"
    r"|概[述要]|简介|介绍|描述|说明|備考|备注|笔记|传感|センサ|感知|相机|关节|運動|运动学|动力学|尺寸|重量|电机|驱动"
    r"|夹爪|末端|机械臂|底盘|硬件|软件|固件|电源|电池|充电|网络|连接|接口|协议|通信|端口|接线|安装|配置|设置|参数"
    r"|字段|标定|校准|维护|保养|维修|联系|作者|厂[家商]|来源|许可|参考|文档|手册|示例|例子|用途|任务|技能|动作|操作"
    r"|能力|功能|模式|状态|性能|精度|坐标|位置|地点|房间|实验室|环境|仿真|型号|名称|类型|外观|颜色|材料|工具|清单"
    r"|规格|技术|属性|测试|结果|故障|版本|历史|日期|記述|説明|概要|仕様",
    re.IGNORECASE,
)
_SETUP = re.compile(
    r"\b(?:driver|software|firmware|package|pip|python|cables?|batter\w+|charg\w+|config\w*|files?|folders?|ports?"
    r"|server|network|wi-?fi|ip|ros\d?|install\w*|updat\w+|calibrat\w+|screws?|bolts?|oil|grease|clean\w*|manual"
    r"|reboot\w*|boot\w*|log|branch|daemons?|sdk|api|modules?|import|imports|channels?|schemas?|clients?|keys?"
    r"|variables?|code|workflow|\w+_\w+|\w+\(\)|\w+\.(?:md|py|json|ya?ml|sh|npz))\b|驱动|软件|固件|电缆|电池|充电"
    r"|配置|文件|端口|服务器|网络|安装|更新|标定|校准|螺丝|说明书|手册",
    re.IGNORECASE,
)
_BODY = re.compile(
    r"\b(?:arms?|robots?(?![.<_])|gripper|hand|fingers?|cart|it|cubes?|cups?|cans?|glass\w*|bottles?|things?|objects?"
    r"|tables?|half|sides?)\b|机[器械]|夹爪|手臂|物体|东西|桌",
    re.IGNORECASE,
)
_START = (
    r"(?:^|[.!?;:,–—()-]\s+|(?<=[。！？；，：])|\b(?:so|but|then|please|always|kindly|first|therefore)\s+)"
    r"(?:(?:please|always|kindly|first|then|just) ){0,3}"
)
_OBJECT = (
    r"\s+(?:the|an?|it|them|this|that|these|those|all|every|any|each|no|nothing|anything|everything|things?|objects?"
    r"|your|his"
    r"|her|my|our|their|\w+'s|there|here|away|left|right|inside|within|outside|at|in|on|to|from|near|behind|along|past"
    r"|over"
    r"|under|around|between|slowly|slower|gently|carefully|quietly|with|without|still|back|down|up|before|until|while"
    r"|if|when"
    r"|where|one|two)\b"
)
_ALWAYS = re.compile(  # told of whatever thing, also of a cable
    rf"(?:{_START}|\band )(?:leave|stay|remain|ask|beware|respect|avoid|take care|watch out|watch for|mind|slow down"
    rf"|treat|handle"
    r"|be (?:careful|cautious|slow|quiet|quick|aware|considerate|kind|nice|gentle (?:with|to|near)|polite)"
    r"|obey)\b(?!\s*[:：])|\b(?:belong(?:s|ing)?|(?:is|are) (?:taken|occupied|private|mine|hers|his|theirs)"
    r"|property of|prefer not|dislikes?|does(?:n't| not) (?:like|want)|(?:as|where) (?:it|they) (?:is|are)|alone"
    r"|in (?:its|their) places?|out of the way|hands? off|please|precious|valuable|private|taboo|sacred|(?:is"
    r"|are) not for|off limits|sits|sleeps|naps)\b|\b(?:is|are|marks) the (?:border|boundary|limit|end|line)\b"
    r"|\b(?:is|are) \w+'s\b|\b(?:arms?|robots?|gripper|hand|cart|it) (?:always )?(?:works?|moves?|stops?|acts?"
    r"|operates?|goes|drives?|walks?|halts?|parks?)\b.{0,80}\b(?:half|sides?|lines?|areas?|zones?|parts?|left|right"
    r"|corners?|edges?|doors?|rooms?|people|cups?|cubes?)\b|\b(?:before|without) (?:mov|tak|touch|lift|pick|ask"
    r"|enter)\w*ing\b|\b(?:unless|except)\b",
    re.IGNORECASE,
)
_TOLD = re.compile(  # told of the robot and of things; of software, a cable and the like it is care
    rf"(?:{_START}|\band )(?:keep|wait|ensure|make sure|be sure)\b(?!\s*[:：]|[- ]?alive|[- ]?time)|{_START}(?:use"
    rf"|move|take|pick|lift|grip|grasp|grab|carry|put|place|push|pull|drive|walk|go|turn|work|operate|hold|touch|let"
    r"|watch|return|give|bring|hand|pour|open|close|stop|come|reach|stand|rest|drop|throw|set|pass|look|point|clear"
    r"|tidy|reduce"
    rf"|limit|check){_OBJECT}",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(?:stays?|staying|remains?|should|shall|must|has to|have to|had better|ought to|(?:is|are) to|supposed to"
    r"|(?<!not )needs? to|(?:is|are) (?:reserved|allowed|permitted)|prefers|wants)\b",
    re.IGNORECASE,
)
_READY = re.compile(  # what must be so before a driver starts
    r"\b(?:must|has to|have to|needs? to|should) (?:first |already )?be (?:assembled|configured|installed|calibrated"
    r"|connected|powered"
    r"|running|mounted|switched on|turned on|updated|charged|registered)\b",
    re.IGNORECASE,
)
_HAZARDS = re.compile(
    r"\b(?:careful(?:ly)?|cautio\w+|hot(?![- ]?(?:swap|plug|spot|key|fix|standby))|scalding|boiling|burning|burns?"
    r"|fragile|breakable|delicate|brittle|acids?|caustic|poison\w*|toxic|venomous|flammable|explosive|corrosive"
    r"|radioactive|infectious|biohazard\w*|hazard\w*|danger\w*|sharp (?:edge|knife|knives|blade|tip|corner|tool)s?"
    r"|live wires?|high voltage|full of|spills?|do not disturb|unsafe)\b|\bask(?:s|ed|ing)? .{0,40}\b(?:first"
    r"|before)\b|\bbelongs to\b|\bwhile \w+(?:one|body)\b|(?:\b(?:but|and)|[,;.]) (?:please )?leave \w|\bpermission\b"
    r"|\bsupervis\w+\b|小心|当心|烫|易碎|易燃|易爆|有毒|剧毒|强酸|硫酸|盐酸"
    r"|滚热|高温|危[险険]|先[问征]|[问征]过|属于",
    re.IGNORECASE,
)
_PERSONS = re.compile(
    r"\b(?:people|persons?|child(?:ren)?|kids?|bab(?:y|ies)|toddlers?|visitors?|guests?|patients?|humans?|pets?"
    r"|colleagues?|students?|some(?:one|body)|any(?:one|body)|every(?:one|body))\b",
    re.IGNORECASE,
)
_NEAR = re.compile(
    r"\b(?:near\w*|close|next to|beside|behind|in front|around|left|right|sides?|present|here|there|in the room"
    r"|sit\w*|stand\w*|play\w*|sleep\w*|walk\w*|work\w*|watch\w*|reach\w*|come\w*|lean\w*|pass\w*|liv\w+|use[sd]?"
    r"|using)\b",
    re.IGNORECASE,
)
_WARNS = re.compile(
    r"(?:^|[.!?;:]\s)\W{0,6}(?:warning|caution|danger|attention|achtung|vorsicht|warnung|gefahr|beware|atenci[óo]n"
    r"|cuidado"
    r"|peligro|important"
    r"|wichtig|n\.?b\.?)\s*[!:.–—-]|(?:^|[。！；])\W{0,6}(?:注意|警告|小心|危险|重要|切记|务必)",
    re.IGNORECASE,
)
_FOREIGN = re.compile(
    r"留[在给着出下空原]|[别莫]再?(?:动|碰|拿|去|靠|把|让|开|用|抓|移|推|过|越|进|超|乱|放|夹|倒)"
    r"|(?<!急)停[在到留止下](?!用)|[坐站]着?.{0,3}人|[只仅]在|要[慢小轻留停避先]|(?:人|孩子?|小孩|儿童|老人|客人)们?"
    r"(?:们?坐|站|在|玩|经过|走|睡|旁)|有(?:人|孩子|小孩|儿童|老人|客人)|孩子|小孩|儿童|保持(?!不动)|原[处位地]"
    r"|轻[拿放]|放慢|缓慢|慢[慢一点些速]|应[该当]|(?:一定|必须|务必|得先)|才[能可]|不[动碰拿越]|归[^零位一]|让开"
    r"|请(?!参[阅见照考]|阅读|查看|见)|\b(?:bleib\w*|lassen|lasst|lass|nicht|niemals|nie|kein\w*|vorsicht\w*|heiß\w*"
    r"|zerbrechlich\w*|säure|gehör\w+|darf|dürfen|muss|müssen|soll(?:en|te)?|frag\w+|warte\w*|langsam\w*|(?:ein|das"
    r"|dem|dein|mein) kind|kindern?|leute\w*|menschen)\b|\b(?:laiss\w+|rest(?:ez|er|ent)|ne .{1,30} pas|jamais"
    r"|prudence|enfants?|gens|chaude?s?|acide|doi(?:t|vent)|demande[rz]|appartient|lentement|défense de"
    r"|interdit\w*)\b|\b(?:dej[aáeo]\w*|queda\w*|no (?:toc|mov|lev|us|pas)\w+|nunca|jam[aá]s|cuidado|niñ[oa]s?|gente"
    r"|personas|caliente|frágil|ácido|debe\w*|pregunt\w+|pertenece|despacio)\b|ないで|ません|ください|下さい|危険"
    r"|禁止|必ず|子ども|子供|熱い|壊れ|触[らる]|近づ|ゆっくり|置いて|\b(?:не|нельзя|осторожно|горяч\w+|хрупк\w+"
    r"|дет\w+|люди|оставь\w*|остаётся)\b|마세요|하지 ?마|조심|뜨거|아이",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_STOP_BUTTON = (
    r"(?:red |big |nearest )?(?:(?:(?:emergency|protective)[- ]stop|e-?stop)(?: button| switch)?"
    r"|(?:stop|red) (?:button|switch))"
)
_WHERE = r"(?:on|at|under|in|near|beside|by|next to|behind|above|below|left|right|to) (?:\w+ ){0,5}\w+"
_GEAR = (
    r"(?:(?:your|a|an|the|protective|safety|closed|sturdy|work|steel[- ]toed?|eye|hearing|ear|heavy) )*"
    r"(?:gloves?|glasses|goggles|shoes|boots|helmets?|hats?|vests?|coats?|protection|muffs|plugs|clothes|clothing)"
)
_PAPERS = (
    r"(?:(?:the|its|our|your) )?(?:\w+'?s? )?"
    r"(?:manual|handbook|data ?sheet|documentation|docs|guide|readme(?:\.md)?|website)"
)
_EMERGENCY = r"in (?:an|case of(?: an)?) emergency"
_NOTHING = re.compile(
    r"(?:there (?:are|is) )?(?:no|none|nothing|not any)(?: (?:known|special|particular|other|further|specific"
    r"|applicable|yet))*(?: (?:hazards?|rules?|restrictions?|dangers?|risks?|limitations?|warnings?"
    r"|notes?))?(?: known| yet)?",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    rf"wear {_GEAR}(?:(?:,| and|, and) {_GEAR})*|(?:the )?{_STOP_BUTTON}|(?:keep|have|hold) (?:the "
    rf"|an? )?(?:{_STOP_BUTTON}) (?:at hand|(?:with)?in(?: your)? reach|nearby|close(?: by)?|ready|accessible)"
    rf"|(?:{_EMERGENCY},? )?(?:press|push|hit) (?:the |an? )?(?:{_STOP_BUTTON})(?: {_EMERGENCY})?"
    rf"|(?:the )?(?:{_STOP_BUTTON})(?: is|:)(?: located)? {_WHERE}|(?:{_EMERGENCY}:?,? )?(?:call|phone|dial|tel\.?"
    rf"|telephone)[: ]+[+\d ()/-]{{2,20}}|(?:the )?(?:first[- ]aid (?:kit|box)|fire extinguisher)(?: is|:) {_WHERE}"
    rf"|(?:see|read|refer to|consult|cf\.?) (?:also )?{_PAPERS}(?:,? (?:chapter|section|page|p\.) ?[\d.]+)?"
    r"|n/?a|yes|ok|tbd|keine?|aucune?|ninguna?|なし|无|没有|暂无|无特殊要求|(?:it|he|she|(?:the|this) (?:robot|arm"
    r"|cart|body)) has no (?:wings|hands?|arms?|legs?|wheels?|grippers?|fingers?|cameras?|lidar|sensors?|eyes|ears"
    r"|tail|head|displays?|speakers?)(?: and no \w+)?|(?:(?:is )?(?:certified|conform\w*|compli\w+|according|tested"
    r"|meets) ?(?:to|by|with)? )?(?:(?:and |, ?)?(?:din|en|iso|iec|ul|ce|ansi|ria|tüv|gb|pld|category"
    r"|cat\.?)(?:[/ ]?(?:t|ts|iec|iso|marked))?[ -]?[\d:./-]*,?\s?)++|(?:author|date|(?:last )?updated?|version"
    r"|revision|contact|phone|e-?mail|responsible|url|link|source): (?:\S+ ){0,4}\S+|https?://\S+"
    r"|[^\s@]++@[^\s@.]++\.[\w.]+"
    r"|(?:请?佩?戴|穿)(?:好|上)?(?:防护|安全|工作|劳保)?(?:手套|护目镜|眼镜|帽|鞋|服)(?:[和、及](?:防护|安全)?(?:手套"
    r"|护目镜|眼镜|帽|鞋|服))*|(?:请?保持|把|将)?(?:急停)(?:按钮|开关)?(?:放|位于|触手可及"
    r"|在)?(?:[^，,。动臂]{0,8})(?:手边|附近|可及|侧|旁边?)|(?:紧急情况下?|紧急时)?[，,]?(?:请?按下?)(?:急停"
    r"|红色)(?:按钮|开关)?|(?:请?拨打|电话)[:： ]*[\d-]{2,20}|请?(?:参[阅见照考]|阅读|查看)(?:说明书|手册|文档"
    r"|用户手册)(?:第[\d一二三四五六七八九十]+[章节页])?",
    re.IGNORECASE,
)
# A sentence about the values of the limits, not one more limit.
_REFERS = re.compile(
    r"\b(?:data ?sheet\w*|manual|handbook|specifications?|specs?|maker|manufacturer|vendor|measured|nominal|rated"
    r"|according to|values?|figures?|numbers?|si units?|units?|in (?:metres?|meters?|kilograms?|radians|millimet\w+)"
    r"|approximate\w*|typical|rounded|estimated|coordinates|listed (?:below|above)|see (?:below|above))\b|说明书|手册"
    r"|厂[家商]|数[值据]|参数表|单位|实测|标称|额定|估[计算]|近似|坐标系|如下|见[上下]",
    re.IGNORECASE,
)
_WORD = re.compile(rf"{_CJK}|[^\W\d_]{{2,}}")


def announces(text: str, *, heading: bool = False, whole: bool = False) -> bool:
    """Whether a heading or a label says that rules follow. `whole`: it has no other words."""
    bare = _PARTS.sub(" ", text)
    words = _ANNOUNCES_BELOW if heading else _ANNOUNCES
    if not words.search(bare) or (whole and not _ONLY_ANNOUNCES.fullmatch(bare)):
        return False
    # "Forbidden actions" is a list of actions, "Safety of operations" is none
    return not sections.names_actions(bare) or words.search(_DENIES.sub(" ", bare)) is not None


def describes(text: str) -> bool:
    """Whether a heading or a label is known to describe."""
    return _DESCRIBES.search(text[:200]) is not None


@lru_cache(maxsize=256)
def instructs(text: str) -> bool:
    """Whether a text tells what an arm or a thing may do, or warns of something."""
    return _WARNS.search(text) is not None or any(map(_instructs, _SPLIT.split(text)))


def binds(text: str) -> bool:
    """Whether a text instructs, or says that something cannot be used."""
    return instructs(text) or (withdraws(text) and not is_harmless(text))


def _instructs(sentence: str) -> bool:
    if is_harmless(sentence):
        return False
    if warns(sentence) or _ALWAYS.search(sentence) or (_PERSONS.search(sentence) and _NEAR.search(sentence)):
        return True
    rest = _READY.sub(" ", sentence)
    told = _TOLD.search(rest) or _MODAL.search(rest) or _FOREIGN.search(rest)
    return told is not None and (_SETUP.search(sentence) is None or _BODY.search(sentence) is not None)


def warns(text: str) -> bool:
    """Whether a text names something that a hand is to be careful with: no description of an action does."""
    return _HAZARDS.search(text) is not None


def is_harmless(text: str) -> bool:
    """Whether each sentence of a text has a form that is known to say nothing of what an arm may do."""
    bare = text.replace(" :", ":").replace(" ：", "：")
    return all(map(_is_harmless, (one for part in _SPLIT.split(bare) if (one := part.strip(" \t.!。！;；,，")))))


def _is_harmless(sentence: str) -> bool:
    if _NOTHING.fullmatch(sentence) or (announces(sentence, heading=True, whole=True) and not _DENIES.search(sentence)):
        return True
    asked = re.sub(r"^please ", "", sentence, flags=re.IGNORECASE)
    told = any(words.search(asked) for words in (_ALWAYS, _MODAL, _PERSONS, _HAZARDS))
    return _HARMLESS.fullmatch(asked) is not None and not told


def refers(text: str) -> bool:
    """Whether a sentence among limits is about their values ("as the data sheet says"), or a caption over them."""
    caption = text.rstrip().endswith((":", "：")) and len(_WORD.findall(text)) < 6
    short = len(_WORD.findall(text)) < 2
    return not binds(text) and (caption or short or _REFERS.search(text) is not None or is_harmless(text))


def says(text: str) -> int:
    """How many words a text has; a sign of Chinese, Japanese or Korean is half a word."""
    found = _WORD.findall(text)
    signs = sum(1 for word in found if re.fullmatch(_CJK, word))
    return len(found) - signs + (signs + 1) // 2
