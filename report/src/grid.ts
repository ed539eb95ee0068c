// A value as a grid of its parts on two of its axes, at one position on each of the others.
import { boxText, meet, type Box, type Part } from "./boxes";
import { colourOf, devicesText, everyDevice, inkOn, shortDevices } from "./colours";
import { svg } from "./dom";

export interface GridOptions {
  shape: number[];
  parts: Part[];
  axes: number[]; // rows, columns; fewer for a tensor of lower rank
  at: number[]; // by axis
  devices: number; // for colours
  width: number;
  height: number;
  title: string;
  lit?: Set<number>; // parts
  dimmed?: boolean; // the others
  outlines?: Box[]; // boxes that are read
  focus?: number | null; // the part that is selected
  onHover?: (part: number | null) => void;
  onSelect?: (part: number) => void;
}

// The two axes that the parts differ on most, in order; else the last two.
export function usualAxes(shape: number[], parts: Part[]): number[] {
  const blocks = shape.map((_, axis) => new Set(parts.map((part) => part.box[axis].join())).size);
  const order = shape.map((_, axis) => axis).sort((a, b) => blocks[b] - blocks[a] || b - a);
  return order.slice(0, 2).sort((a, b) => a - b);
}

// Whether a box is in the slice that the grid shows.
export const inSlice = (box: Box, axes: number[], at: number[]): boolean =>
  box.every(([lo, hi], axis) => axes.includes(axis) || (lo <= (at[axis] ?? 0) && (at[axis] ?? 0) < hi));

export function grid(options: GridOptions): SVGSVGElement {
  const { shape, axes, at, parts } = options;
  const [rowAxis, columnAxis] = axes.length === 2 ? axes : [undefined, axes[0]];
  const extent = (axis: number | undefined): number => (axis === undefined ? 1 : Math.max(1, shape[axis]));
  const [rows, columns] = [extent(rowAxis), extent(columnAxis)];
  // Long thin tensors stay readable.
  const ratio = Math.min(2.8, Math.max(0.5, columns / rows));
  const [left, top] = [34, 22];
  const width = Math.min(options.width - left - 6, (options.height - top - 6) * ratio);
  const height = Math.min(options.height - top - 6, width / ratio);
  const x = (cell: number): number => left + (cell / columns) * width;
  const y = (cell: number): number => top + (cell / rows) * height;
  const span = (box: Box, axis: number | undefined): [number, number] => (axis === undefined ? [0, 1] : box[axis]);
  const label = (text: string, lx: number, ly: number, anchor: string) =>
    svg("text", { x: lx, y: ly, "font-size": 10, "text-anchor": anchor, class: "tick" }, text);

  const picture = svg("svg", {
    width: left + width + 6,
    height: top + height + 6,
    viewBox: `0 0 ${left + width + 6} ${top + height + 6}`,
    role: "group",
    "aria-label": options.title,
    "font-family": "ui-monospace, monospace",
    class: "grid",
  });
  picture.append(svg("rect", { x: left, y: top, width, height, class: "frame" }));
  if (columnAxis !== undefined)
    picture.append(label(`axis ${columnAxis}: ${shape[columnAxis]}`, left + width / 2, 13, "middle"));
  if (rowAxis !== undefined) {
    const text = label(`axis ${rowAxis}: ${shape[rowAxis]}`, 0, 0, "middle");
    text.setAttribute("transform", `translate(14 ${top + height / 2}) rotate(-90)`);
    picture.append(text);
  }

  // Boxes that overlap, such as those with halos, show through each other.
  const overlapping = parts.some((a, i) => i < 64 && parts.slice(i + 1, 64).some((b) => meet(a.box, b.box)));
  const cells: { part: number; element: SVGGElement }[] = [];
  parts.forEach((part, number) => {
    if (!inSlice(part.box, axes, at)) return;
    const [r0, r1] = span(part.box, rowAxis);
    const [c0, c1] = span(part.box, columnAxis);
    if (r1 <= r0 || c1 <= c0) return;
    const colour = part.devices === null ? everyDevice : colourOf(part.devices[0] ?? 0, options.devices);
    const [w, h] = [x(c1) - x(c0), y(r1) - y(r0)];
    const isLit = options.lit?.has(number) ?? false;
    const element = svg("g", {
      class:
        "part" +
        (isLit ? " lit" : "") +
        (options.dimmed && !isLit ? " dim" : "") +
        (options.focus === number ? " focus" : ""),
      "data-part": number,
      "data-box": boxText(part.box),
      "data-devices": part.devices === null ? "all" : part.devices.join(),
      tabindex: options.onSelect
        ? options.focus === number || (options.focus == null && cells.length === 0)
          ? 0
          : -1
        : null,
      role: options.onSelect ? "button" : null,
      "aria-label": `${boxText(part.box)}, ${devicesText(part.devices)}`,
      "aria-pressed": options.onSelect ? String(options.focus === number) : null,
    });
    element.append(
      svg("rect", {
        x: x(c0),
        y: y(r0),
        width: w,
        height: h,
        fill: colour,
        "fill-opacity": overlapping ? 0.6 : 1,
        stroke: "#1f2937",
        "stroke-width": w < 14 || h < 14 ? 0.4 : 1,
      }),
    );
    const fits = (label: string): boolean => w > label.length * 6.2 + 4 && h > 12;
    const devices = shortDevices(part.devices);
    const text =
      fits(devices) || part.devices === null ? devices : part.devices[0] + (part.devices.length > 1 ? "…" : "");
    if (fits(text))
      element.append(
        svg(
          "text",
          {
            x: x(c0) + w / 2,
            y: y(r0) + h / 2 + 4,
            "font-size": 11,
            "text-anchor": "middle",
            fill: overlapping ? "#000000" : inkOn(colour),
          },
          text,
        ),
      );
    if (options.onHover) {
      element.addEventListener("pointerenter", () => options.onHover!(number));
      element.addEventListener("focus", () => options.onHover!(number));
    }
    if (options.onSelect) {
      element.addEventListener("click", () => options.onSelect!(number));
      element.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          options.onSelect!(number);
        }
        const arrows: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
        const step = arrows[event.key];
        if (step === undefined) return;
        event.preventDefault();
        const here = cells.findIndex((cell) => cell.part === number);
        cells[(here + step + cells.length) % cells.length].element.focus();
      });
    }
    cells.push({ part: number, element });
    picture.append(element);
  });
  // The selected box has its outline above all others.
  const focused = cells.find((cell) => cell.part === options.focus);
  if (focused) raise(picture, focused.element);
  for (const box of options.outlines ?? []) {
    if (!inSlice(box, axes, at)) continue;
    const [r0, r1] = span(box, rowAxis);
    const [c0, c1] = span(box, columnAxis);
    picture.append(
      svg("rect", {
        x: x(c0),
        y: y(r0),
        width: x(c1) - x(c0),
        height: y(r1) - y(r0),
        class: "read",
        "data-box": boxText(box),
        fill: "none",
      }),
    );
  }
  return picture;
}

export function raise(picture: SVGSVGElement, part: SVGGElement | null): void {
  picture.querySelector("rect.outline")?.remove();
  const rect = part?.querySelector("rect");
  if (!rect) return;
  const outline = rect.cloneNode() as SVGRectElement;
  outline.setAttribute("class", "outline");
  outline.setAttribute("fill", "none");
  picture.append(outline);
}
