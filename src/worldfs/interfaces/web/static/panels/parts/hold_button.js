// A button that acts only when it is held: by pointer, Space or Enter. Letting go, leaving or losing the focus ends it.
import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";

export const HOLD_MS = 1500;

export function HoldButton({ label, disabled, onHeld }) {
  const [held, set] = useState(false);
  const timer = useRef(0);
  const end = () => { clearTimeout(timer.current); timer.current = 0; set(false); };
  const begin = () => {
    if (timer.current || disabled) return;
    set(true);
    timer.current = setTimeout(() => { end(); onHeld(); }, HOLD_MS);
  };
  useEffect(() => end, []);
  const key = (event, act) => { if (event.key === " " || event.key === "Enter") { event.preventDefault(); act(); } };
  return html`<button type="button" class=${`primary hold ${held ? "held" : ""}`} style=${`--hold: ${HOLD_MS}ms`} disabled=${disabled}
    onPointerDown=${(event) => event.button === 0 && begin()} onPointerUp=${end} onPointerLeave=${end} onPointerCancel=${end}
    onKeyDown=${(event) => key(event, begin)} onKeyUp=${(event) => key(event, end)} onBlur=${end}
    onContextMenu=${(event) => event.preventDefault()}>${label}</button>`;
}
