// The time line as a picture: a band for each device, with what was measured above what was predicted. One drawing for the
// canvas and for saved SVG.
import { colourOf } from "./colours";
import type { TimeLine, TimePiece } from "./model";
import { timeText } from "./units";

export const gutter = 104;
export const axisHeight = 26;
const lane = { measured: 15, predicted: 9 };
const gap = 9;

export interface Band {
  label: string;
  device: number | null;
  top: number;
  measured: number; // lanes
  predicted: number;
  height: number;
}
export interface TimeColours {
  background: string;
  text: string;
  faint: string;
  border: string;
  accent: string;
  kinds: Record<string, string>;
}
export interface Span {
  from: number; // microseconds
  to: number;
}
export interface TimePen {
  rect(x: number, y: number, w: number, h: number, fill: string | null, stroke: string | null, line: number): void;
  text(x: number, y: number, words: string, colour: string, anchor: "start" | "end" | "middle", most?: number): void;
}

export function bandsOf({ rows, measured, predicted, events }: TimeLine): Band[] {
  const lanes = (pieces: TimePiece[]): number[] => {
    const most = rows.map(() => 0);
    for (const [event, at] of pieces) most[events[event][0]] = Math.max(most[events[event][0]], at + 1);
    return most;
  };
  const [above, below] = [lanes(measured), lanes(predicted)];
  const several = new Set(rows.map(([process]) => process)).size > 1;
  let top = 0;
  return rows.map(([process, device], row) => {
    const where = device === null ? (several ? `process ${process}` : "every device") : `device ${device}`;
    const height = above[row] * lane.measured + below[row] * lane.predicted + gap;
    const band = { label: where, device, top, measured: above[row], predicted: below[row], height };
    top += height;
    return band;
  });
}
export const heightOf = (bands: Band[]): number => bands.reduce((sum, band) => sum + band.height, 0);

// Where a piece is, below the axis.
export function placeOf(line: TimeLine, bands: Band[], piece: TimePiece, isMeasured: boolean): [y: number, h: number] {
  const band = bands[line.events[piece[0]][0]];
  return isMeasured
    ? [band.top + gap / 2 + piece[1] * lane.measured, lane.measured - 2]
    : [band.top + gap / 2 + band.measured * lane.measured + piece[1] * lane.predicted, lane.predicted - 2];
}

const steps = [1, 2, 5];
function ticks({ from, to }: Span, most: number): number[] {
  let step = 1e-3;
  for (let k = 0; (to - from) / step > most; ++k) step = steps[k % 3] * 10 ** (Math.floor(k / 3) - 3);
  const out: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) out.push(at);
  return out;
}

export interface TimeScene {
  line: TimeLine;
  bands: Band[];
  devices: number; // of all meshes, for colours
  selected: number | null; // an event
}

