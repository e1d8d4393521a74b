"""Messages of lessons and of the review of TASK.md, in English and Chinese."""

# a row stays on its line
ROWS = {
    # -- titles: what was tried, and what was wrong with it
    "lesson.failed": ("{deed} Failed: {what}", "{deed}失败：{what}"),
    "lesson.lost": ("{deed} Lost: Outcome Unknown", "{deed}中断：结果未知"),
    "lesson.pick": ("Grasp", "抓取"),
    "lesson.place": ("Place", "放置"),
    "lesson.move": ("Move", "移动"),
    "lesson.look": ("Navigation", "导航"),
    "lesson.text_task": ("ReKep Task", "ReKep 任务"),
    "lesson.strategy": ("Strategy", "策略"),
    "lesson.object": ("Object", "物体"),
    "lesson.target": ("Target", "目标"),
    "lesson.refused": ("Refused by the Critic", "未通过审查"),
    "lesson.code_words": ("{words}", "{code}"),
    "lesson.collision": ("Collision in the Way", "路径会碰撞"),
    "lesson.reach": ("{thing} Out of Reach", "{thing}超出臂展"),
    "lesson.payload": ("Object Too Heavy", "物体过重"),
    "lesson.grip": ("Object Too Wide", "物体过宽"),
    "lesson.bounds": ("{thing} Out of Workspace", "{thing}超出工作空间"),
    "lesson.unknown_object": ("Unknown Object", "未知物体"),
    "lesson.no_op": ("Action Not Supported", "动作不受支持"),
    "lesson.no_sensor": ("Sensor Missing", "缺少传感器"),
    "lesson.parameters": ("Invalid Parameters", "参数无效"),
    "lesson.holding": ("Gripper Not Free", "夹爪已有物体"),
    "lesson.not_holding": ("Nothing in the Gripper", "夹爪中没有物体"),
    # -- the rest of a lesson
    "lesson.fixes": ("{one}; {more}", "{one}；{more}"),
    "lesson.worker_ended": (
        "the worker ended while the action was running; how far it came is unknown",
        "执行过程中程序终止，动作完成到何种程度未知",
    ),
    "lesson.not_repeated": ("not repeated (LOST)", "未重新执行 (LOST)"),
    "lesson.look_again": (
        "look at the scene again, then give the order anew if it is still wanted",
        "先重新观测场景，再决定是否重新下达",
    ),
    "lesson.no_reason": ("the driver gave no reason", "驱动未说明原因"),
    "lesson.failed_executing": ("failed while executing ({code})", "执行失败 ({code})"),
    "lesson.another_way": ("observe the scene again and try another way", "重新观测场景后换一种方式再试"),
    # -- TASK.md compared with the world
    "lesson.row": ("row {id}", "第{id}行"),
    "lesson.goal": ("goal", "目标"),
    "lesson.not_so": ("“{claimed}” does not hold", "“{claimed}”不成立"),
    "lesson.not_so_but": ("“{claimed}” does not hold: {now}", "“{claimed}”不成立：{now}"),
    "lesson.rows_done": (
        "{done} of {total} rows are done ({percent}%)",
        "表中 {total} 行有 {done} 行完成 ({percent}%)",
    ),
    "lesson.task_at": ("TASK.md {where}", "TASK.md {where}"),
    "lesson.claim": ("{where} “{text}”", "{where} “{text}”"),
    "lesson.all": ("{said}", "{said}"),
    "lesson.more": ("{said} … (+{n})", "{said} … (+{n})"),
    "lesson.so_there": ("so in ENVIRONMENT.md: {text}", "ENVIRONMENT.md 中成立：{text}"),
    "lesson.correct_row": ("correct what it says, or carry it out", "改正这一行，或真正完成它"),
    "lesson.provable": (
        "a claim that ENVIRONMENT.md or a job's record can bear out",
        "ENVIRONMENT.md 或任务记录能证明",
    ),
    "lesson.unjudged": ("unjudged: do not take it as done", "未经证实，不当作已完成"),
    "lesson.claims_false": ("TASK.md Claims What Is Not So", "TASK.md 的说法与世界不符"),
    "lesson.task_refused": ("TASK.md validation failed ({code})", "TASK.md 校验失败 ({code})"),
    "lesson.look_before": (
        "look at ENVIRONMENT.md before a row is marked done",
        "先看 ENVIRONMENT.md，再写“完成”",
    ),
}
