"""The arm: our own model of a Franka Emika Panda with its Franka Hand, in primitive geometry.

Where the figures come from:
- Kinematics (modified Denavit-Hartenberg after Craig), joint, speed and torque limits: the maker's control
  documentation ("Franka Control Interface, Robot and interface specifications").
- Link masses, centres of mass and inertias: C. Gaz, M. Cognetti, A. Oliva, P. Robuffo Giordano, A. De Luca, "Dynamic
  Identification of the Franka Emika Panda Robot With Retrieval of Feasible Parameters Using Penalty-Based
  Optimization", IEEE RA-L 4(4), 2019; also published by the maker as the inertials of its robot description.
- Hand: mass 0.73 kg, fingers 0.015 kg, stroke 0-0.04 m each, mounted at 0.0584 m, turned -pi/4 about the flange,
  continuous grasping force 70 N: the maker's hand data sheet and robot description.
- Shapes (capsules, boxes, cylinders), joint servos, friction and pads: ours. No mesh, no third-party file.

The gripper servo pulls with 70 N a finger at most. A gain of 100 (about 1 N a finger on a 4 cm thing) lets half a
kilogram slip; 2500 holds it (reference "Embodied" §4.1).
"""

from __future__ import annotations

import math

import numpy as np

from .array_types import Array, Native

ARM = 7
JOINTS = tuple(f"j{i}" for i in range(1, ARM + 1))  # the names in the model, to which a world adds the arm's prefix
SERVOS = tuple(f"a{i}" for i in range(1, ARM + 1))
FINGER_JOINTS, FINGERS, GRIPPER = ("f1", "f2"), ("left", "right"), "grip"
BODIES = (*(f"link{i}" for i in range(ARM + 1)), "hand", *FINGERS)
TOOL_POINT, CAMERAS = "tcp", ("wrist",)
DH_A = (0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088)  # m
DH_D = (0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0)  # m
DH_ALPHA = (0.0, -math.pi / 2, math.pi / 2, math.pi / 2, -math.pi / 2, math.pi / 2, math.pi / 2)  # rad
FLANGE = 0.107  # m beyond joint 7
HAND_TURN = -math.pi / 4  # rad about the flange's z
FINGER_MOUNT = 0.0584  # m from the flange
TCP = 0.1034  # m from the flange, between the pads
PALM = 0.0660  # m from the flange: where the hand's housing ends
WRIST = (0.07, 0.0, 0.0)  # m in the hand's frame: the camera on the hand; ours
STROKE = 0.04  # m a finger

LIMITS = (
    (-2.8973, 2.8973),
    (-1.7628, 1.7628),
    (-2.8973, 2.8973),
    (-3.0718, -0.0698),
    (-2.8973, 2.8973),
    (-0.0175, 3.7525),
    (-2.8973, 2.8973),
)  # rad
SPEED = (2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61)  # rad/s
ACCELERATION = (15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0)  # rad/s²
TORQUE = (87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0)  # Nm
HOME = (0.0, 0.0, 0.0, -1.57079, 0.0, 1.57079, 0.7853)  # rad; fingers open sideways
GRIP_ROOM = 0.002  # m that a finger needs beside a thing to get round it
MAX_GRIP = 2 * (STROKE - GRIP_ROOM)  # m: "Max Grip Width" of the profile, and of every planner
MAX_REACH = 0.855  # m

STIFFNESS = (4500.0, 4500.0, 3500.0, 3500.0, 800.0, 800.0, 800.0)  # Nm/rad; stiffer wrists chatter against their 12 Nm
LAG = 0.1  # s: damping over stiffness of the joint servos; motion feeds it forward
GRIP_GAIN = 2500.0  # N/m
MIN_GRIP = 0.006  # m: "Min Grip Width" of the profile; measured: what is smaller or flatter slips out
GRIP_FORCE = 140.0  # N, both fingers

