"""Messages of plug-ins and their registry, in English and Chinese."""

# a row stays on its line
ROWS = {
    # -- the registry
    "plugin.port_object": ("an object of the port", "符合接口的对象"),
    "plugin.correct": (
        "correct the package, or install a version of it that works",
        "修正该软件包，或安装它可用的版本",
    ),
    "plugin.built_in_name": ("another name: there is a built-in one", "其他名称：已有同名的内置插件"),
    "plugin.rename": ("rename the one of the package", "给软件包中的插件改名"),
    "plugin.from": ("in {names}", "来自 {names}"),
    "plugin.correct_group": (
        "correct the group in the package's pyproject.toml",
        "改正软件包 pyproject.toml 中的组名",
    ),
    "plugin.names_group": ("{package} names the group {group}", "{package} 使用的组名是 {group}"),
    "plugin.one_of_name": ("one plug-in of that name", "同名插件只有一个"),
    "plugin.uninstall": ("uninstall one", "卸载其中一个"),
    "plugin.importable": ("{name} can be imported", "{name} 可以导入"),
    "plugin.other_version": ("{package} was written for version {version}", "{package} 是为版本 {version} 编写的"),
    "plugin.port_version": ("version {version} of the ports", "接口版本 {version}"),
    "plugin.fitting": ("install the version that fits this worldfs", "安装适合当前 worldfs 的版本"),
}
