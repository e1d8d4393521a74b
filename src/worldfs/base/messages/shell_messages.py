"""Messages of the in-process shell, in English and Chinese."""

# a row stays on its line
ROWS = {
    "shell.interrupted": ("interrupted", "已中断"),
    "shell.too_much": ("more than {n} bytes of output: stopped", "输出超过 {n} 字节：已停止"),
    "shell.other_interface": (
        "bashkit does not know the file system interface that is needed: {why}",
        "bashkit 不支持所需的文件系统接口：{why}",
    ),
    "shell.no_script": ("the script is not UTF-8 text", "脚本不是 UTF-8 文本"),
}
