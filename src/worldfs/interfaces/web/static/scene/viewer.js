// The viewer: a scene of bodies, drawn only when something has changed. It knows no files: panels/world.js feeds it.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { RoomEnvironment } from "three/addons/environments/RoomEnvironment.js";
import { ShapeKit } from "./shapes.js";
import { Labels } from "./labels.js";
import { Overlays, empty } from "./overlays.js";
import { thingsOf } from "./scene_model.js";

const SMOOTH_MS = 120; // the longest that a body glides between two frames
const STEP = 0.12; // rad a key
const WHITE = new THREE.Color("#ffffff"), FLOOR = new THREE.Color("#7d8794");

// `low`: Lambert, no shadow, no environment; null: where no graphics processor draws. `manual`: drawn by `drawFrame()` alone.
export class Viewer {
  frames = 0; drawn = 0; time = 0;
  bodies = []; bounds = []; robots = []; #parts = []; #moves = new Map(); #arrived = 0; #asked = 0; #kit = null; #ready = false; #first = false;
  #places = new Map();

  constructor(canvas, labelPlace, { low = false, manual = false } = {}) {
    const context = canvas.getContext("webgl2", { antialias: low !== true, powerPreference: "high-performance" });
    if (!context) throw new Error("WebGL 2");
    low ??= drawnByProcessor(context);
    Object.assign(this, { canvas, low, manual });
    this.renderer = new THREE.WebGLRenderer({ canvas, context });
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.toneMappingExposure = 1;
    this.renderer.shadowMap.enabled = !low;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(34, 1, 0.05, 60);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.maxPolarAngle = Math.PI * 0.495;
    this.controls.minDistance = 0.3;
    this.controls.maxDistance = 20;
    this.controls.addEventListener("change", () => this.ask());
    this.world = new THREE.Group();
    this.scene.add(this.world);
    this.overlays = new Overlays(this.scene);
    this.labels = new Labels(labelPlace);
    this.#light();
  }

