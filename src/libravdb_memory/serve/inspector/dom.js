// Elements from plain calls. Law: whatever is handed in as a child becomes a text node or is a node already; no markup is
// ever parsed, no handler or style is ever set from a text.

const SVG = "http://www.w3.org/2000/svg";

/** h("p", {class: "quiet", on: {click: f}, vars: {share: 0.4}}, "text", node, [more]) */
export function h(tag, props, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function s(tag, props, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === "vars") for (const [key, given] of Object.entries(value)) element.style.setProperty(`--${key}`, given);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "value" || name === "checked" || name === "indeterminate") element[name] = value;
    else if (name === "style" || name.startsWith("on")) throw new TypeError(`${name} is not set from here`);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

let counted = 0;

export function uniqueId(prefix) {
  counted += 1;
  return `${prefix}-${counted}`;
}

/** Parts of a text by code points, as the daemon counts places; JavaScript counts UTF-16 units. */
export function sliceable(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (from, to) => text.slice(from, to);
  const points = Array.from(text);
  return (from, to) => points.slice(from, to).join("");
}

export function lengthOf(text) {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}
