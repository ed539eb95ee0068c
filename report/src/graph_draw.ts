// Draws a laid-out graph on a canvas, as much of it as the scale can show.
import { colourOf, inkOn } from "./colours";
import type { LaidNode } from "./model";
import { drawFar } from "./graph_far";
import type { Opened } from "./opened";

export interface Palette {
  background: string;
  line: string;
  text: string;
  faint: string;
  accent: string;
  found: string;
  fills: Record<string, string>;
  far: Record<string, string>; // of nodes of a few pixels
  farLine: string;
}
export interface NodeLook {
  fill: string; // a key of the palette's fills
  devices: number[]; // the strip below the text; the colour of a shard
  opens?: "open" | "closed"; // an operation that can be opened
}
export interface View {
  x: number; // the graph's point in the canvas's upper left corner
  y: number;
  scale: number;
}

const lineHeight = 15;
const padding = 9;
const farBelow = 0.12; // of the scale: nodes are plain boxes without text, edges straight (graph_far.ts)
const strokedTogether = 200; // edges; longer paths take more than their share of time
export const allLinesFrom = 0.62; // of the scale: below, a node shows its title, and of the lines below it those that fit in letters
const someLinesFrom = 0.45; // … that can be read; below this scale, its title alone
const letterWidth = 0.61; // of the height of letters

export function paletteNow(): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (variable: string): string => style.getPropertyValue("--" + variable).trim();
  const fills: Record<string, string> = {};
  const far: Record<string, string> = {};
  for (const kind of ["input", "const", "output", "operation", "region", "move"]) {
    fills[kind] = of("node-" + kind);
    far[kind] = of("far-" + kind);
  }
  return {
    background: of("canvas"),
    line: of("edge"),
    text: of("text"),
    faint: of("faint"),
    accent: of("accent"),
    found: of("found"),
    fills,
    far,
    farLine: of("border"),
  };
}

// As path_data in compiler/driver/show: curves with vertical ends where a line is slanted.
function trace(context: CanvasRenderingContext2D, points: number[]): void {
  if (points.length < 4) return;
  context.moveTo(points[0], points[1]);
  for (let i = 2; i + 1 < points.length; i += 2) {
    const [x0, y0, x, y] = [points[i - 2], points[i - 1], points[i], points[i + 1]];
    if (x0 === x || y0 === y) context.lineTo(x, y);
    else context.bezierCurveTo(x0, (y0 + y) / 2, x, (y0 + y) / 2, x, y);
  }
}

function arrow(context: CanvasRenderingContext2D, points: number[]): void {
  const [x, y] = [points[points.length - 2], points[points.length - 1]];
  context.moveTo(x - 3.5, y - 7);
  context.lineTo(x, y);
  context.lineTo(x + 3.5, y - 7);
}

export interface Scene extends Opened {
  looks: NodeLook[];
  devices: number; // of all meshes, for colours
  selected: Set<number>; // nodes
  related: Set<number>; // edges of the selection
  found: Set<number>;
  lit: Set<number>; // shards that the selected one reads
}

// One device gives a shard its colour.
function fillOf(scene: Scene, palette: Palette, index: number): [fill: string, ink: string | null] {
  const { fill, devices } = scene.looks[index];
  if (fill !== "shard") return [palette.fills[fill], null];
  if (devices.length !== 1) return [palette.fills.operation, null];
  const colour = colourOf(devices[0], scene.devices);
  return [colour, inkOn(colour)];
}
const stripOf = ({ fill, devices }: NodeLook): number[] => (fill === "shard" && devices.length === 1 ? [] : devices.slice(0, 16));
const stripLine = 0.8;
const frameOpacity = 0.3;
export const cornerSize = 16; // of a node, where a click opens it

function drawNode(
  context: CanvasRenderingContext2D,
  scene: Scene,
  palette: Palette,
  node: LaidNode,
  index: number,
  scale: number,
): void {
  const [kind, , x, y, w, h, lines] = node;
  const look = scene.looks[index];
  const isFrame = scene.frames.has(index);
  const [fill, ink] = fillOf(scene, palette, index);
  context.beginPath();
  context.roundRect(x, y, w, h, kind === "operation" || kind === "shard" ? 4 : 11);
  context.fillStyle = fill;
  if (isFrame) context.globalAlpha = frameOpacity;
  context.fill();
  context.globalAlpha = 1;
  const isSelected = scene.selected.has(index);
  const isLit = scene.lit.has(index);
  const wider = Math.max(1, farBelow / scale); // so that it is seen from far away
  context.lineWidth = wider * (isSelected ? 3 : scene.found.has(index) || isLit ? 2.5 : 1);
  context.strokeStyle = isSelected || isLit ? palette.accent : scene.found.has(index) ? palette.found : palette.line;
  if (isLit) context.setLineDash([5, 3]);
  context.stroke();
  context.setLineDash([]);
  if (scale < farBelow) return;
  if (look.opens && scale > 0.3) drawCorner(context, palette, x, y, isFrame);
  if (isFrame) {
    const size = Math.min(11 / Math.min(scale, 1), 18);
    context.font = `bold ${size}px ui-monospace, monospace`;
    context.fillStyle = palette.text;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillText(lines[0], x + cornerSize + 4, y + 17, w - cornerSize - 8);
    return;
  }
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  if (scale < allLinesFrom) {
    drawLarge(context, lines, x + w / 2, y, w, h - (look.devices.length > 0 ? 6 : 0), scale, kind === "operation", ink ?? palette.text, ink ?? palette.faint);
  }
  lines.forEach((line, i) => {
    if (scale < allLinesFrom) return;
    context.font = `${i === 0 ? "bold " : ""}11px ui-monospace, monospace`;
    context.fillStyle = ink ?? (i === 0 ? palette.text : palette.faint);
    context.fillText(line, x + w / 2, y + padding + 11 + i * lineHeight, w - 6);
  });
  const strip = stripOf(look);
  if (strip.length > 0) {
    const shown = strip.length;
    const step = Math.min(12, (w - 8) / shown);
    strip.forEach((device, i) => {
      const place = [x + w / 2 - (shown * step) / 2 + i * step + 0.5, y + h - 7, step - 1, 5] as const;
      context.fillStyle = colourOf(device, scene.devices);
      context.strokeStyle = palette.line;
      context.lineWidth = stripLine;
      context.fillRect(...place);
      context.strokeRect(...place);
    });
  }
}

