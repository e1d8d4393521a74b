// Depth from a .npy file (float32, metres, rows × columns) as colours: near is warm, far is cold.
const WIDTH = 240; // px: a small window

export function readNpy(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0) !== 0x934e554d) throw new RangeError("no npy file");
  const length = bytes[6] === 1 ? view.getUint16(8, true) : view.getUint32(8, true), begin = (bytes[6] === 1 ? 10 : 12) + length;
  const head = new TextDecoder("latin1").decode(bytes.subarray(10, begin));
  const shape = /'shape': \((\d+), (\d+),?\)/.exec(head);
  if (!head.includes("'<f4'") || head.includes("'fortran_order': True") || !shape) throw new RangeError("no depth");
  const [rows, columns] = [Number(shape[1]), Number(shape[2])];
  if (begin + 4 * rows * columns > bytes.length) throw new RangeError("it is cut off");
  return { rows, columns, at: (row, column) => view.getFloat32(begin + 4 * (row * columns + column), true) };
}

// Returns the range that the colours span (m).
export function paintDepth(canvas, bytes) {
  const { rows, columns, at } = readNpy(bytes), step = Math.max(1, Math.ceil(columns / WIDTH));
  const [width, height] = [Math.floor(columns / step), Math.floor(rows / step)], values = new Float32Array(width * height);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) values[y * width + x] = at(y * step, x * step);
  const sorted = values.filter(Number.isFinite).sort(), near = sorted[Math.floor(sorted.length * 0.02)] ?? 0, far = sorted[Math.floor(sorted.length * 0.98)] ?? 1;
  canvas.width = width; canvas.height = height;
  const paint = canvas.getContext("2d"), picture = paint.createImageData(width, height);
  values.forEach((value, n) => picture.data.set(colourOf((value - near) / (far - near || 1)), 4 * n));
  paint.putImageData(picture, 0, 0);
  return { near, far };
}

const STOPS = [[252, 222, 120], [236, 118, 60], [170, 44, 110], [70, 24, 120], [14, 10, 46]];

function colourOf(share) {
  if (!Number.isFinite(share)) return [0, 0, 0, 255];
  const place = Math.min(0.9999, Math.max(0, share)) * (STOPS.length - 1), n = Math.floor(place), rest = place - n;
  return [0, 1, 2].map((i) => STOPS[n][i] + (STOPS[n + 1][i] - STOPS[n][i]) * rest).concat(255);
}
