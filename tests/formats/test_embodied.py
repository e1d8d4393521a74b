"""EMBODIED.md in both profile dialects."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldfs.base.errors import BadInput
from worldfs.base.model import Parameter, Profile
from worldfs.formats import embodied, embodied_write, quantities, sensors

FIXTURES = Path(__file__).parents[1] / "fixtures" / "profiles"


def profile(name: str) -> Profile:
    return embodied.read((FIXTURES / name).read_bytes())


@pytest.mark.parametrize("name", ["page_en.md", "page_zh.md"])
def test_the_specifications_example_reads(name: str) -> None:
    read = profile(name)
    assert (read.name, read.dof, read.driver) == ("Franka Emika Panda", 7, "rekep_real")
    assert (read.max_reach, read.max_payload) == (0.855, 3.0)
    assert [op.name for op in read.ops] == ["move_to", "pick_up", "place", "target_navigation", "real_execute"]
    assert read.ops[0].parameters == (Parameter("target_pose", "[x,y,z,r,p,y]"),)
    assert read.sensors[0] == ("RGB-D Camera (Intel RealSense D435)", True)
    assert read.unread == ()


def test_chinese_headings_labels_units_and_colons_read() -> None:
    read = profile("zh.md")
    assert (read.name, read.model, read.dof) == ("桌面机械臂", "桌面机械臂 A1", 6)
    assert read.max_reach == pytest.approx(0.855)
    assert read.max_payload == 3.0
    assert read.max_grip_width == pytest.approx(0.08)
    assert read.bounds == ((-0.5, 0.9), (-0.7, 0.7), (0.0, 1.2))
    assert read.ops[1].parameters == (Parameter("target_position", "[x,y,z]"),)
    assert read.sensors[2] == ("激光雷达", False)


def test_the_q1_dialect_reads_by_header_not_by_column_number() -> None:
    read = profile("q1_desk.md")
    assert (read.name, read.type, read.driver) == ("Desk Pet", "desktop_companion", "desk_sim")
    assert [op.name for op in read.ops] == ["move_to", "pick_up", "grab", "put_down", "nod_head", "wait"]
    assert read.op("move_to").parameters == tuple(Parameter(axis, unit="cm") for axis in "xyz")  # type: ignore[union-attr]
    assert read.op("wait").parameters == (Parameter("seconds", optional=True),)  # type: ignore[union-attr]
    assert read.sensors == (("Camera: one virtual camera above the desk", True), ("Touch: none", False))


def test_what_is_not_supported_and_the_cable_are_no_abilities() -> None:
    read = profile("q1_desk.md")
    assert read.op("fly") is None
    assert read.max_reach is None


def test_centimetres_and_grams_become_metres_and_kilograms() -> None:
    read = profile("q1_desk.md")
    assert read.bounds == ((-0.5, 0.5), (-0.5, 0.5), (0.0, 0.4))
    assert read.max_payload == pytest.approx(0.05)


def test_a_limit_that_cannot_be_read_is_named_and_never_passed() -> None:
    read = profile("q1_desk.md")
    assert read.max_grip_width is None
    assert read.unread == ("max gripper opening: as wide as an apple", "Max Speed: 0.1 m/s")


def test_limits_as_a_table_and_actions_as_bullets_after_a_plain_line() -> None:
    read = profile("q1_arm.md")
    assert read.max_reach == pytest.approx(0.855)
    assert (read.max_payload, read.max_grip_width) == (3.0, pytest.approx(0.08))
    assert [op.name for op in read.ops] == ["move_to", "grasp", "home"]
    assert read.ops[0].parameters == (Parameter("target_pose", "[x,y,z,r,p,y]"),)
    assert read.ops[1].parameters == (Parameter("object_id"), Parameter("force", optional=True))
    assert read.unread == ("Collision policy: seldom",)


def test_of_two_lines_on_one_limit_the_stricter_holds() -> None:
    text = "## Physical Constraints\n- Max Payload: 3 kg\n- max payload: 500 g\n- MAX REACH (mm): 600\n"
    read = embodied.read(text.encode())
    assert (read.max_payload, read.max_reach) == (0.5, pytest.approx(0.6))


@pytest.mark.parametrize(
    "label", ["Max Grip Width", "Gripper Opening", "Max Gripper Opening", "Grip Width", "最大抓取宽度", "夹爪行程"]
)
def test_the_grip_width_has_many_labels(label: str) -> None:
    read = embodied.read(f"## Physical Constraints\n- **{label}**: 80 mm\n".encode())
    assert read.max_grip_width == pytest.approx(0.08)


@pytest.mark.parametrize(
    "text", ["≤ 0.855 m", "~0.855 m", "0.855m", "855 mm from base", "85.5 厘米", "0.855", "0–0.855 m"]
)
def test_lengths_as_people_write_them(text: str) -> None:
    assert quantities.amount(text, "length") == pytest.approx(0.855)


@pytest.mark.parametrize(
    "text", ["", "—", "N/A", "NaN", "inf", "2 lbs", "0,855 m", "1,500 g", "-1 m", "0 m", "3 kg", "unknown", "1e999 m"]
)
def test_what_is_no_length_is_not_guessed(text: str) -> None:
    assert quantities.amount(text, "length") is None


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("x: [-0.5, 0.5] m, y: -1..1 m", ((-0.5, 0.5), (-1.0, 1.0))),
        ("-0.5 ≤ x ≤ 0.5, 0 < y < 1", ((-0.5, 0.5), (0.0, 1.0))),
        ("[-0.3, 0.8] × [-0.6, 0.6] × [0, 1.2] m", ((-0.3, 0.8), (-0.6, 0.6), (0.0, 1.2))),
        ("x ∈ [-50, 50] cm, y ∈ [-50, 50] cm", ((-0.5, 0.5), (-0.5, 0.5))),
        ("x ∈ [-50, 50], y ∈ [-50, 50] (centimetres, world frame)", ((-0.5, 0.5), (-0.5, 0.5))),
        ("x ∈ [-2, 2], y ∈ [-2, 2] (world frame)", ((-2.0, 2.0), (-2.0, 2.0))),
        ("x ∈ [5, 1]", ()),
        ("x ∈ [-1, 1] (furlongs)", ()),
        ("anywhere", ()),
    ],
)
def test_workspace_bounds_as_people_write_them(text: str, box: tuple[tuple[float, float], ...]) -> None:
    assert quantities.box(text) == box


def test_sensor_words_go_through_one_table() -> None:
    sensed = [("RGB-D Camera (Intel RealSense D435)", True), ("Joint Encoders (7x)", True), ("Lidar", False)]
    assert sensors.missing_sensors(("rgb_camera", "depth_camera", "joint_states"), sensed) == []
    assert sensors.missing_sensors(("lidar",), sensed) == ["lidar"]
    assert sensors.missing_sensors(("rgb_camera",), [("Infrared camera", True)]) == ["rgb_camera"]
    assert sensors.missing_sensors(("geiger_counter",), [("geiger_counter", True)]) == []
    assert sensors.missing_sensors(("rgb_camera",), [("前置 摄像头", True)]) == []


def test_an_empty_file_is_an_empty_profile() -> None:
    assert embodied.read(b"") == Profile()


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(BadInput, match="UTF-8"):
        embodied.read(b"# EMBODIED \xff")


pieces = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(
            [
                "## Physical Constraints",
                "- **Max Reach**: ",
                "| Action | Parameters |",
                "|---|---|",
                "## Sensors",
                "- [x]",
            ]
        ),
    ),
    max_size=12,
)


@settings(deadline=None)  # the machine is shared
@given(pieces)
def test_odd_text_never_raises_and_never_gives_a_limit_that_is_no_number(parts: list[str]) -> None:
    read = embodied.read("\n".join(parts).encode("utf-8", "ignore"))
    assert read.max_reach is None or 0 < read.max_reach < float("inf")


def test_the_oldest_picture_that_a_robot_moves_on_is_a_limit_of_its_profile():
    def told(line):
        return embodied.read(f"# EMBODIED — Arm\n\n## Physical Constraints\n{line}\n".encode())

    assert told("- **Max Frame Age**: 0.2 s").max_frame_age == 0.2
    assert told("- **最大帧龄**: 300 毫秒").max_frame_age == pytest.approx(0.3)
    assert embodied.read(embodied_write.write(told("- **Max Frame Age**: 250 ms"))).max_frame_age == 0.25
    odd = told("- **Max Frame Age**: 2 m")
    assert odd.max_frame_age is None and len(odd.unread) == 1


def test_what_a_robot_plans_from_is_a_line_of_its_identity():
    def told(line):
        return embodied.read(f"# EMBODIED — Arm\n\n## Identity\n{line}\n".encode())

    assert [told(f"- **Perception**: {word}").perception for word in ("camera", "Truth")] == ["camera", "truth"]
    assert told("- **感知**: 相机").perception == "camera"
    assert told("- **Driver**: simulation").perception == ""
    odd = told("- **Perception**: telepathy")
    assert (odd.perception, odd.unread) == ("", ("Perception: telepathy",))


WRONG_LIMITS = (
    "- **Workspace Bounds**: x ∈ [-1, 1], y ∈ [0.2, -0.2], z ∈ [0, 1]",
    "- **Workspace Bounds**: x ∈ [-1, 1], y ∈ [nan, nan], z ∈ [0, 1]",
    "- **Workspace Bounds**: x ∈ [-1, 1], y ∈ [-0,2, 0,2], z ∈ [0, 1]",
    "- **Workspace Bounds**: x ∈ [-1, 1], y ∈ [-0.2, 0.2], y ∈ [0.3, 2], z ∈ [0, 1]",
    "- **Workspace Bounds**: x ∈ [-1, 1], z ∈ [0, 1]",
    "- X range: -1..1 m",
    "```\n- **Workspace Bounds**: x ∈ [-1, 1], y ∈ [-0.2, 0.2]\n```",
    "- **Worskpace Bounds**: x ∈ [-1, 1], y ∈ [-0.2, 0.2]",
    "- **Workspace Bound**: x ∈ [-1, 1], y ∈ [-0.2, 0.2]",
    "- **Works\u200bpace Bound**: x ∈ [-1, 1], y ∈ [-0.2, 0.2]",
    "- **Max Payload**: nan kg",
    "- **Max Payload**: -1 kg",
    "- **Max Paylaod**: 0.01 kg",
    "- **最大负戴**: 0.01 kg",
    "Max Payload: 0.01 kg",
    "**Max Payload**: 0.01 kg",
    "## Sensors\n- Max Payload: 0.01 kg",
    "## Supported Actions\n- `pick_up`: take it\n- Max Payload: 0.01 kg",
    "### How far\n- Max Reach: 0.5 m",
    "### Max Reach: 0.5 m",
)


@pytest.mark.parametrize("line", WRONG_LIMITS)
def test_a_line_that_resembles_a_limit_is_read_as_one_or_is_named(line: str) -> None:
    read = embodied.read(f"# EMBODIED\n\n## Physical Constraints\n\n{line}\n".encode())
    held = read.max_reach or read.max_payload or read.bounds == ((-1.0, 1.0), (-0.2, 0.2))
    assert read.unread or held, line


def test_of_two_ranges_of_an_axis_what_both_allow_holds() -> None:
    assert quantities.box("x ∈ [-1, 1], y ∈ [-0.2, 0.2], y ∈ [-2, 2]") == ((-1.0, 1.0), (-0.2, 0.2))


def test_a_name_with_a_character_of_no_width_is_that_name() -> None:
    read = embodied.read("## Physical Constraints\n- **Max\u200b Pay\u2060load**: 10 g\n".encode())
    assert (read.max_payload, read.unread) == (pytest.approx(0.01), ())


@pytest.mark.parametrize(
    "line",
    [
        "- **Own weight**: 0.7 kg",
        "## Notes\n- Workspace: /home/u12/arm",
        "## Supported Actions\n- reach: move the hand ahead",
        "<!-- - Max Payload: 1 kg -->",
        "Its reach: as the maker says.",
    ],
)
def test_what_is_no_limit_is_not_called_one(line: str) -> None:
    assert embodied.read(f"# EMBODIED\n\n## Physical Constraints\n\n{line}\n".encode()).unread == ()