// The title, in letters that stay readable as long as it fits, and below it the other lines, if they fit in such letters.
function drawLarge(
  context: CanvasRenderingContext2D,
  lines: string[],
  centre: number,
  top: number,
  w: number,
  h: number,
  scale: number,
  isOperation: boolean,
  ink: string,
  faint: string,
): void {
  const length = (line: string): number => Math.max(1, [...line].length) * letterWidth;
  const small = 8.5 / scale;
  const size = Math.min(11 / scale, h * 0.62, (w - 6) / length(lines[0]));
  const room = scale < someLinesFrom ? 0 : Math.floor((h - size * 1.2) / (small * 1.15));
  const fit = (list: string[]): boolean => list.length <= room && list.every((line) => length(line) * small <= w - 6);
  // A box has all of its dims, or none; an operation does without the line of its index dims.
  const below = [lines.slice(1), isOperation ? lines.slice(2) : []].find(fit) ?? [];
  let y = top + (h - below.length * small * 1.15) / 2 + size * 0.35;
  context.font = `bold ${size}px ui-monospace, monospace`;
  context.fillStyle = ink;
  context.fillText(lines[0], centre, y, w - 4);
  context.font = `${small}px ui-monospace, monospace`;
  context.fillStyle = faint;
  for (const line of below) context.fillText(line, centre, (y += small * 1.15), w - 4);
}

// ▸ of a node that opens, ▾ of one that is open.
function drawCorner(context: CanvasRenderingContext2D, palette: Palette, x: number, y: number, isOpen: boolean): void {
  context.beginPath();
  cornerPoints(x, y, isOpen).forEach(([cx, cy], i) => (i === 0 ? context.moveTo(cx, cy) : context.lineTo(cx, cy)));
  context.fillStyle = palette.faint;
  context.fill();
}
function cornerPoints(x: number, y: number, isOpen: boolean): [number, number][] {
  if (isOpen) return [[x + 5, y + 8], [x + 15, y + 8], [x + 10, y + 15]];
  return [[x + 3, y + 3], [x + 8, y + 6.5], [x + 3, y + 10]];
}

export function drawScene(
  context: CanvasRenderingContext2D,
  scene: Scene,
  palette: Palette,
  view: View,
  width: number,
  height: number,
): void {
  context.fillStyle = palette.background;
  context.fillRect(0, 0, width, height);
  context.save();
  context.scale(view.scale, view.scale);
  context.translate(-view.x, -view.y);
  const [left, top] = [view.x - 20, view.y - 20];
  const [right, bottom] = [view.x + width / view.scale + 20, view.y + height / view.scale + 20];
  const shows = (points: number[]): boolean => {
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i + 1 < points.length; i += 2) {
      x0 = Math.min(x0, points[i]);
      x1 = Math.max(x1, points[i]);
      y0 = Math.min(y0, points[i + 1]);
      y1 = Math.max(y1, points[i + 1]);
    }
    return x1 >= left && x0 <= right && y1 >= top && y0 <= bottom;
  };
  const drawIfShown = (i: number): void => {
    const node = scene.layout.nodes[i];
    const [, , x, y, w, h] = node;
    if (x + w >= left && x <= right && y + h >= top && y <= bottom) drawNode(context, scene, palette, node, i, view.scale);
  };
  for (const frame of scene.frames) drawIfShown(frame);
  const isFar = view.scale < farBelow;
  // From far away, these alone have outlines.
  const isNear = (i: number): boolean => !isFar || scene.frames.has(i) || scene.selected.has(i) || scene.found.has(i) || scene.lit.has(i);
  if (isFar) {
    const { a, e, f } = context.getTransform();
    drawFar(context, scene, palette, { scale: a, x: -e / a, y: -f / a }, isNear);
  } else {
    context.strokeStyle = palette.line;
    context.lineWidth = 1;
    context.beginPath();
    let count = 0;
    const add = (points: number[], hasArrow: boolean): void => {
      if (points.length === 0 || !shows(points)) return;
      if (++count % strokedTogether === 0) {
        context.stroke();
        context.beginPath();
      }
      trace(context, points);
      if (hasArrow) arrow(context, points);
    };
    for (const trunk of scene.layout.trunks) add(trunk, false);
    for (const [, , points] of scene.layout.edges) add(points, view.scale >= 0.3);
    context.stroke();
  }
  if (scene.related.size > 0) {
    const { edges, trunks } = scene.layout;
    context.strokeStyle = palette.accent;
    context.lineWidth = isFar ? 1.5 / view.scale : 2;
    context.beginPath();
    for (const index of scene.related) {
      trace(context, edges[index][2]);
      arrow(context, edges[index][2]);
      const trunk = trunks[edges[index][0]];
      // Only the part of the shared line that leads to this edge.
      const end = trunk.findIndex(
        (_, i) => i % 2 === 0 && trunk[i] === edges[index][2][0] && trunk[i + 1] === edges[index][2][1],
      );
      trace(context, end < 0 ? trunk : trunk.slice(0, end + 2));
    }
    context.stroke();
  }
  for (let i = 0; i < scene.looks.length; ++i) if (!scene.frames.has(i) && isNear(i)) drawIfShown(i);
  context.restore();
}