  #light() {
    const { scene } = this;
    this.key = new THREE.DirectionalLight("#fff1de", this.low ? 1.9 : 2.1);
    const rim = new THREE.DirectionalLight("#cfe0ff", 0.7);
    rim.position.set(-2, -1.5, 1.6);
    scene.add(this.key, this.key.target, rim);
    if (this.low) { scene.add(new THREE.HemisphereLight("#ffffff", "#b9b2a8", 1.5)); return; }
    const maker = new THREE.PMREMGenerator(this.renderer);
    scene.environment = maker.fromScene(new RoomEnvironment(), 0.04, 0.1, 100, { size: 64 }).texture;
    scene.environmentIntensity = 0.6;
    maker.dispose();
    const { shadow } = this.key;
    this.key.castShadow = true;
    shadow.mapSize.set(1024, 1024);
    shadow.radius = 3;
    shadow.bias = -0.0004;
    shadow.normalBias = 0.01;
    Object.assign(shadow.camera, { left: -1.6, right: 1.6, top: 1.6, bottom: -1.6, near: 0.2, far: 8 });
  }

  // The page's own background, as the theme has it: the floor fades into it.
  background(colour) {
    this.scene.background = new THREE.Color(colour);
    this.scene.fog = new THREE.Fog(colour, 3.5, 9);
    this.#paintFloor();
    this.ask();
  }

  #paintFloor() { this.#kit?.floor.copy(this.scene.background || WHITE).lerp(FLOOR, this.low ? 0.38 : 0.62); this.#kit?.paint(); }

  // -- the world

  setGeometry({ bodies, meshes = [], middle = [0, 0, 0], floor = 0, robots = [] }) {
    empty(this.world);
    this.#kit?.dispose();
    this.#kit = new ShapeKit(this.low, meshes);
    this.#paintFloor();
    this.bodies = bodies;
    this.robots = robots;
    this.#moves.clear();
    this.#parts = bodies.map((body) => { const part = this.#kit.body(body); this.world.add(part); return part; });
    const grid = new THREE.GridHelper(8, 32, "#7c8591", "#7c8591");
    grid.rotation.x = Math.PI / 2;
    grid.position.set(middle[0], middle[1], floor + 0.002);
    grid.material.transparent = true;
    grid.material.opacity = 0.16;
    this.world.add(grid);
    this.labels.set(thingsOf(bodies).map((thing) => ({ ...thing, object: this.#parts[thing.index], lift: heightOf(bodies[thing.index]) + 0.03 })));
    this.overlays.setReach(robots, this.bounds);
    this.key.position.set(middle[0] - 0.5, middle[1] + 1.5, middle[2] + 2.5);
    this.key.target.position.set(middle[0] + 0.4, middle[1], middle[2]);
    if (!this.#first) { this.#first = true; this.home = { middle, robots }; this.goHome(); }
    this.#ready = this.world.visible = false; // nothing is anywhere before the first frame
    this.number = 0; // of the frame that is drawn
    this.ask();
  }

  // Where a body is drawn: x y z, and the orientation w x y z.
  drawnAt(index) {
    const { position, quaternion: q } = this.#parts[index];
    return { position: position.toArray(), turn: [q.w, q.x, q.y, q.z] };
  }

  apply({ rows, time, number }) {
    const now = performance.now(), glide = Math.min(SMOOTH_MS, now - this.#arrived);
    this.#arrived = now;
    this.frames += 1;
    this.time = time;
    this.number = number;
    for (const { index, position, turn } of rows) {
      const part = this.#parts[index];
      if (!part) continue;
      const goal = { position: new THREE.Vector3(...position), turn: new THREE.Quaternion(...turn).normalize() };
      if (!this.#ready || this.manual || glide >= SMOOTH_MS || document.hidden) place(part, goal);
      this.#moves.set(index, { ...goal, from: part.position.clone(), was: part.quaternion.clone(), begun: now, glide });
    }
    this.#ready = this.world.visible = true;
    this.ask();
  }

  setPlan(plan) { this.overlays.setPlan(plan, this.bodies, this.#kit); this.ask(); }
  setBounds(bounds) { this.bounds = bounds; this.overlays.setReach(this.robots, bounds); this.ask(); }
  setContacts(contacts) { this.overlays.setContacts(contacts); this.ask(); }
  setEvidence(places) { this.overlays.setEvidence(places); this.ask(); }

  // {labels, plan, contacts, reach, reserved}: whether each is shown.
  show({ labels, ...groups }) {
    this.labels.show(labels);
    for (const [name, on] of Object.entries(groups)) this.overlays[name].visible = on;
    this.ask();
  }

  // -- the camera

  goHome() {
    const { middle, robots } = this.home, wide = this.canvas.clientWidth / (this.canvas.clientHeight || 1);
    const far = (1.06 + 0.35 * Math.max(0, robots.length - 1)) * Math.min(1.45, Math.max(1, 1.35 / (wide || 1.35))); // a tall picture needs more room
    this.controls.target.set(middle[0] + (robots.length > 1 ? 0 : 0.3), middle[1], middle[2] + 0.18);
    this.camera.position.set(middle[0] + 1.75 * far, middle[1] + 1.15 * far, middle[2] + 1.05 * far);
    this.controls.update();
    this.ask();
  }

  // Looks at one robot, or ("") at everything.
  lookAt(id) {
    const robot = this.robots.find((one) => one.id === id);
    if (!robot) { this.goHome(); return; }
    const [x, y, z] = robot.base, turn = this.camera.position.clone().sub(this.controls.target).setLength(1.9);
    this.controls.target.set(x, y, z + 0.3);
    this.camera.position.copy(this.controls.target).add(turn);
    this.controls.update();
    this.ask();
  }

  // A key's name; whether it means something.
  press(name) {
    const { camera, controls } = this, arm = camera.position.clone().sub(controls.target);
    const turns = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[name];
    const ball = new THREE.Spherical().setFromVector3(new THREE.Vector3(arm.x, arm.z, -arm.y));
    if (turns) {
      ball.theta += turns[0];
      ball.phi = Math.min(Math.PI * 0.495, Math.max(0.05, ball.phi + turns[1]));
    } else if (name === "+" || name === "=") ball.radius *= 0.88;
    else if (name === "-") ball.radius /= 0.88;
    else if (name === "0" || name === "Home") { this.goHome(); return true; }
    else return false;
    const flat = new THREE.Vector3().setFromSpherical(ball);
    camera.position.copy(controls.target).add(new THREE.Vector3(flat.x, -flat.z, flat.y));
    controls.update();
    this.ask();
    return true;
  }

  // -- drawing

  ask() { if (!this.manual && !this.#asked) this.#asked = requestAnimationFrame(() => this.#tick()); }

  #tick() {
    this.#asked = 0;
    if (this.#glide()) this.ask();
    this.draw();
  }

  #glide() {
    const now = performance.now();
    let more = false;
    for (const [index, move] of this.#moves) {
      const share = move.glide ? Math.min(1, (now - move.begun) / move.glide) : 1, part = this.#parts[index];
      part.position.lerpVectors(move.from, move.position, share);
      part.quaternion.slerpQuaternions(move.was, move.turn, share);
      if (share < 1) more = true; else this.#moves.delete(index);
    }
    return more;
  }

  draw() {
    const { canvas } = this, width = this.low ? 640 : canvas.clientWidth, height = this.low ? 360 : canvas.clientHeight;
    if (!width || !height) return;
    const size = `${width}x${height}`;
    if (this.size !== size) {
      this.size = size;
      this.renderer.setPixelRatio(this.low ? 1 : Math.min(2, devicePixelRatio));
      this.renderer.setSize(width, height, false);
    }
    this.camera.aspect = canvas.clientWidth / canvas.clientHeight || width / height;
    this.camera.updateProjectionMatrix();
    this.renderer.render(this.scene, this.camera);
    if (this.#ready) this.labels.draw(this.camera, canvas.clientWidth, canvas.clientHeight);
    this.drawn += 1;
    if (this.#ready && !this.marked) { this.marked = true; performance.mark("first-picture"); }
  }

  // Of the manual mode: everything is where the last frame says, and drawn.
  drawFrame() {
    for (const [index, move] of this.#moves) place(this.#parts[index], move);
    this.#moves.clear();
    this.draw();
  }

  close() {
    cancelAnimationFrame(this.#asked);
    this.controls.dispose();
    empty(this.world);
    this.#kit?.dispose();
    this.overlays.close();
    this.labels.set([]);
    this.scene.environment?.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }
}

// Whether the processor draws, not a graphics card: then the low quality is chosen.
function drawnByProcessor(context) {
  const more = context.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|software|basic render/i.test(String(context.getParameter(more ? more.UNMASKED_RENDERER_WEBGL : context.RENDERER)));
}

function place(part, { position, turn }) { part.position.copy(position); part.quaternion.copy(turn); }

function heightOf({ kind, geoms }) {
  if (kind === "robot") return 0.2;
  return Math.max(0, ...geoms.map(({ size: [a, b, c], type, pos = [0, 0, 0] }) => pos[2] + ({ sphere: a, cylinder: b, capsule: a + b }[type] ?? c)));
}