# mass, centre of mass (m), inertia about it as xx yy zz xy xz yz (kg m²), links 0 to 7
INERTIALS: tuple[tuple[float, tuple[float, ...], tuple[float, ...]], ...] = (
    (0.629769, (-0.041018, -0.00014, 0.049974), (0.00315, 0.00388, 0.004285, 8.2904e-7, 0.00015, 8.2299e-6)),
    (4.970684, (0.003875, 0.002081, -0.04762), (0.70337, 0.70661, 0.009117, -0.000139, 0.006772, 0.019169)),
    (0.646926, (-0.003141, -0.02872, 0.003495), (0.007962, 0.02811, 0.025995, -0.003925, 0.010254, 0.000704)),
    (3.228604, (0.027518, 0.039252, -0.066502), (0.037242, 0.036155, 0.01083, -0.004761, -0.011396, -0.012805)),
    (3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.019552, 0.028323, 0.007796, -0.001332, 0.008641)),
    (1.225946, (-0.011953, 0.041065, -0.038437), (0.035549, 0.029474, 0.008627, -0.002117, -0.004037, 0.000229)),
    (1.666555, (0.060149, -0.014117, -0.010517), (0.001964, 0.004354, 0.005433, 0.000109, -0.001158, 0.000341)),
    (0.735522, (0.010517, -0.004252, 0.061597), (0.012516, 0.010027, 0.004815, -0.000428, -0.001196, -0.000741)),
)

SHELL = (0.93, 0.94, 0.95, 1.0)
JOINT = (0.30, 0.32, 0.36, 1.0)
METAL = (0.62, 0.64, 0.67, 1.0)
PAD = (0.13, 0.13, 0.14, 1.0)

# link → capsules (from, to, radius, colour) in its own frame: shape enough to collide truly and to be recognised
CAPSULES: dict[int, tuple[tuple[tuple[float, ...], tuple[float, ...], float, tuple[float, ...]], ...]] = {
    0: (((-0.085, 0, 0.055), (0.0, 0, 0.055), 0.055, SHELL),),
    1: (((0, 0, -0.165), (0, 0, -0.06), 0.058, SHELL), ((0, -0.055, 0), (0, 0.055, 0), 0.0605, SHELL)),
    2: (((0, 0, 0), (0, -0.125, 0), 0.056, SHELL),),
    3: (((0, 0, -0.135), (0, 0, -0.07), 0.056, SHELL), ((0.03, 0, -0.035), (0.0825, 0, 0), 0.05, SHELL)),
    4: (((0, 0, -0.05), (0, 0, 0.05), 0.054, SHELL), ((-0.02, 0.025, 0), (-0.0825, 0.10, 0), 0.05, SHELL)),
    5: (((0, 0, -0.25), (0, 0.045, -0.075), 0.045, SHELL),),
    6: (((0, 0, -0.035), (0, 0, 0.035), 0.046, SHELL), ((0.03, 0, 0), (0.07, 0, 0), 0.042, SHELL)),
    7: (((0, 0, -0.012), (0, 0, 0.05), 0.043, SHELL),),
}
# link → discs (centre, axis, radius, half length, colour): seams between the links, seen and never touched
DISCS: dict[int, tuple[tuple[tuple[float, ...], str, float, float, tuple[float, ...]], ...]] = {
    0: (((0, 0, 0.125), "z", 0.066, 0.016, JOINT),),
    1: (((0, 0, -0.115), "z", 0.0595, 0.006, JOINT), ((0, 0.085, 0), "y", 0.05, 0.036, JOINT)),
    2: (((0, -0.150, 0), "y", 0.0585, 0.016, JOINT),),
    3: (((0, 0, -0.105), "z", 0.0575, 0.006, JOINT),),
    4: (((0, 0, 0.075), "z", 0.046, 0.033, JOINT), ((0, 0, -0.075), "z", 0.046, 0.033, JOINT)),
    5: (((0, 0.0, -0.262), "z", 0.050, 0.010, JOINT),),
    6: (((0, 0, 0.062), "z", 0.038, 0.022, JOINT), ((0, 0, -0.062), "z", 0.038, 0.022, JOINT)),
    7: (((0, 0, 0.099), "z", 0.0315, 0.009, METAL), ((0, 0, 0.045), "z", 0.0445, 0.007, JOINT)),
}
_AXES = {"x": (math.sqrt(0.5), 0, math.sqrt(0.5), 0), "y": (math.sqrt(0.5), math.sqrt(0.5), 0, 0), "z": (1, 0, 0, 0)}


