"""Messages of a node, in English and Chinese: joining a server, its exports and its services."""

# a row stays on its line
ROWS = {
    "node.see_node": ("see whether the node runs", "检查该节点是否在运行"),
    "node.see_program": ("see what program serves that node", "检查是什么程序在为该节点服务"),
    "node.joined": ("joined as {node}", "已作为 {node} 加入"),
    "node.expelled": ("the server no longer has node {node}", "服务器上已没有节点 {node}"),
    "node.not_joined": ("this machine has not joined the server yet", "本机尚未加入服务器"),
    "node.an_invite": ("an invite, or a user's token for a join request", "邀请，或用于申请加入的用户令牌"),
    "node.get_invite": (
        "--invite TOKEN (control.node_invite_create gives one), or set PAOS_TOKEN",
        "--invite TOKEN(由 control.node_invite_create 给出)，或设置 PAOS_TOKEN",
    ),
    "node.remove_state": ("remove this file, and start again with a new invite", "删除此文件，用新的邀请重新开始"),
    "node.tunnel_closed": ("tunnel closed", "隧道已关闭"),
    "node.new_invite": ("ask for a new invite", "请求新的邀请"),
    "node.tunnel_open": ("tunnel open", "隧道已打开"),
    "node.no_tunnel": ("no tunnel: {why}", "没有隧道：{why}"),
    "node.refused": ("refused: {why}", "被拒绝：{why}"),
    "node.no_lease": ("no lease: {why}", "没有租约：{why}"),
    "node.no_state": ("no state of a node", "不是节点的状态"),
    "node.state_of": ("the state of a node of {server}", "{server} 的节点的状态"),
    "node.one_of_server": ("one of {server}", "{server} 的节点"),
    "node.other_state": (
        "choose another file with --state, or remove it to join anew",
        "用 --state 选择其他文件，或删除它以重新加入",
    ),
    "node.taken": ("another process runs as this node", "另一个进程正作为此节点运行"),
    "node.stop_it": ("stop it, or choose another --name or --state", "停止它，或选择其他 --name 或 --state"),
    "node.waits": ("waits for approval of {request}", "等待批准 {request}"),
    "node.unfit": ("not what is needed", "不符合要求"),
    "node.service_id": ("letters, digits, . _ -", "字母、数字和 . _ -"),
    "node.endpoints": ("absolute paths, one or more", "一个或多个绝对路径"),
    "node.objects": ("a list of objects", "对象列表"),
    "node.runtime_type": ("runtime.type is {kind!r}", "runtime.type 是 {kind!r}"),
    "node.wrap": ("wrap it in a program of its own", "用单独的程序包装它"),
    "node.program_path": ("the path of a program", "程序的路径"),
    "node.no_program": ("no program {program!r} that can be run", "没有可以运行的程序 {program!r}"),
    "node.a_program": (
        "one on PATH, or a path seen from the manifest's directory",
        "PATH 中的程序，或从清单所在目录出发的路径",
    ),
    "node.manifest": ("a service manifest", "服务清单"),
    "node.chmod": (
        "chmod +x it, or name another in runtime.executable_path",
        "对它执行 chmod +x，或在 runtime.executable_path 中指明其他程序",
    ),
}
