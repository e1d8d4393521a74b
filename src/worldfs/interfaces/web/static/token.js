// The token of this tab: taken from the address's fragment, which no request carries, and removed from it at once.

const KEY = "worldfs.token";

export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  if (token === null) return sessionStorage.getItem(KEY) || "";
  keepToken(token);
  given.delete("token");
  const rest = given.toString();
  history.replaceState(null, "", location.pathname + location.search + (rest ? `#${rest}` : ""));
  return token;
}

export function keepToken(token) { sessionStorage.setItem(KEY, token); }
export function forgetToken() { sessionStorage.removeItem(KEY); }