def forward(q: Array) -> Array:
    """TCP frame (4×4) in the base frame by the published modified-DH chain: the model is tested against it."""
    frame = np.eye(4)
    for a, d, alpha, theta in zip(DH_A, DH_D, DH_ALPHA, q, strict=True):
        ca, sa, ct, st = math.cos(alpha), math.sin(alpha), math.cos(theta), math.sin(theta)
        frame = frame @ np.array(
            [[ct, -st, 0, a], [st * ca, ct * ca, -sa, -d * sa], [st * sa, ct * sa, ca, d * ca], [0, 0, 0, 1]]
        )
    c, s = math.cos(HAND_TURN), math.sin(HAND_TURN)
    return np.asarray(frame @ np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, FLANGE + TCP], [0, 0, 0, 1]]))


def add(spec: Native, pose: tuple[float, ...], quat: tuple[float, ...], prefix: str = "") -> None:
    """Puts the arm into `spec`, its base at `pose` (x y z, m) turned by `quat` (w x y z).

    Names (see `JOINTS` and so on) begin with `prefix`, so that several arms have a place in one world.
    """
    import mujoco  # a real arm needs the figures above, and no simulator

    spec.compiler.degree = False
    if prefix:  # MuJoCo attaches nothing without one
        alone = mujoco.MjSpec()
        add(alone, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
        alone.option = spec.option  # else it warns that the arm's own are lost
        spec.attach(alone, prefix=prefix, frame=spec.worldbody.add_frame(pos=list(pose[:3]), quat=list(quat)))
        return
    parent = spec.worldbody.add_body(name="link0", pos=list(pose[:3]), quat=list(quat))
    _dress(parent, 0)
    for i in range(1, ARM + 1):
        a, d, alpha = DH_A[i - 1], DH_D[i - 1], DH_ALPHA[i - 1]
        parent = parent.add_body(
            name=f"link{i}",
            pos=[a, -d * math.sin(alpha), d * math.cos(alpha)],
            quat=[math.cos(alpha / 2), math.sin(alpha / 2), 0, 0],
            gravcomp=1,
        )
        # armature and damping stand for the gears; ours, not published
        parent.add_joint(
            name=f"j{i}", axis=[0, 0, 1], range=list(LIMITS[i - 1]), limited=True, armature=0.1, damping=1.0
        )
        _dress(parent, i)
        servo = spec.add_actuator(name=f"a{i}", target=f"j{i}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
        stiffness = STIFFNESS[i - 1]
        _servo(servo, stiffness, LAG * stiffness, force=TORQUE[i - 1], span=LIMITS[i - 1])
    _hand(spec, parent)
    # neighbours and next neighbours overlap by design; a link welded to the world is not filtered by its parentage
    for one, other in (("link0", "link1"), ("link0", "link2"), *((f"link{i}", f"link{i + 2}") for i in range(1, 6))):
        spec.add_exclude(bodyname1=one, bodyname2=other)
    for other in ("link5", "link6"):
        spec.add_exclude(bodyname1="hand", bodyname2=other)


def _dress(body: Native, link: int) -> None:
    import mujoco

    mass, centre, inertia = INERTIALS[link]
    body.mass, body.ipos, body.fullinertia, body.explicitinertial = mass, list(centre), list(inertia), True
    for start, end, radius, rgba in CAPSULES[link]:
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[*start, *end], size=[radius, 0, 0], rgba=list(rgba), mass=0
        )
    for centre, axis, radius, half, rgba in DISCS[link]:
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CYLINDER,
            pos=list(centre),
            quat=list(_AXES[axis]),
            size=[radius, half, 0],
            rgba=list(rgba),
            contype=0,
            conaffinity=0,
            mass=0,
        )


