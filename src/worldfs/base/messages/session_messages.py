"""Messages of sessions and skills, in English and Chinese: what does not fit, and how a session ended."""

# a row stays on its line
ROWS = {
    "session.nothing": ("nothing", "无"),
    "session.name_or_install": (
        "name one of them, or install the package that brings it",
        "指明其中之一，或安装提供它的软件包",
    ),
    # -- preflight
    "session.add_skill": (
        "add it to supported_skills of {id}, or choose another target",
        "把它加入 {id} 的 supported_skills，或换一个目标",
    ),
    "session.target_is": ("{id} is {kind}", "{id} 是 {kind}"),
    "session.other_type": (
        "run it on a target of type {kind}, or let the skill support {other}",
        "在 {kind} 类型的目标上运行，或让该技能支持 {other}",
    ),
    "session.adapter_name": ("the name of an adapter", "适配器的名称"),
    "session.leave_adapter": (
        "leave it out, or route the session to a target with that adapter",
        "删去它，或把会话交给使用该适配器的目标",
    ),
    "session.name_or_leave": ("name one of them, or leave it out", "指明其中之一，或删去它"),
    "session.no_sensors": ("no sensors", "没有传感器"),
    "session.add_sensor": (
        "add a {sensor} to the target, or drop it from SKILLS.md requires.sensors",
        "给目标加上 {sensor}，或从 SKILLS.md 的 requires.sensors 中删去它",
    ),
    "session.not_empty": ("{word}, not empty", "非空的 {word}"),
    "session.nothing_there": ("nothing there", "那里没有内容"),
    "session.observe_once": (
        "let the target observe once (paos up), or drop {word} from environment_outputs",
        "让目标先观测一次(paos up)，或从 environment_outputs 中删去 {word}",
    ),
    "session.policy_at": ("a policy at {endpoint}", "位于 {endpoint} 的策略"),
    "session.start_with": ("start it: {command}", "启动它：{command}"),
    "session.start_policy": ("start the policy server", "启动策略服务器"),
    "session.no_such_name": ("nothing of that name", "没有这个名称"),
    "session.there_are": ("{actual}; there are: {names}", "{actual}；现有：{names}"),
    "session.map_names": (
        "map the names in the skill's policy_client.observations, or train on this target",
        "在技能的 policy_client.observations 中对应名称，或在该目标上训练",
    ),
    "session.accepted_policy": (
        "use a policy whose actions this target accepts",
        "使用其动作被该目标接受的策略",
    ),
    "session.n_of": ("{name} of {n}", "{n} 维的 {name}"),
    "session.n_numbers": ("{n} numbers", "{n} 个数"),
    # -- a robot as a body
    "session.answering_robot": ("a robot that answers", "有应答的机器人"),
    "session.robot_can": ("{op}; this robot can do {names}", "{op}；这个机器人能做 {names}"),
    "session.give_one": ("give it one of those", "给它其中之一"),
    "session.name_kinematics": (
        "name its kinematics, so that it can be led by poses",
        "指明其运动学，以便用位姿引导它",
    ),
    "session.nothing_to_do": ("nothing to do", "无事可做"),
    "session.a_sentence": ("nl_task: a sentence", "nl_task：一句话"),
    "session.write_instruction": ("write an instruction", "写一条指令"),
    "session.shorter": ("write a shorter instruction", "写一条更短的指令"),
    "session.no_runtime_installed": ("no skill runtime {name} is installed", "没有安装技能运行时 {name}"),
    "session.install_again": (
        "install worldfs again: scripts/bootstrap, or pip",
        "重新安装 worldfs：scripts/bootstrap，或 pip",
    ),
    # -- taking up a target
    "session.usable_target": ("a target that can be taken up", "可以启用的目标"),
    "session.no_runtime": ("no runtime {name!r}", "没有运行时 {name!r}"),
    "session.no_adapter": ("no adapter is called {name!r}", "没有名为 {name!r} 的适配器"),
    "session.name_adapter": (
        "name one of them under adapter.class, or install the package that brings it",
        "在 adapter.class 下指明其中之一，或安装提供它的软件包",
    ),
    "session.no_start": ("{name} does not start: {kind}: {why}", "{name} 无法启动：{kind}：{why}"),
    "session.correct_entry": ("correct its entry", "改正它的条目"),
    "session.no_policy_client": ("no policy client is called {name!r}", "没有名为 {name!r} 的策略客户端"),
    "session.a_target": ("a target {id}", "目标 {id}"),
    "session.undeclared": ("it is not declared any more", "它已不再声明"),
    "session.declare_again": ("declare it again", "重新声明它"),
    "session.a_skill": ("a skill of SKILLS.md: {names}", "SKILLS.md 中的技能：{names}"),
    "session.declare_skill": ("declare the skill, or name one of them", "声明该技能，或指明其中之一"),
    # -- scripted skills
    "session.these_ops": (
        "write steps of these ops, or give the skill another runtime",
        "用这些动作写步骤，或给该技能换一个运行时",
    ),
    "session.step_too_long": (
        "{op} took longer than the {s:g} s of a step (timeouts.skill)",
        "{op} 超过了每步 {s:g} 秒的时限(timeouts.skill)",
    ),
    "session.steps_list": ("a list of {{op: {{parameter: value}}}}", "由 {{动作: {{参数: 值}}}} 组成的列表"),
    "session.correct_steps": ("correct the steps", "改正这些步骤"),
    "session.give_parameter": ("give the parameter", "给出该参数"),
    "session.own_ops": ("a target that has ops of its own", "自身有动作的目标"),
    "session.policy_or_simulated": (
        "use a skill with a policy on this target, or a simulated target (backend: mujoco)",
        "在该目标上使用带策略的技能，或使用仿真目标(backend: mujoco)",
    ),
    # -- skills by a policy
    "session.a_policy": ("a policy", "策略"),
    "session.add_policy": (
        "add its address: policy_client: {{type: http, endpoint: http://localhost:8765/predict}}",
        "写明它的地址：policy_client: {{type: http, endpoint: http://localhost:8765/predict}}",
    ),
    "session.name_observations": ("name observations that the target has", "指明该目标具有的观测"),
    "session.accepted": ("what the target accepts", "目标接受的动作"),
    "session.write_mode": ("write {mode}", "写 {mode}"),
    "session.no_policy": ("the skill names no policy", "该技能没有指明策略"),
    "session.done": ("done in {n} steps", "{n} 步完成"),
    "session.terminated": (
        "the target ended the episode (terminated) unfinished",
        "目标在完成之前结束了本回合(terminated)",
    ),
    "session.truncated": (
        "the target ended the episode (truncated) unfinished",
        "目标在完成之前结束了本回合(truncated)",
    ),
    "session.max_steps": (
        "not done after {n} steps; expected the target's own measure of success",
        "{n} 步后仍未完成；应达到目标自身的成功标准",
    ),
    "session.late_answer": ("no answer within {s:.3g} s", "{s:.3g} 秒内没有应答"),
    "session.answer_in_time": ("an answer in time", "按时的应答"),
    "session.more_time": (
        "give it more time (timeouts.skill of the session)",
        "给它更多时间(会话的 timeouts.skill)",
    ),
    "session.slow_step": (
        "a step of the target took {took:.3g} s; expected {limit:g} s (timeouts.skill)",
        "目标的一步用了 {took:.3g} 秒；应为 {limit:g} 秒(timeouts.skill)",
    ),
    "session.stopped_timeout": ("stopped: timeout", "已停止：超时"),
    "session.stopped_cancelled": ("stopped: cancelled", "已停止：已取消"),
    "session.unfit": (
        "the policy gives {found} — describe it with policy_client.action of the skill, "
        "or use a policy for this target",
        "策略给出 {found}；请用技能的 policy_client.action 描述它，或使用适合该目标的策略",
    ),
    "session.wrong_size": (
        "{source} of {n} numbers, and the target's has {dim}",
        "{n} 个数的 {source}，而目标的有 {dim} 个",
    ),
    "session.no_representation": (
        "{n} numbers without a representation; the target accepts {names}",
        "{n} 个没有说明含义的数；目标接受 {names}",
    ),
    "session.some_numbers": (
        "some numbers without a representation; the target accepts {names}",
        "若干没有说明含义的数；目标接受 {names}",
    ),
    "session.unknown_action": ("{source!r}; there are {names}", "{source!r}；现有 {names}"),
    "session.other_size": (
        "{source} of {n} numbers; the target accepts {names}",
        "{n} 个数的 {source}；目标接受 {names}",
    ),
    "session.no_conversion": (
        "{source}; the target accepts {names}, and between joints and the tool there is no conversion",
        "{source}；目标接受 {names}，而关节与工具之间无法换算",
    ),
    "session.same_gripper": ("a gripper that is closed and open at {at:g}", "夹爪闭合与张开的值同为 {at:g}"),
    "session.not_shown": ("the target shows no {name}", "目标没有给出 {name}"),
    "session.correct_observations": (
        "correct policy_client.observations of the skill",
        "改正技能的 policy_client.observations",
    ),
    "session.trace_lost": ("not kept: {why}", "未保存：{why}"),
}
