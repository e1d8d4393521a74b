"""Messages of the tree as a POSIX file system, in English and Chinese: the mount, 9P and the shell."""

# a row stays on its line
ROWS = {
    "posix.many_scratch": ("{n} scratch files are in use", "已有 {n} 个临时文件"),
    "posix.full_scratch": ("the scratch files hold {n} bytes, which is the most", "临时文件已占满 {n} 字节"),
    "posix.not_open_to_write": ("the file is not open to write", "该文件未以写入方式打开"),
    "posix.incomplete": ("the JSON document is not complete", "JSON 文档不完整"),
    "posix.whole_json": ("one whole JSON document", "一份完整的 JSON 文档"),
    "posix.no_links": ("links cannot be made here", "此处不能创建链接"),
    "posix.append": ("open it to append: `>>`", "以追加方式打开：`>>`"),
    "posix.use_cp": ("write the content with `cp` or `cat >`", "请用 `cp` 或 `cat >` 写入内容"),
    "posix.read_only_view": ("it is mounted read-only", "它以只读方式挂载"),
}
