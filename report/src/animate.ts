// Stepping through stages: the boxes of a grid move from where their devices had them before. Nothing moves for readers who
// prefer less motion.

const duration = 450; // milliseconds

type Rect = [x: number, y: number, w: number, h: number];

function rectOf(element: Element | null): Rect | null {
  if (!element) return null;
  const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => Number(element.getAttribute(name)));
  return w > 0 && h > 0 ? [x, y, w, h] : null;
}

// By device: the place of its box. "all": of what every device has.
export function placesIn(picture: Element | null): Map<string, Rect> {
  const places = new Map<string, Rect>();
  for (const part of picture?.querySelectorAll("g.part") ?? []) {
    const rect = rectOf(part.querySelector("rect"));
    for (const device of part.getAttribute("data-devices")!.split(",")) if (rect && !places.has(device)) places.set(device, rect);
  }
  return places;
}

export function moveFrom(before: Map<string, Rect>, picture: Element): void {
  if (before.size === 0 || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const whole = rectOf(picture.querySelector("rect.frame"));
  for (const part of picture.querySelectorAll("g.part")) {
    const devices = part.getAttribute("data-devices")!.split(",");
    const from = before.get(devices[0]) ?? before.get("all") ?? whole;
    const to = rectOf(part.querySelector("rect"));
    if (!from || !to || from.every((value, i) => value === to[i])) continue;
    const [sx, sy] = [from[2] / to[2], from[3] / to[3]];
    const begin = `translate(${from[0] - to[0] * sx}px, ${from[1] - to[1] * sy}px) scale(${sx}, ${sy})`;
    part.animate([{ transform: begin }, { transform: "none" }], { duration, easing: "ease-in-out" });
  }
}
