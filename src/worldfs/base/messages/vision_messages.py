"""Messages of arms that go by their cameras, in English and Chinese."""

# a row stays on its line

ROWS = {
    "vision.cameras_alone": (
        "perception by camera is for a robot that is alone in its world",
        "按相机感知只用于世界中只有一个机器人的情形",
    ),
    "vision.perceive_truth": (
        "set Perception to truth in its EMBODIED.md",
        "在其 EMBODIED.md 中将 Perception 设为 truth",
    ),
    "vision.the_picture": ("the picture of the {camera} camera", "{camera} 相机的图像"),
    "vision.good_picture": (
        "a new picture of this scene, with depth, from where the camera was calibrated",
        "在标定位置拍摄的、带深度的本场景新图像",
    ),
    "vision.check_camera": ("check the camera and its cable, then order it again", "检查相机及其连线，然后重新下达"),
    "vision.picture_late": (
        "a picture {s:.2f} s old; the limit is {limit} s",
        "图像已有 {s:.2f} 秒；上限为 {limit} 秒",
    ),
    "vision.picture_frozen": (
        "the same picture as before, although the arm has moved by {rad:.2f} rad",
        "与之前相同的图像，而手臂已转动 {rad:.2f} 弧度",
    ),
    "vision.picture_dark": ("a dark picture: brightness {n:.0f} of 255", "图像过暗：亮度 {n:.0f}/255"),
    "vision.picture_holes": ("no depth in {percent:.0f} % of the picture", "图像的 {percent:.0f} % 没有深度"),
    "vision.picture_noisy": (
        "depth with {mm:.1f} mm of noise at 1 m; the limit is {limit:.0f} mm",
        "深度在 1 米处有 {mm:.1f} 毫米噪声；上限为 {limit:.0f} 毫米",
    ),
    "vision.picture_foreign": (
        "a picture that does not show the arm and the furniture where they are ({n:.2f})",
        "图像没有在应有的位置显示手臂和家具（{n:.2f}）",
    ),
    "vision.picture_colours": (
        "a picture whose red and blue are exchanged ({n:.2f})",
        "图像的红色与蓝色通道颠倒（{n:.2f}）",
    ),
    "vision.camera_moved": (
        "the arm and the furniture stand elsewhere in the picture ({percent:.1f} % of it): the camera was moved",
        "手臂和家具在图像中的位置不对（占 {percent:.1f} %）：相机被移动过",
    ),
    "vision.camera_off": (
        "the camera was moved: what it shows is off by {mm:.0f} mm; up to {limit:.0f} mm is corrected",
        "相机被移动过：所示位置偏差 {mm:.0f} 毫米；最多可校正 {limit:.0f} 毫米",
    ),
    "vision.cameras_disagree": (
        "the wrist camera has {id} {mm:.0f} mm from where the front camera has it: one of them was moved",
        "腕部相机与前方相机看到的 {id} 相差 {mm:.0f} 毫米：其中一个相机被移动过",
    ),
    "vision.furniture_moved": (
        "furniture stands elsewhere than ENVIRONMENT.md has it ({percent:.1f} % of the picture); the camera does not",
        "家具的位置与 ENVIRONMENT.md 不符（占图像的 {percent:.1f} %）；相机没有被移动",
    ),
    "vision.furniture_back": (
        "put it back, or write where it stands into ENVIRONMENT.md",
        "把它放回原位，或把它现在的位置写入 ENVIRONMENT.md",
    ),
    "vision.calibrate_camera": ("put the camera back, or calibrate it again", "把相机放回原位，或重新标定"),
    "vision.no_intruder": ("nothing large above the table", "桌面上方没有大的物体"),
    "vision.intruder": (
        "something of {size} m above the table at {at}: a hand, or a person",
        "桌面上方 {at} 处有 {size} 米大的物体：手或人",
    ),
    "vision.wait_for_clear": ("wait until it is gone, then order it again", "等它离开后重新下达"),
    "vision.one_of_its_kind": ("one thing that can only be {id}", "只可能是 {id} 的一个物体"),
    "vision.looks_like": (
        "{id} looks the same as {others}, and their places do not tell them apart",
        "{id} 与 {others} 外观相同，位置也无法区分",
    ),
    "vision.tell_apart": ("move them apart, or give one another colour", "把它们分开，或给其中一个换颜色"),
    "vision.thing_in_view": ("{id} in a picture", "图像中有 {id}"),
    "vision.place_is_empty": (
        "the place where {id} was, {at}, is empty",
        "{id} 原来的位置 {at} 是空的",
    ),
    "vision.never_seen": (
        "no picture has shown {id}; the file has it at {at}",
        "没有图像显示过 {id}；文件中它位于 {at}",
    ),
    "vision.opening_in_view": ("a picture that shows how far {id} is open", "显示 {id} 打开程度的图像"),
    "vision.opening_unseen": ("no picture shows how far {id} is open", "没有图像显示 {id} 打开了多少"),
    "vision.clear_opening": (
        "clear what stands before {id}, and check where ENVIRONMENT.md has it",
        "移开 {id} 前面的物体，并检查 ENVIRONMENT.md 中它的位置",
    ),
    "vision.put_in_view": (
        "put {id} where a camera sees it, or remove it from ENVIRONMENT.md",
        "把 {id} 放到相机可见处，或将其从 ENVIRONMENT.md 中删除",
    ),
}
