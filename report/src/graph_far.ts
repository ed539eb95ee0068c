// A graph from far away: boxes of a few pixels in the colour of their kind, above thin straight lines. As few calls as possible:
// this is the first picture of a large graph, and the one that moves.
import type { Palette, Scene } from "./graph_draw";
import { boxSize, nodeCount, UnpackedLayout } from "./layout";

const strokedTogether = 200; // lines; longer paths take more than their share of time
const shortest = 0.75; // pixels; what a line does in less is not seen

export interface Shown {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

function drawLines(context: CanvasRenderingContext2D, { layout }: Scene, palette: Palette, scale: number, shown: Shown): void {
  const step = shortest / scale;
  const isWhole = shown.left <= 0 && shown.top <= 0 && shown.right >= layout.width && shown.bottom >= layout.height;
  context.strokeStyle = palette.farLine;
  context.lineWidth = 0.7 / scale;
  context.beginPath();
  let count = 0;
  // Through `size` points from this place on; each `isStep` from the one before, or in the graph's coordinates.
  const add = (points: number[], at: number, size: number, isStep: boolean): void => {
    let [x, y] = [points[at], points[at + 1]];
    let [fromX, fromY, begun] = [x, y, false];
    for (let i = at + 2; i < at + 2 * size; i += 2) {
      x = isStep ? x + points[i] : points[i];
      y = isStep ? y + points[i + 1] : points[i + 1];
      if (Math.abs(x - fromX) + Math.abs(y - fromY) < step) continue;
      const isShown =
        isWhole ||
        (Math.max(x, fromX) >= shown.left && Math.min(x, fromX) <= shown.right && Math.max(y, fromY) >= shown.top && Math.min(y, fromY) <= shown.bottom);
      if (isShown) {
        if (!begun) context.moveTo(fromX, fromY);
        context.lineTo(x, y);
      }
      [fromX, fromY, begun] = [x, y, isShown];
    }
    if (++count % strokedTogether === 0) {
      context.stroke();
      context.beginPath();
    }
  };
  if (layout instanceof UnpackedLayout) {
    const { trunks, edges } = layout.packed;
    for (let at = 0; at < trunks.length; at += 1 + 2 * trunks[at]) add(trunks, at + 1, trunks[at], true);
    for (let at = 0; at < edges.length; at += 3 + 2 * edges[at + 2]) add(edges, at + 3, edges[at + 2], true);
  } else {
    for (const trunk of layout.trunks) add(trunk, 0, trunk.length / 2, false);
    for (const [, , points] of layout.edges) add(points, 0, points.length / 2, false);
  }
  context.stroke();
}

// Nodes for which `isNear` holds are left to the caller.
export function drawFar(
  context: CanvasRenderingContext2D,
  scene: Scene,
  palette: Palette,
  scale: number,
  shown: Shown,
  isNear: (node: number) => boolean,
): void {
  drawLines(context, scene, palette, scale, shown);
  const { layout, looks } = scene;
  const boxes = layout instanceof UnpackedLayout ? layout.packed.boxes : null;
  const least = 1 / scale; // so that no box vanishes
  let colour = "";
  for (let i = 0; i < nodeCount(layout); ++i) {
    const at = boxes ? i * boxSize + 2 : 2;
    const of = boxes ?? (layout.nodes[i] as unknown as number[]);
    const [x, y, w, h] = [of[at], of[at + 1], of[at + 2], of[at + 3]];
    if (x + w < shown.left || x > shown.right || y + h < shown.top || y > shown.bottom || isNear(i)) continue;
    const own = palette.far[looks[i].fill] ?? palette.far.operation;
    if (own !== colour) context.fillStyle = colour = own;
    context.fillRect(x, y, Math.max(w, least), Math.max(h, least));
  }
}
