// A plot whose library comes with the first one: who looks at the robot does not wait for it.
import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";

let loaded = null;

export function Plot(given) {
  const [Drawn, set] = useState(() => loaded);
  useEffect(() => {
    let over = false;
    if (!loaded) import("./plot.js").then((module) => { loaded = module.Plot; if (!over) set(() => loaded); });
    return () => { over = true; };
  }, []);
  return Drawn ? html`<${Drawn} ...${given} />` : html`<figure class="plot"><figcaption>${given.label}</figcaption></figure>`;
}
