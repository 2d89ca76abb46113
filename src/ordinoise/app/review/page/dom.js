// Small words for making the page. Text from the file only ever becomes text.

export const find = (id) => document.getElementById(id);

/** An element with properties and children; a child that is a string becomes a text node. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("aria-") || name.startsWith("data-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/** The same for SVG, where everything is an attribute. */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export const fill = (element, ...children) => element.replaceChildren(...children);

/** A share as a reader wants it; never 0 % or 100 % for what is neither. */
export function percent(share) {
  if (share > 0 && share < 0.001) return "<0.1 %";
  if (share < 1 && share > 0.999) return ">99.9 %";
  const digits = (share > 0 && share < 0.01) || (share < 1 && share > 0.99) ? 1 : 0;
  return `${(100 * share).toFixed(digits)} %`;
}

/** A number without the digits that nobody reads; anything else as it is. */
export function compact(text) {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number) || text.length <= 9) return text;
  return String(Number(number.toPrecision(6)));
}

export const plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

export function clock(time) {
  const date = new Date(time);
  const today = date.toDateString() === new Date().toDateString();
  const hour = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return today ? hour : `${date.toLocaleDateString([], { day: "numeric", month: "short" })}, ${hour}`;
}
