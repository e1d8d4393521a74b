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
        "the model reads this as: {what}.{warning} Nobody has confirmed it, so nothing was ordered",
        "模型的理解：{what}。{warning}没有人确认，所以没有下达任何指令",
    ),
    "model.odd_id": ("the id “{id}” cannot be read back to a person", "标识“{id}”无法向人复述"),
    "model.asks": ("the model asks: {question}", "模型问：{question}"),
    "model.unanswered": (
        "the model asks: {question} There is no answer, so nothing was ordered",
        "模型问：{question} 没有得到回答，所以没有下达任何指令",
    ),
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
    "model.opinion_unusable": (
        "one call of {agree} or {objects} is expected, and not {found}",
        "应当调用一次 {agree} 或 {objects}，而不是 {found}",
    ),
    "model.judge_asking": (
        "done, as measured; asking models.judge for a second opinion …",
        "已完成（经测量）；正在询问 models.judge 的第二意见 …",
    ),
    "model.judge": (
        "a model doubts it: {reason} ({name}; what was measured stands)",
        "模型有疑问：{reason}（{name}；测量结果不变）",
    ),
    "model.warning": ("warning: {said}", "警告：{said}"),
    "model.judge_fix": ("look for yourself, and order what is missing", "请自行查看，并补充缺少的动作"),
    "model.judge_silent": (
        "no second opinion, so the measurement stands alone: {problem}",
        "没有第二意见，只有测量结果：{problem}",
    ),
    "model.judge_check": ("paos model check judge", "paos model check judge"),
    "model.unmoved": ("Nothing was ordered.", "没有下达任何指令。"),
    "model.propose": ("To do it, send: {text} (read as: {reading})", "要执行，请发送：{text}（理解为：{reading}）"),
    "model.no_tree": ("no tree is served here", "这里没有提供目录树"),
    "model.serve": ("serve the home: paos serve, or paos up --serve", "请提供服务：paos serve，或 paos up --serve"),
    "model.too_long": (
        "the reading has {size} characters and cannot be confirmed in one line",
        "理解有 {size} 个字符，一行内无法确认",
    ),
    # -- its key
    "model.no_env": ("no {name} in the environment", "环境中没有 {name}"),
    "model.give_env": ("export {name}=…, or name a file with apiKeyFile", "export {name}=…，或用 apiKeyFile 指明文件"),
    "model.the_key": ("the key of the model", "模型的密钥"),
    # -- a call of it
    "model.tokens_used": (
        "{used} of {of} tokens used, and the next call may take more",
        "{of} 个 token 中已用 {used} 个，下一次调用可能超出",
    ),
    "model.no_price": (
        "a budget in money, and the price of the model is not known: set inputPrice and outputPrice",
        "有金额预算，而模型的价格未知：请设置 inputPrice 和 outputPrice",
    ),
    "model.spent": ("{cost:.4f} of {limit:g} US dollars spent", "{limit:g} 美元中已用 {cost:.4f}"),
    "model.within": ("a call within the budget", "预算之内的调用"),
    "model.raise_budget": (
        "raise tokenBudget or costBudget, or say it in other words",
        "提高 tokenBudget 或 costBudget，或换一种说法",
    ),
    "model.stopped": ("stopped before it answered", "在回答之前被停止"),
    "model.no_answer": ("no answer within {s:g} s", "{s:g} 秒内没有回答"),
    "model.in_time": ("an answer in time", "及时的回答"),
    "model.raise_timeout": ("raise timeoutSeconds", "提高 timeoutSeconds"),
    "model.unreachable": ("cannot be reached: {why}", "无法连接：{why}"),
    "model.key_right": ("is the key right?", "密钥是否正确？"),
    "model.name_right": ("are baseUrl and the name of the model right?", "baseUrl 和模型名称是否正确？"),
    # -- in chat
    "model.proposed": ("{n} instructions are proposed already", "已提出 {n} 条指令"),
    "model.no_more": ("no more", "不再提出"),
    "model.no_robot": ("no robot here takes instructions", "这里没有接受指令的机器人"),
    "model.words_like": ("words like: {can}", "类似的说法：{can}"),
    "model.plain_words": ("an instruction in plain words", "直白的指令"),
    "model.no_orders": (
        "a model in chat gives no orders and writes no documents of robots",
        "对话中的模型不下达任务，也不写机器人的文档",
    ),
    "model.agent_file": ("a file below /agents that takes no orders", "/agents 之下不接受任务的文件"),
    "model.propose_it": (
        "`propose` an instruction, or tell the asker what to write",
        "用 `propose` 提出指令，或告诉提问者写什么",
    ),
    "model.odd_key": ("a key that nothing reads: {key}", "没有程序读取的键：{key}"),
    "model.chat_keys": (
        "kind, agent, robot, and model: a name of `models`",
        "kind、agent、robot，以及 model：`models` 中的名称",
    ),
    "model.not_configured": ("no model {name!r} is configured", "没有配置模型 {name!r}"),
    "model.add_model": (
        'add "models": {{"{name}": {{"kind": …, "model": …}}}}',
        '加入 "models": {{"{name}": {{"kind": …, "model": …}}}}',
    ),
    "model.no_use": ("the model {name} gave no usable answer: {problem}", "模型 {name} 没有给出可用的回答：{problem}"),
    "model.no_end": ("the model {name} gave no answer in {n} steps", "模型 {name} 在 {n} 步内没有给出回答"),
}
