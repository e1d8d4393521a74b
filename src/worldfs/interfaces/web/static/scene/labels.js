// Labels: pills of HTML over the picture, one a thing. Names are text nodes. Where two overlap, the nearer one is shown.
import * as THREE from "three";

const at = new THREE.Vector3();

export class Labels {
  #place; #pills = new Map();

  constructor(place) { this.#place = place; }

  set(things) {
    for (const { pill } of this.#pills.values()) pill.remove();
    this.#pills.clear();
    for (const { id, name, kind, object, lift } of things) {
      const pill = document.createElement("span");
      pill.className = `pill pill-${kind}`;
      pill.append(name.length > 40 ? `${name.slice(0, 39)}…` : name);
      pill.title = id;
      pill.style.visibility = "hidden"; // until it is drawn
      this.#place.append(pill);
      this.#pills.set(id, { pill, object, lift });
    }
  }

  show(on) { this.#place.hidden = !on; }

  draw(camera, width, height) {
    if (this.#place.hidden) return;
    const shown = [];
    for (const { pill, object, lift } of this.#pills.values()) {
      at.copy(object.position);
      at.z += lift;
      const far = at.distanceTo(camera.position);
      at.project(camera);
      shown.push({ pill, x: (at.x + 1) / 2 * width, y: (1 - at.y) / 2 * height, far: at.z < 1 ? far : Infinity });
    }
    shown.sort((one, other) => one.far - other.far);
    const taken = [];
    for (const { pill, x, y, far } of shown) {
      pill.$w ??= pill.offsetWidth || 8 * pill.textContent.length;
      const box = [x - pill.$w / 2 - 2, y - 24, x + pill.$w / 2 + 2, y];
      const free = far < Infinity && box[0] > -40 && box[2] < width + 40 && y > 20 && y < height
        && taken.every((other) => box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1]);
      pill.style.visibility = free ? "visible" : "hidden";
      if (!free) continue;
      taken.push(box);
      pill.style.transform = `translate(${Math.round(x - pill.$w / 2)}px, ${Math.round(y - 24)}px)`;
    }
  }
}
