// Addresses of the form #/view?name=value, so that everything worth showing can be linked to.

export function read(hash = location.hash) {
  const whole = hash.replace(/^#\/?/, "");
  const end = whole.indexOf("?");
  const path = end < 0 ? whole : whole.slice(0, end);
  const query = end < 0 ? "" : whole.slice(end + 1);
  return { view: path || "now", params: Object.fromEntries(new URLSearchParams(query)) };
}

export function link(view, params = {}) {
  const kept = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(kept).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

export function go(view, params = {}) {
  const address = link(view, params);
  if (location.hash === address) window.dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = address;
}

/** Says in the address what is shown, without showing it anew. */
export function note(view, params = {}) {
  history.replaceState(null, "", link(view, params));
}
