// Elements without markup: every text of the report becomes a text node, so that no name can become an element.

type Child = Node | string | null | false | undefined;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

// Views draw themselves before they are attached or shown: what needs places in the window waits for them.
export const whenShown = (then: () => void): void => void requestAnimationFrame(then);

// Draws anew what the element has; the focus stays on what was focused, or else on the panel.
export function redraw(holder: Element, ...children: (Node | string)[]): void {
  const focused = document.activeElement;
  const key = (element: Element): string =>
    `${element.tagName} ${element.getAttribute("data-key") ?? element.getAttribute("aria-label") ?? element.textContent}`;
  const alike = (wanted: string): HTMLElement[] =>
    [...holder.querySelectorAll<HTMLElement>("button, select, input, summary, [tabindex]")].filter((one) => key(one) === wanted);
  const isInside = focused instanceof Element && focused !== holder && holder.contains(focused);
  const wanted = isInside ? key(focused) : "";
  const at = isInside ? alike(wanted).indexOf(focused as HTMLElement) : -1;
  holder.replaceChildren(...children);
  if (at < 0) return;
  const next = alike(wanted)[at] ?? holder.closest<HTMLElement>("[tabindex]");
  next?.focus({ preventScroll: true });
}

// A name of the program: whatever its letters are, the text around it keeps its direction.
export const name = (text: string): HTMLElement => el("bdi", { class: "name" }, text);

export const bytesText = (bytes: number): string => {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit + 1 < units.length) {
    bytes /= 1024;
    ++unit;
  }
  return `${Number(bytes.toPrecision(4))} ${units[unit]}`;
};
export const plural = (count: number, what: string, many = what + "s"): string =>
  `${count} ${count === 1 ? what : many}`;
