// Helpers that build the page. Text from the file is only ever inserted as text.

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

/** An SVG element with attributes and children. */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export const fill = (element, ...children) => element.replaceChildren(...children);

/** A share as a percentage, by the rule of `ordinoise._text.percent`; a dash if it is not a number. */
export function percent(share) {
  if (!Number.isFinite(share)) return "–";
  const ofHundred = 100 * share;
  if (ofHundred > 0 && ofHundred < 0.05) return "<0.1%";
  if (ofHundred >= 99.95 && ofHundred < 100) return ">99.9%";
  const rounded = Number(ofHundred.toFixed(1));
  const fine = (rounded > 0 && rounded < 10) || (rounded > 99 && rounded < 100);
  return `${ofHundred.toFixed(fine ? 1 : 0)}%`;
}

/** A long number rounded to six digits; any other text unchanged. */
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