export function drawTimes(
  pen: TimePen,
  { line, bands, devices, selected }: TimeScene,
  colours: TimeColours,
  span: Span,
  size: { width: number; height: number; top: number },
): void {
  const { width, height, top } = size;
  const scale = (width - gutter - 12) / Math.max(span.to - span.from, 1e-6);
  const x = (time: number): number => gutter + (time - span.from) * scale;
  pen.rect(0, 0, width, height, colours.background, null, 0);
  const shown = ([, , began, ended]: TimePiece): boolean => ended >= span.from && began <= span.to;
  const marks = ticks(span, Math.max(2, (width - gutter) / 90));
  for (const at of marks) pen.rect(x(at), axisHeight, 1, height - axisHeight, colours.border, null, 0);
  const draw = (piece: TimePiece, isMeasured: boolean): void => {
    if (!shown(piece)) return;
    const [y, h] = placeOf(line, bands, piece, isMeasured);
    const at = axisHeight + y - top;
    if (at + h < axisHeight || at > height) return;
    const [event, , began, ended, critical] = piece;
    const [, kind, name] = line.events[event];
    const left = Math.max(x(began), gutter);
    const right = Math.min(Math.max(x(ended), left + 1), width);
    if (right <= left) return;
    if (isMeasured || right - left < 4) pen.rect(left, at, right - left, h, colours.kinds[kind], null, 0);
    else pen.rect(left + 0.5, at + 0.5, right - left - 1, h - 1, colours.kinds[kind], colours.faint, 1);
    if (isMeasured && right - left > 26)
      pen.text(left + 3, at + h - 3, name, colours.text, "start", right - left - 6);
    if (critical) pen.rect(left, at + h - 2, right - left, 3, colours.accent, null, 0);
    if (event === selected) pen.rect(left - 1, at - 1, right - left + 2, h + 2, null, colours.text, 2);
  };
  for (const piece of line.predicted) draw(piece, false);
  for (const piece of line.measured) draw(piece, true);
  for (const band of bands) {
    const at = axisHeight + band.top - top;
    if (at + band.height < axisHeight || at > height) continue;
    pen.rect(0, at, gutter - 4, band.height, colours.background, null, 0);
    pen.rect(0, at + band.height - 1, width, 1, colours.border, null, 0);
    if (band.device !== null) pen.rect(8, at + gap / 2 + 2, 10, 10, colourOf(band.device, devices), colours.faint, 1);
    pen.text(24, at + gap / 2 + 11, band.label, colours.text, "start", gutter - 30);
  }
  pen.rect(0, 0, width, axisHeight, colours.background, null, 0);
  pen.rect(0, axisHeight - 1, width, 1, colours.border, null, 0);
  for (const at of marks)
    if (x(at) < width - 50) pen.text(x(at) + 3, axisHeight - 9, timeText(at * 1e-6), colours.faint, "start");
}

export function canvasPen(context: CanvasRenderingContext2D): TimePen {
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "alphabetic";
  return {
    rect(x, y, w, h, fill, stroke, line) {
      if (fill) {
        context.fillStyle = fill;
        context.fillRect(x, y, w, h);
      }
      if (!stroke) return;
      context.strokeStyle = stroke;
      context.lineWidth = line;
      context.strokeRect(x, y, w, h);
    },
    text(x, y, words, colour, anchor, most) {
      context.fillStyle = colour;
      context.textAlign = anchor === "middle" ? "center" : anchor;
      const fitting = most === undefined ? words : fit(words, most, (some) => context.measureText(some).width);
      if (fitting) context.fillText(fitting, x, y);
    },
  };
}

function fit(words: string, most: number, widthOf: (some: string) => number): string {
  if (words.length > 200) words = words.slice(0, 200);
  if (widthOf(words) <= most) return words;
  let length = words.length - 1;
  while (length > 0 && widthOf(words.slice(0, length) + "…") > most) length = Math.floor(length * 0.85);
  return length > 1 ? words.slice(0, length) + "…" : "";
}

export function svgOf(scene: TimeScene, colours: TimeColours, span: Span, width: number): { text: string; height: number } {
  const height = axisHeight + heightOf(scene.bands);
  const escape = (text: string): string =>
    text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);
  const short = (n: number): string => n.toFixed(1).replace(".0", "");
  let out = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${short(height)}" font-family="sans-serif" font-size="11">`;
  drawTimes(
    {
      rect(x, y, w, h, fill, stroke, line) {
        out += `<rect x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}" fill="${fill ?? "none"}"${stroke ? ` stroke="${stroke}" stroke-width="${line}"` : ""}/>`;
      },
      text(x, y, words, colour, anchor, most) {
        const fitting = most === undefined ? words : fit(words, most, (some) => some.length * 6.2);
        out += `<text x="${short(x)}" y="${short(y)}" fill="${colour}" text-anchor="${anchor}">${escape(fitting)}</text>`;
      },
    },
    scene,
    colours,
    span,
    { width, height, top: 0 },
  );
  return { text: out + "</svg>", height };
}
