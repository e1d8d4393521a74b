"""Messages of the 9P listener, in English and Chinese."""

# a row stays on its line
ROWS = {
    "ninep.bad_address": (
        "{text!r} is not an address of this machine",
        "{text!r} 不是本机的地址",
    ),
    "ninep.addresses": (
        "a path with a slash, or HOST:PORT of loopback, such as 127.0.0.1:5640",
        "带斜杠的路径，或回环地址的 HOST:PORT，例如 127.0.0.1:5640",
    ),
    "ninep.long_path": ("the path of the socket has {n} bytes", "套接字路径有 {n} 个字节"),
    "ninep.not_a_socket": ("a file that is no socket is there", "该处已有一个不是套接字的文件"),
    "ninep.in_use": ("another process listens on this socket", "另一个进程正在监听此套接字"),
    "ninep.other_path": ("name another path", "请指定另一个路径"),
}
