// A moment in the address: #panel=world&at=TIME shows the world as it was then, to anybody with a token of their own.
import { effect } from "@preact/signals";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

export function momentOf(hash) {
  const at = new URLSearchParams(hash.slice(1)).get("at") || "";
  return TIME.test(at) ? at : null;
}

export function linkTo(panel, time) {
  return `${location.origin}${location.pathname}#${new URLSearchParams(time === null ? { panel } : { panel, at: time })}`;
}

// The world shows the address's moment, and the address the world's. Returns the function that ends it.
export function followAddress(world) {
  world.at.value = momentOf(location.hash);
  const changed = () => { world.at.value = momentOf(location.hash); };
  addEventListener("hashchange", changed);
  const end = effect(() => {
    const given = new URLSearchParams(location.hash.slice(1));
    if (world.at.value === null) given.delete("at"); else given.set("at", world.at.value);
    const hash = given.toString();
    if (hash !== location.hash.slice(1)) history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  });
  return () => { removeEventListener("hashchange", changed); end(); };
}
