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
    "posix.unmount_first": ("first `paos unmount {directory}`", "请先执行 `paos unmount {directory}`"),
    "posix.mounted": ("a tree is already mounted here", "此处已挂载一棵树"),
    "posix.not_mounted": ("no tree is mounted here", "此处没有挂载树"),
    "posix.leave_first": (
        "leave the directory and close its files, or `paos unmount --lazy {directory}`",
        "请离开该目录并关闭其中的文件，或执行 `paos unmount --lazy {directory}`",
    ),
    "posix.not_your_directory": ("the directory belongs to another user", "该目录属于另一个用户"),
    "posix.no_device": ("there is no {device}", "没有 {device}"),
    "posix.no_program": ("not root, and {program} is not installed", "不是 root，且未安装 {program}"),
    "posix.program_late": ("{program} has not answered for {s:g} s", "{program} 在 {s:g} 秒内没有应答"),
    "posix.install_fuse": (
        "install fuse3; in a container pass /dev/fuse into it. Without it: `paos ls`, `paos cat` and `paos write`",
        "请安装 fuse3；在容器中请传入 /dev/fuse。没有它时可用 `paos ls`、`paos cat` 和 `paos write`",
    ),
    "posix.allow_other_conf": (
        "root must write `user_allow_other` into /etc/fuse.conf",
        "需由 root 在 /etc/fuse.conf 中写入 `user_allow_other`",
    ),
    "posix.offline": (
        "the server cannot be reached since {time}: what was read before can be read, and nothing can be changed",
        "自 {time} 起无法连接服务器：只能读取先前读过的内容，不能改动",
    ),
    "posix.not_read_before": (
        "the server cannot be reached since {time}, and this was not read before",
        "自 {time} 起无法连接服务器，且此内容先前未读过",
    ),
    "posix.cache_not_private": ("other users may read this directory", "其他用户可以读取该目录"),
    "posix.private": ("`chmod 700` it, or remove it", "执行 `chmod 700`，或将其删除"),
    "posix.read_only_view": ("it is mounted read-only", "它以只读方式挂载"),
}
