// Geometry and materials of the bodies: from geometry.json to three's objects. Lengths in metres, z up, as MuJoCo has them.
import * as THREE from "three";
import { RoundedBoxGeometry } from "three/addons/geometries/RoundedBoxGeometry.js";

export class ShapeKit {
  floor = new THREE.Color("#8b929b"); // of what is flat and endless
  #materials = new Map(); #meshes = []; #low; #wood = null;

  constructor(low, meshes = []) { this.#low = low; this.#meshes = meshes; }

  body({ geoms }) {
    const group = new THREE.Group();
    for (const geom of geoms) {
      const mesh = new THREE.Mesh(this.#geometry(geom), this.#material(geom));
      if (geom.pos) mesh.position.set(...geom.pos);
      if (geom.quat) mesh.quaternion.set(geom.quat[1], geom.quat[2], geom.quat[3], geom.quat[0]);
      const solid = geom.type !== "plane" && geom.rgba[3] > 0.9;
      mesh.castShadow = solid && !this.#low;
      mesh.receiveShadow = !this.#low;
      group.add(mesh);
    }
    return group;
  }

  // One translucent copy, for plans.
  ghost({ geoms }, material) {
    const group = new THREE.Group();
    for (const geom of geoms) {
      const mesh = new THREE.Mesh(this.#geometry(geom), material);
      if (geom.pos) mesh.position.set(...geom.pos);
      if (geom.quat) mesh.quaternion.set(geom.quat[1], geom.quat[2], geom.quat[3], geom.quat[0]);
      group.add(mesh);
    }
    return group;
  }

  // After a change of `floor`.
  paint() { for (const [key, material] of this.#materials) if (key.endsWith(" true")) material.color.copy(this.floor); }

  dispose() {
    for (const material of this.#materials.values()) { material.map?.dispose(); material.dispose(); }
    this.#materials.clear();
  }

  #geometry({ type, size: [a, b, c], mesh }) {
    const round = this.#low ? 14 : 36;
    switch (type) {
      case "plane": return new THREE.PlaneGeometry(2 * (a || 10), 2 * (b || 10));
      case "sphere": return new THREE.SphereGeometry(a, round, round / 2);
      case "ellipsoid": return new THREE.SphereGeometry(1, round, round / 2).scale(a, b, c);
      case "cylinder": return new THREE.CylinderGeometry(a, a, 2 * b, round).rotateX(Math.PI / 2);
      case "capsule": return new THREE.CapsuleGeometry(a, 2 * b, this.#low ? 4 : 10, round).rotateX(Math.PI / 2);
      case "mesh": return this.#mesh(mesh);
      default: {
        const least = 2 * Math.min(a, b, c);
        if (this.#low || least < 0.004) return new THREE.BoxGeometry(2 * a, 2 * b, 2 * c);
        return new RoundedBoxGeometry(2 * a, 2 * b, 2 * c, 2, Math.min(0.006, least * 0.3));
      }
    }
  }

  #mesh(number) {
    const { vertices, faces } = this.#meshes[number], made = new THREE.BufferGeometry();
    const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
    made.setAttribute("position", new THREE.BufferAttribute(new Float32Array(bytes(vertices)), 3));
    made.setIndex(new THREE.BufferAttribute(new Uint32Array(bytes(faces)), 1));
    made.computeVertexNormals();
    return made;
  }

  #material({ rgba, material = "", type }) {
    const key = `${rgba} ${material} ${type === "plane"}`;
    if (!this.#materials.has(key)) this.#materials.set(key, this.#made(rgba, material, type));
    return this.#materials.get(key);
  }

  #made([r, g, b, alpha], name, type) {
    const common = { color: new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace), transparent: alpha < 1, opacity: alpha };
    if (type === "plane") Object.assign(common, { color: this.floor.clone() });
    if (this.#low) return new THREE.MeshLambertMaterial(common);
    const looks = {
      wood: { roughness: 0.62, map: this.#woodMap(), color: new THREE.Color("#e4dccf") },
      metal: { roughness: 0.5, metalness: 0.35, envMapIntensity: 0.5 },
      gloss: { roughness: 0.34 },
      floor: { roughness: 0.95 },
    };
    return new THREE.MeshStandardMaterial({ roughness: 0.5, metalness: 0.02, ...common, ...(looks[type === "plane" ? "floor" : name] || {}) });
  }

  #woodMap() {
    if (this.#wood) return this.#wood;
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 256;
    const paint = canvas.getContext("2d");
    paint.fillStyle = "#c9a87a";
    paint.fillRect(0, 0, 256, 256);
    let seed = 7;
    const random = () => { seed = (seed * 16807) % 2147483647; return seed / 2147483647; };
    for (let line = 0; line < 150; line++) {
      const y = random() * 256, dark = random() < 0.5;
      paint.strokeStyle = dark ? `rgba(120,84,48,${0.05 + random() * 0.1})` : `rgba(244,222,186,${0.05 + random() * 0.1})`;
      paint.lineWidth = 0.6 + random() * 2.4;
      paint.beginPath();
      paint.moveTo(0, y);
      paint.bezierCurveTo(80, y + random() * 8 - 4, 170, y + random() * 8 - 4, 256, y);
      paint.stroke();
    }
    this.#wood = new THREE.CanvasTexture(canvas);
    this.#wood.colorSpace = THREE.SRGBColorSpace;
    return this.#wood;
  }
}
