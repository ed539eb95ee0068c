// A graph from far away: boxes of a few pixels in the colour of their kind, above thin straight lines. They are set pixel by pixel,
// since this is the first picture of a large graph, and calls of the canvas for each box and line take ten times as long.
import type { Palette, Scene } from "./graph_draw";
import { boxSize, nodeCount, UnpackedLayout } from "./layout";

const shortest = 0.75; // pixels; what a line does in less is not seen

export interface Shown {
  scale: number; // pixels of the canvas for one of the graph
  x: number; // of the graph, at the canvas's left top
  y: number;
}

class Pixels {
  private image: ImageData;
  private all: Uint32Array;
  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.image = new ImageData(width, height);
    this.all = new Uint32Array(this.image.data.buffer);
  }

  fill(x0: number, y0: number, x1: number, y1: number, colour: number): void {
    const left = Math.max(0, x0);
    const right = Math.min(this.width, x1);
    const bottom = Math.min(this.height, y1);
    if (left >= right) return;
    for (let y = Math.max(0, y0); y < bottom; ++y) this.all.fill(colour, y * this.width + left, y * this.width + right);
  }

  // One pixel for each step along the longer side.
  line(x0: number, y0: number, x1: number, y1: number, colour: number): void {
    const { width, height, all } = this;
    if ((x0 < 0 && x1 < 0) || (y0 < 0 && y1 < 0) || (x0 >= width && x1 >= width) || (y0 >= height && y1 >= height)) return;
    const steps = Math.ceil(Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0)));
    const dx = (x1 - x0) / steps;
    const dy = (y1 - y0) / steps;
    for (let i = 0; i < steps; ++i) {
      const x = x0 + i * dx;
      const y = y0 + i * dy;
      if (x >= 0 && x < width && y >= 0 && y < height) all[(y | 0) * width + (x | 0)] = colour;
    }
  }

  // Above what the canvas shows already.
  show(context: CanvasRenderingContext2D): void {
    const picture = new OffscreenCanvas(this.width, this.height);
    picture.getContext("2d")!.putImageData(this.image, 0, 0);
    context.save();
    context.resetTransform();
    context.drawImage(picture, 0, 0);
    context.restore();
  }
}

// #rrggbb as a pixel has it.
function pixelOf(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

// This code runs once before the first picture: without arrays made and taken apart for each point.
function drawLines(pixels: Pixels, { layout }: Scene, colour: number, { scale, x: left, y: top }: Shown): void {
  // Through `size` points from this place on; each `isStep` from the one before, or in the graph's coordinates.
  const add = (points: number[], at: number, size: number, isStep: boolean): void => {
    let x = points[at];
    let y = points[at + 1];
    let fromX = (x - left) * scale;
    let fromY = (y - top) * scale;
    const end = at + 2 * size;
    for (let i = at + 2; i < end; i += 2) {
      x = isStep ? x + points[i] : points[i];
      y = isStep ? y + points[i + 1] : points[i + 1];
      const toX = (x - left) * scale;
      const toY = (y - top) * scale;
      if (Math.abs(toX - fromX) + Math.abs(toY - fromY) < shortest) continue;
      pixels.line(fromX, fromY, toX, toY, colour);
      fromX = toX;
      fromY = toY;
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
}

// Nodes for which `isNear` holds are left to the caller.
export function drawFar(context: CanvasRenderingContext2D, scene: Scene, palette: Palette, shown: Shown, isNear: (node: number) => boolean): void {
  const { layout, looks } = scene;
  const pixels = new Pixels(context.canvas.width, context.canvas.height);
  drawLines(pixels, scene, pixelOf(palette.farLine), shown);
  const colours = new Map(Object.entries(palette.far).map(([kind, colour]) => [kind, pixelOf(colour)]));
  const boxes = layout instanceof UnpackedLayout ? layout.packed.boxes : null;
  for (let i = 0; i < nodeCount(layout); ++i) {
    if (isNear(i)) continue;
    const at = boxes ? i * boxSize + 2 : 2;
    const of = boxes ?? (layout.nodes[i] as unknown as number[]);
    const x = Math.round((of[at] - shown.x) * shown.scale);
    const y = Math.round((of[at + 1] - shown.y) * shown.scale);
    // Boxes of one size look alike, and none vanishes.
    const w = Math.max(1, Math.round(of[at + 2] * shown.scale));
    const h = Math.max(1, Math.round(of[at + 3] * shown.scale));
    pixels.fill(x, y, x + w, y + h, colours.get(looks[i].fill) ?? colours.get("operation")!);
  }
  pixels.show(context);
}
