// Draws a laid-out graph on a canvas, as much of it as the scale can show.
import { colourOf } from "./colours";
import type { LaidNode, Layout } from "./model";

export interface Palette {
  background: string;
  line: string;
  text: string;
  faint: string;
  accent: string;
  found: string;
  fills: Record<string, string>;
}
export interface NodeLook {
  fill: string; // a key of the palette's fills
  devices: number[]; // the strip below the text
}
export interface View {
  x: number; // the graph's point in the canvas's upper left corner
  y: number;
  scale: number;
}

const lineHeight = 15;
const padding = 9;
const farBelow = 0.12; // of the scale: nodes are plain boxes without text, edges straight
const strokedTogether = 200; // edges; longer paths take more than their share of time
const allLinesFrom = 0.62; // of the scale: below, a node shows its title alone

export function paletteNow(): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (variable: string): string => style.getPropertyValue("--" + variable).trim();
  const fills: Record<string, string> = {};
  for (const kind of ["input", "const", "output", "operation", "region", "move"]) fills[kind] = of("node-" + kind);
  return {
    background: of("canvas"),
    line: of("edge"),
    text: of("text"),
    faint: of("faint"),
    accent: of("accent"),
    found: of("found"),
    fills,
  };
}

// As path_data in compiler/driver/show: curves with vertical ends where a line is slanted.
function trace(context: CanvasRenderingContext2D, points: number[], straight = false): void {
  if (points.length < 4) return;
  context.moveTo(points[0], points[1]);
  for (let i = 2; i + 1 < points.length; i += 2) {
    const [x0, y0, x, y] = [points[i - 2], points[i - 1], points[i], points[i + 1]];
    if (straight || x0 === x || y0 === y) context.lineTo(x, y);
    else context.bezierCurveTo(x0, (y0 + y) / 2, x, (y0 + y) / 2, x, y);
  }
}

function arrow(context: CanvasRenderingContext2D, points: number[]): void {
  const [x, y] = [points[points.length - 2], points[points.length - 1]];
  context.moveTo(x - 3.5, y - 7);
  context.lineTo(x, y);
  context.lineTo(x + 3.5, y - 7);
}

export interface Scene {
  layout: Layout;
  looks: NodeLook[];
  devices: number; // of all meshes, for colours
  selected: Set<number>; // nodes
  related: Set<number>; // edges of the selection
  found: Set<number>;
}

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
  if (scale < farBelow && !scene.selected.has(index) && !scene.found.has(index)) {
    context.fillStyle = palette.line;
    context.fillRect(x, y, w, h);
    context.fillStyle = palette.fills[look.fill];
    const edge = Math.min(0.7 / scale, h / 3);
    context.fillRect(x + edge, y + edge, w - 2 * edge, h - 2 * edge);
    return;
  }
  context.beginPath();
  context.roundRect(x, y, w, h, kind === "operation" ? 4 : 11);
  context.fillStyle = palette.fills[look.fill];
  context.fill();
  const isSelected = scene.selected.has(index);
  context.lineWidth = isSelected ? 3 : scene.found.has(index) ? 2.5 : 1;
  context.strokeStyle = isSelected ? palette.accent : scene.found.has(index) ? palette.found : palette.line;
  context.stroke();
  if (scale < farBelow) return;
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  if (scale < allLinesFrom) {
    // Only the title, in letters that stay readable as long as they fit.
    const size = Math.min(11 / scale, h * 0.62, (w - 6) / Math.max(1, [...lines[0]].length * 0.61));
    context.font = `bold ${size}px ui-monospace, monospace`;
    context.fillStyle = palette.text;
    context.fillText(lines[0], x + w / 2, y + (h - (look.devices.length > 0 ? 6 : 0)) / 2 + size * 0.35, w - 4);
  }
  lines.forEach((line, i) => {
    if (scale < allLinesFrom) return;
    context.font = `${i === 0 ? "bold " : ""}11px ui-monospace, monospace`;
    context.fillStyle = i === 0 ? palette.text : palette.faint;
    context.fillText(line, x + w / 2, y + padding + 11 + i * lineHeight, w - 6);
  });
  if (look.devices.length > 0) {
    const shown = Math.min(look.devices.length, 16);
    const step = Math.min(12, (w - 8) / shown);
    look.devices.slice(0, shown).forEach((device, i) => {
      context.fillStyle = colourOf(device, scene.devices);
      context.fillRect(x + w / 2 - (shown * step) / 2 + i * step + 0.5, y + h - 7, step - 1, 5);
    });
  }
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
  const { nodes, edges, trunks } = scene.layout;
  context.strokeStyle = palette.line;
  const far = view.scale < farBelow;
  context.lineWidth = far ? 0.7 / view.scale : 1;
  context.beginPath();
  let count = 0;
  const add = (points: number[], hasArrow: boolean): void => {
    if (points.length === 0 || !shows(points)) return;
    if (++count % strokedTogether === 0) {
      context.stroke();
      context.beginPath();
    }
    trace(context, points, far);
    if (hasArrow) arrow(context, points);
  };
  for (const trunk of trunks) add(trunk, false);
  for (const [, , points] of edges) add(points, view.scale >= 0.3);
  context.stroke();
  if (scene.related.size > 0) {
    context.strokeStyle = palette.accent;
    context.lineWidth = 2;
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
  nodes.forEach((node, i) => {
    const [, , x, y, w, h] = node;
    if (x + w >= left && x <= right && y + h >= top && y <= bottom)
      drawNode(context, scene, palette, node, i, view.scale);
  });
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
  out += `<rect width="100%" height="100%" fill="${palette.background}"/><g fill="none" stroke="${palette.line}">`;
  for (const trunk of trunks) if (trunk.length >= 4) out += `<path d="${path(trunk)}"/>`;
  for (const [, , points] of edges) {
    const [x, y] = [points[points.length - 2], points[points.length - 1]];
    if (points.length >= 4) out += `<path d="${path(points)}M${x - 3.5} ${y - 7}L${x} ${y}L${x + 3.5} ${y - 7}"/>`;
  }
  out += `</g><g font-family="ui-monospace, monospace" font-size="11" text-anchor="middle">`;
  nodes.forEach(([kind, , x, y, w, h, lines], index) => {
    const look = scene.looks[index];
    out += `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="${kind === "operation" ? 4 : 11}" fill="${palette.fills[look.fill]}" stroke="${palette.line}"/>`;
    lines.forEach((line, i) => {
      out += `<text x="${x + w / 2}" y="${y + padding + 11 + i * lineHeight}" fill="${i === 0 ? palette.text : palette.faint}"${i === 0 ? ' font-weight="bold"' : ""}>${escape(line)}</text>`;
    });
    const shown = Math.min(look.devices.length, 16);
    const step = Math.min(12, (w - 8) / shown);
    look.devices.slice(0, shown).forEach((device, i) => {
      out += `<rect x="${x + w / 2 - (shown * step) / 2 + i * step + 0.5}" y="${y + h - 7}" width="${step - 1}" height="5" fill="${colourOf(device, scene.devices)}"/>`;
    });
  });
  return out + "</g></svg>";
}
