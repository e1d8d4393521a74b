"""Messages about config.json, in English and Chinese: what stands in it, and what could."""

ROWS = {
    "config.address": (
        "an address like https://HOST/v1 or http://127.0.0.1:8080/v1",
        "形如 https://HOST/v1 或 http://127.0.0.1:8080/v1 的地址",
    ),
    "config.again": ("{name} a second time", "第二次出现的 {name}"),
    "config.agent_or_all": ("an agent's name, or {all} for all others", "智能体名称，或表示其余全部的 {all}"),
    "config.argv": ("a list of words: the program and its arguments", "词语列表：程序及其参数"),
    "config.below": ("a number below {n}", "小于 {n} 的数"),
    "config.both_prices": ("inputPrice and outputPrice, or neither", "inputPrice 与 outputPrice 都写，或都不写"),
    "config.dollars": ("an amount in US dollars, 0 or more", "不小于 0 的美元金额"),
    "config.file_text": ("text that can be a file's content", "可以写入文件的文本"),
    "config.https": ("https, or a model on this machine", "https，或本机上的模型"),
    "config.login_in_address": (
        "an address with a login, a query or none that can be used",
        "含登录信息或查询的地址，或不可用的地址",
    ),
    "config.model_keys": ("one of the keys in docs/models.md", "docs/models.md 中的某个键"),
    "config.model_name": ("the name of the model", "模型名称"),
    "config.models": ("an object: a name, and the model's settings", "对象：名称及其模型设置"),
    "config.no_command": ("no command", "没有命令"),
    "config.no_entry": ("no entry {key}", "没有第 {key} 项"),
    "config.object_with": ("an object with {one} and {other}", "含 {one} 和 {other} 的对象"),
    "config.one_price": ("one of two prices", "两个价格中的一个"),
    "config.plain_http": ("a key over plain HTTP", "密钥将经过未加密的 HTTP"),
    "config.plain_value": ("{key} is a plain value", "{key} 是单个值"),
    "config.program": ("the program and its arguments", "程序及其参数"),
    "config.quoted": ("text in quotes", "引号中的文本"),
    "config.real_time": (
        "true, false, or a factor between 0.1 and 100",
        "true、false，或 0.1 到 100 之间的倍率",
    ),
    "config.seconds": (
        "a number of seconds, more than 0, at most a year",
        "大于 0、不超过一年的秒数",
    ),
    "config.as_started": ("config.json as `paos up` was started by it", "与 `paos up` 启动时相同的 config.json"),
    "config.all_ask": (
        "{hint} (until then every robot asks for approval)",
        "{hint}（在此之前所有机器人都请求批准）",
    ),
    "config.approval_place": (
        "`approval` stands at the top of config.json",
        "`approval` 应位于 config.json 的最外层",
    ),
    "config.secret": ("a secret in config.json", "config.json 中的密钥"),
    "config.secret_place": (
        "apiKeyEnv, or apiKeyFile naming a file of mode 0600",
        "apiKeyEnv，或指明权限为 0600 的文件的 apiKeyFile",
    ),
    "config.section": ("a section", "一节"),
    "config.unread_key": ("a key that nothing reads", "没有程序读取的键"),
    "config.whole_range": ("a whole number from {low} to {high}", "{low} 到 {high} 之间的整数"),
}
