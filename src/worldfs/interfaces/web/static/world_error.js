// An error of the tree as the server says it: a code, and a message of what was found, what was expected, what mends it.

export class WorldError extends Error {
  constructor(code, message, { field = "", expected = "", found = "", fix = "" } = {}) {
    super(message || code);
    this.name = "WorldError";
    this.code = code;
    this.field = field;
    this.found = found || String(message || code).split("; expected ")[0];
    this.expected = expected || (String(message || "").split("; expected ")[1] || "").split("; ")[0];
    this.fix = fix;
  }
}

export const LOST = "connection_lost";
export const lost = (why) => new WorldError(LOST, why || "the connection was lost");
