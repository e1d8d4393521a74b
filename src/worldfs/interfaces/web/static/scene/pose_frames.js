// The frames of scene/poses: the same bytes as worldfs.robots.pose_frames writes. Three has x y z w, the frame w x y z.
const HEAD = 18, ROW = 22, TURN = 32767;

// {number, revision, time, rows: [{index, position: [x, y, z], turn: [x, y, z, w]}]}; throws RangeError for what is none.
export function decodeFrame(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < HEAD || bytes.length !== HEAD + view.getUint16(16, true) * ROW) throw new RangeError(`${bytes.length} bytes are no frame`);
  const rows = [];
  for (let at = HEAD; at < bytes.length; at += ROW) {
    const f = (n) => view.getFloat32(at + 2 + 4 * n, true), q = (n) => view.getInt16(at + 14 + 2 * n, true) / TURN;
    rows.push({ index: view.getUint16(at, true), position: [f(0), f(1), f(2)], turn: [q(1), q(2), q(3), q(0)] });
  }
  return { number: view.getUint32(0, true), revision: view.getUint32(4, true), time: view.getFloat64(8, true), rows };
}