def _hand(spec: Native, flange: Native) -> None:
    import mujoco

    box = mujoco.mjtGeom.mjGEOM_BOX
    turn = [math.cos(HAND_TURN / 2), 0, 0, math.sin(HAND_TURN / 2)]
    hand = flange.add_body(name="hand", pos=[0, 0, FLANGE], quat=turn, gravcomp=1)
    hand.mass, hand.ipos, hand.inertia = 0.73, [-0.01, 0, 0.03], [0.001, 0.0025, 0.0017]
    hand.explicitinertial = True
    hand.add_geom(type=box, pos=[0, 0, 0.033], size=[0.030, 0.100, 0.033], rgba=list(SHELL), mass=0)
    visual = {"contype": 0, "conaffinity": 0, "mass": 0}
    hand.add_geom(type=box, pos=[0, 0, 0.062], size=[0.0305, 0.0985, 0.0045], rgba=list(JOINT), **visual)
    hand.add_geom(
        type=box, pos=[0.062, 0, -0.013], size=[0.012, 0.045, 0.0125], rgba=list(PAD), **visual
    )  # RGB-D camera
    hand.add_geom(type=box, pos=[0.04, 0, 0.0], size=[0.015, 0.012, 0.008], rgba=list(METAL), **visual)
    hand.add_site(name="tcp", pos=[0, 0, TCP], size=[0.004, 0.004, 0.004], rgba=[0, 0, 0, 0], group=5)
    # looks along the hand, its picture's top towards the hand's x
    hand.add_camera(name="wrist", pos=list(WRIST), fovy=75, quat=[0, math.sqrt(0.5), math.sqrt(0.5), 0])
    for name, side in (("left", 1.0), ("right", -1.0)):
        finger = hand.add_body(name=name, pos=[0, 0, FINGER_MOUNT], gravcomp=1)
        finger.mass, finger.inertia, finger.explicitinertial = 0.015, [2.4e-6, 2.4e-6, 7.5e-7], True
        finger.add_joint(
            name="f1" if side > 0 else "f2",
            type=mujoco.mjtJoint.mjJNT_SLIDE,
            axis=[0, side, 0],
            range=[0, STROKE],
            limited=True,
            armature=0.1,
            damping=10.0,
        )
        finger.add_geom(type=box, pos=[0, side * 0.013, 0.016], size=[0.010, 0.009, 0.018], rgba=list(METAL), mass=0)
        finger.add_geom(
            name=f"pad_{name}",
            type=box,
            pos=[0, side * 0.0045, 0.0435],
            size=[0.0105, 0.0045, 0.0105],
            rgba=list(PAD),
            friction=[1.0, 0.02, 0.001],
            condim=4,
            solref=[0.004, 1.0],  # stiff: a soft pad sinks centimetres into a light thing, which then creeps out
            solimp=[0.95, 0.99, 0.001, 0.5, 2],
            solmix=1000.0,  # the pad's stiffness decides, not the mean with the thing's
            mass=0,
        )
    spec.add_exclude(bodyname1="left", bodyname2="right")
    # one motor and a belt drive both fingers: a joint coupling within the hand, it holds no object
    belt = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT, name1="f1", name2="f2")
    belt.data[:5] = [0, 1, 0, 0, 0]
    belt.solref = [0.005, 1]
    belt.solimp = [0.95, 0.99, 0.001, 0.5, 2]
    tendon = spec.add_tendon(name="fingers")
    tendon.wrap_joint("f1", 0.5)
    tendon.wrap_joint("f2", 0.5)
    grip = spec.add_actuator(name="grip", target="fingers", trntype=mujoco.mjtTrn.mjTRN_TENDON)
    _servo(grip, GRIP_GAIN, 2 * math.sqrt(GRIP_GAIN), force=GRIP_FORCE, span=(-STROKE, STROKE))


def _servo(servo: Native, stiffness: float, damping: float, *, force: float, span: tuple[float, float]) -> None:
    import mujoco

    servo.gaintype, servo.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
    servo.gainprm[0] = stiffness
    servo.biasprm[1], servo.biasprm[2] = -stiffness, -damping
    servo.forcelimited, servo.forcerange = True, [-force, force]
    servo.ctrllimited, servo.ctrlrange = True, list(span)
