// The style sheet of the parts, put into the document once, when a panel of theirs is first shown.

export function partSheet(address = new URL("./parts.css", import.meta.url).pathname) {
  if (document.querySelector(`link[href="${address}"]`)) return;
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = address;
  document.head.append(link);
}
