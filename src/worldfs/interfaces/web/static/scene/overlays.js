// Overlays: the plan as ghosts, contact forces, reach, reserved space. Each is a group that is shown or not.
import * as THREE from "three";

const METRES_PER_NEWTON = 0.004, LONGEST = 0.25;

export class Overlays {
  plan = new THREE.Group(); contacts = new THREE.Group(); reach = new THREE.Group(); reserved = new THREE.Group(); evidence = new THREE.Group();
  #ghost = new THREE.MeshBasicMaterial({ color: "#3b82f6", transparent: true, opacity: 0.16, depthWrite: false });
  #force = new THREE.MeshBasicMaterial({ color: "#e5484d" });
  #held = new THREE.MeshBasicMaterial({ color: "#f5a524", transparent: true, opacity: 0.1, depthWrite: false });
  #mark = new THREE.MeshBasicMaterial({ color: "#8e4ec6", depthTest: false });
  #hollow = new THREE.MeshBasicMaterial({ color: "#8e4ec6", transparent: true, opacity: 0.3, depthTest: false });
  #way = new THREE.LineBasicMaterial({ color: "#8e4ec6", depthTest: false });
  #limit = new THREE.LineBasicMaterial({ color: "#1f9d72", transparent: true, opacity: 0.75 });

  constructor(scene) { scene.add(this.plan, this.contacts, this.reach, this.reserved, this.evidence); }

  setPlan({ robots = [], reserved = [] }, bodies, kit) {
    empty(this.plan); empty(this.reserved);
    for (const { poses } of robots) {
      for (const rows of poses.slice(-3)) {
        for (const [index, x, y, z, w, i, j, k] of rows) {
          if (!bodies[index]) continue;
          const part = kit.ghost(bodies[index], this.#ghost);
          part.position.set(x, y, z);
          part.quaternion.set(i, j, k, w);
          this.plan.add(part);
        }
      }
    }
    for (const { spheres, boxes } of reserved) {
      for (const [x, y, z, r] of spheres) {
        const ball = new THREE.Mesh(new THREE.SphereGeometry(r, 10, 6), this.#held);
        ball.position.set(x, y, z);
        this.reserved.add(ball);
      }
      for (const [x, y, z, u, v, w] of boxes) {
        const box = new THREE.Mesh(new THREE.BoxGeometry(u - x, v - y, w - z), this.#held);
        box.position.set((x + u) / 2, (y + v) / 2, (z + w) / 2);
        this.reserved.add(box);
      }
    }
  }

  setContacts({ contacts = [] }) {
    empty(this.contacts);
    for (const { point, force_n: force } of contacts.slice(0, 200)) {
      const dot = new THREE.Mesh(new THREE.SphereGeometry(0.006, 10, 8), this.#force);
      dot.position.set(...point);
      this.contacts.add(dot);
      const pull = new THREE.Vector3(...force), length = Math.min(LONGEST, pull.length() * METRES_PER_NEWTON);
      if (length > 0.004) this.contacts.add(new THREE.ArrowHelper(pull.normalize(), dot.position, length, "#e5484d", 0.02, 0.012));
    }
  }

  // Before: a hollow ball; after: a full one; the goal: a ring; a line from before to after.
  setEvidence(places) {
    empty(this.evidence);
    for (const { kind, position } of places) {
      const shape = kind === "goal" ? new THREE.TorusGeometry(0.035, 0.004, 8, 32) : new THREE.SphereGeometry(kind === "before" ? 0.016 : 0.012, 12, 8);
      const mark = new THREE.Mesh(shape, kind === "before" ? this.#hollow : this.#mark);
      mark.position.set(...position);
      mark.renderOrder = 2;
      this.evidence.add(mark);
    }
    const way = ["before", "after"].map((kind) => places.find((one) => one.kind === kind)).filter(Boolean);
    if (way.length === 2) this.evidence.add(new THREE.Line(new THREE.BufferGeometry().setFromPoints(way.map(({ position }) => new THREE.Vector3(...position))), this.#way));
  }

  close() {
    for (const group of [this.plan, this.contacts, this.reach, this.reserved, this.evidence]) empty(group);
    for (const material of [this.#ghost, this.#force, this.#held, this.#limit, this.#mark, this.#hollow, this.#way]) material.dispose();
  }

  // How far arms reach, and (bounds: {low, high}) where robots may work at all.
  setReach(robots, bounds = []) {
    empty(this.reach);
    for (const { low, high } of bounds) {
      const middle = low.map((v, n) => (v + high[n]) / 2), size = low.map((v, n) => Math.max(1e-3, high[n] - v));
      const whole = new THREE.BoxGeometry(...size), edges = new THREE.LineSegments(new THREE.EdgesGeometry(whole), this.#limit);
      whole.dispose();
      edges.position.set(...middle);
      this.reach.add(edges);
    }
    for (const { shoulder, reach_m: radius } of robots) {
      if (!radius) continue;
      for (const turn of [[0, 0, 0], [Math.PI / 2, 0, 0], [0, Math.PI / 2, 0]]) {
        const points = new THREE.EllipseCurve(0, 0, radius, radius).getPoints(72).map((p) => new THREE.Vector3(p.x, p.y, 0));
        const ring = new THREE.LineLoop(new THREE.BufferGeometry().setFromPoints(points), this.#limit);
        ring.rotation.set(...turn);
        ring.position.set(...shoulder);
        this.reach.add(ring);
      }
    }
  }
}

export function empty(group) {
  group.traverse((part) => part.geometry?.dispose());
  group.clear();
}
