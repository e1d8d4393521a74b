"""Messages about what a language model read into an instruction."""

# a text stays on its line
ROWS = {
    "model.asking": ("asking the model {name} …", "正在询问模型 {name} …"),
    "model.confirm": (
        "I read this as: {what}.{warning} Shall I? [y/N]",
        "我的理解：{what}。{warning}要这样做吗？[y/N]",
    ),
    "model.unnamed": (" You did not name: {names}.", " 你没有提到：{names}。"),
    "model.unconfirmed": (
        "the model reads this as: {what}.{warning} Nobody has confirmed it, so nothing moves",
        "模型的理解：{what}。{warning}没有人确认，所以什么都不动",
    ),
    "model.odd_id": ("the id “{id}” cannot be read back to a person", "标识“{id}”无法向人复述"),
    "model.asks": ("the model asks: {question}", "模型问：{question}"),
    "model.unusable": (
        "{why}. The model {name} gave no plan that can be used: {problem}",
        "{why}。模型 {name} 没有给出可用的计划：{problem}",
    ),
    "model.refused": ("{why}. The model {name} refuses: {reason}", "{why}。模型 {name} 拒绝：{reason}"),
    "model.unavailable": ("{why}. The model was not of use: {problem}", "{why}。模型没有用上：{problem}"),
    "model.critic": ("the model {name} refuses: {reason}", "模型 {name} 拒绝：{reason}"),
    "model.critic_agrees": ("a second opinion that agrees", "第二意见同意"),
    "model.critic_fix": (
        "order something else; or, if the model is wrong, take models.critic out of config.json",
        "请换一个动作；如果模型错了，请从 config.json 去掉 models.critic",
    ),
    "model.critic_silent": (
        "no second opinion, so the critic alone decided: {problem}",
        "没有第二意见，只由审查者决定：{problem}",
    ),
    "model.critic_answer": ("an answer of the model", "模型的回答"),
    "model.critic_check": ("paos model check critic", "paos model check critic"),
    "model.critic_unusable": (
        "one call of agree or refuse is expected, and not {found}",
        "应当调用一次 agree 或 refuse，而不是 {found}",
    ),
    "model.unmoved": ("Nothing has moved.", "什么都没有动。"),
    "model.propose": ("To do it, send: {text} (read as: {reading})", "要执行，请发送：{text}（理解为：{reading}）"),
    "model.no_tree": ("no tree is served here", "这里没有提供目录树"),
    "model.serve": ("serve the home: paos serve, or paos up --serve", "请提供服务：paos serve，或 paos up --serve"),
    "model.too_long": (
        "the reading has {size} characters and cannot be confirmed in one line",
        "理解有 {size} 个字符，一行内无法确认",
    ),
}