// The same picture as SVG, whole.
export function sceneAsSvg(scene: Scene, palette: Palette): string {
  const escape = (text: string): string =>
    text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);
  const path = (points: number[]): string => {
    let out = `M${points[0]} ${points[1]}`;
    for (let i = 2; i + 1 < points.length; i += 2) {
      const [x0, y0, x, y] = [points[i - 2], points[i - 1], points[i], points[i + 1]];
      out += x0 === x || y0 === y ? `L${x} ${y}` : `C${x0} ${(y0 + y) / 2} ${x} ${(y0 + y) / 2} ${x} ${y}`;
    }
    return out;
  };
  const { width, height, nodes, edges, trunks } = scene.layout;
  let out = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`;
  out += `<rect width="100%" height="100%" fill="${palette.background}"/>`;
  const letters = `<g font-family="ui-monospace, monospace" font-size="11" text-anchor="middle">`;
  out += letters;
  for (const frame of scene.frames) out += frameAsSvg(scene, palette, frame, escape);
  out += `</g><g class="edges" fill="none" stroke="${palette.line}">`;
  for (const trunk of trunks) if (trunk.length >= 4) out += `<path d="${path(trunk)}"/>`;
  for (const [, , points] of edges) {
    const [x, y] = [points[points.length - 2], points[points.length - 1]];
    if (points.length >= 4) out += `<path d="${path(points)}M${x - 3.5} ${y - 7}L${x} ${y}L${x + 3.5} ${y - 7}"/>`;
  }
  out += `</g>${letters}`;
  nodes.forEach(([kind, , x, y, w, h, lines], index) => {
    if (scene.frames.has(index)) return;
    const look = scene.looks[index];
    const [fill, ink] = fillOf(scene, palette, index);
    out += `<g class="node ${kind}"><rect x="${x}" y="${y}" width="${w}" height="${h}" rx="${kind === "operation" || kind === "shard" ? 4 : 11}" fill="${fill}" stroke="${palette.line}"/>`;
    if (look.opens) out += cornerAsSvg(palette, x, y, false);
    lines.forEach((line, i) => {
      out += `<text x="${x + w / 2}" y="${y + padding + 11 + i * lineHeight}" fill="${ink ?? (i === 0 ? palette.text : palette.faint)}"${i === 0 ? ' font-weight="bold"' : ""}>${escape(line)}</text>`;
    });
    const strip = stripOf(look);
    const step = Math.min(12, (w - 8) / strip.length);
    strip.forEach((device, i) => {
      out += `<rect x="${x + w / 2 - (strip.length * step) / 2 + i * step + 0.5}" y="${y + h - 7}" width="${step - 1}" height="5" fill="${colourOf(device, scene.devices)}" stroke="${palette.line}" stroke-width="${stripLine}"/>`;
    });
    out += "</g>";
  });
  return out + "</g></svg>";
}

const cornerAsSvg = (palette: Palette, x: number, y: number, isOpen: boolean): string =>
  `<polygon points="${cornerPoints(x, y, isOpen).join(" ")}" fill="${palette.faint}"/>`;

function frameAsSvg(scene: Scene, palette: Palette, index: number, escape: (text: string) => string): string {
  const [, , x, y, w, h, lines] = scene.layout.nodes[index];
  return (
    `<g class="frame"><rect x="${x}" y="${y}" width="${w}" height="${h}" rx="4" fill="${palette.fills[scene.looks[index].fill]}" fill-opacity="${frameOpacity}" stroke="${palette.line}"/>` +
    cornerAsSvg(palette, x, y, true) +
    `<text x="${x + cornerSize + 4}" y="${y + 17}" text-anchor="start" font-weight="bold" fill="${palette.text}">${escape(lines[0])}</text></g>`
  );
}
