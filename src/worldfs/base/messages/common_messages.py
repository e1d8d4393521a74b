"""Messages of every area, in English and Chinese: words that a refusal is put together of."""

# a row stays on its line
ROWS = {
    "common.at_most": ("at most {n}", "至多 {n}"),
    "common.try_again": ("try again", "请重试"),
    "common.one_of": ("one of: {names}", "以下之一：{names}"),
    "common.at_most_bytes": ("at most {n} bytes", "至多 {n} 字节"),
    "common.directory": ("a directory", "目录"),
    "common.a_file": ("a file", "文件"),
    "common.remove_it": ("remove it", "删除它"),
    "common.not_installed": ("{name} is not installed", "没有安装 {name}"),
    "common.no_load": ("{name} does not load: {why}", "无法加载 {name}：{why}"),
    "common.either_of": ("one of {names}", "{names} 之一"),
    "common.some_of": ("some of {names}", "{names} 中的若干个"),
    "common.name_one": ("name one of them", "指明其中之一"),
    "common.number_range": ("a number from {low:g} to {high:g}", "{low:g} 到 {high:g} 之间的数"),
    "common.none": ("none", "无"),
    "common.nothing": ("nothing", "无"),
    "common.given": ("found {text!r}", "给出了 {text!r}"),
    "common.target": ("target", "目标"),
    "common.no_utf8": ("no UTF-8", "不是 UTF-8"),
}
