// Layouts as the data have them: lists of numbers, which a page reads fast. Nodes and edges are made when something asks for them;
// a graph seen from far away is drawn without.
import type { LaidEdge, LaidNode, Layout, NodeKind } from "./model";

export type Fill = Exclude<NodeKind, "shard"> | "region" | "move"; // the colour of a node

export interface PackedLayout {
  width: number;
  height: number;
  boxes: number[]; // six by node: kind, index, x, y, width, height
  titles: string[];
  below: number[]; // by node: its other lines, a number of what the stage shares
  edges: number[]; // from, to, points
  trunks: number[]; // points, by node
}
export const kinds: NodeKind[] = ["input", "const", "operation", "output", "operation", "operation"];
const fills: Fill[] = ["input", "const", "operation", "output", "region", "move"];
export const boxSize = 6;

export class UnpackedLayout implements Layout {
  readonly width: number;
  readonly height: number;
  private madeNodes: LaidNode[] | null = null;
  private madeEdges: LaidEdge[] | null = null;
  private madeTrunks: number[][] | null = null;

  constructor(
    readonly packed: PackedLayout,
    private shared: unknown[],
  ) {
    this.width = packed.width;
    this.height = packed.height;
  }

  get nodes(): LaidNode[] {
    return (this.madeNodes ??= this.makeNodes());
  }
  get edges(): LaidEdge[] {
    if (this.madeEdges) return this.madeEdges;
    const out: LaidEdge[] = [];
    const { edges } = this.packed;
    for (let at = 0; at < edges.length; at += 3 + 2 * edges[at + 2]) out.push([edges[at], edges[at + 1], pointsAt(edges, at + 2)]);
    return (this.madeEdges = out);
  }
  get trunks(): number[][] {
    if (this.madeTrunks) return this.madeTrunks;
    const out: number[][] = [];
    const { trunks } = this.packed;
    for (let at = 0; at < trunks.length; at += 1 + 2 * trunks[at]) out.push(pointsAt(trunks, at));
    return (this.madeTrunks = out);
  }

  private makeNodes(): LaidNode[] {
    const { boxes, titles, below } = this.packed;
    return titles.map((title, i): LaidNode => {
      const at = i * boxSize;
      const lines = [title, ...((this.shared[below[i]] ?? []) as string[])]; // the first picture has titles alone (first.ts)
      return [kinds[boxes[at]], boxes[at + 1], boxes[at + 2], boxes[at + 3], boxes[at + 4], boxes[at + 5], lines];
    });
  }
}

export const nodeCount = (layout: Layout): number =>
  layout instanceof UnpackedLayout ? layout.packed.titles.length : layout.nodes.length;

export function nodeKinds<T>(layout: Layout, make: (kind: NodeKind, number: number, node: number) => T): T[] {
  if (!(layout instanceof UnpackedLayout)) return layout.nodes.map(([kind, number], i) => make(kind, number, i));
  const { boxes, titles } = layout.packed;
  return titles.map((_, i) => make(kinds[boxes[i * boxSize]], boxes[i * boxSize + 1], i));
}

export const fillOfNode = (layout: Layout, node: number): Fill | null =>
  layout instanceof UnpackedLayout ? fills[layout.packed.boxes[node * boxSize]] : null;

// x, y, x, y … of the points whose count is at this place.
function pointsAt(packed: number[], at: number): number[] {
  const out: number[] = [];
  let [x, y] = [0, 0];
  for (let i = at + 1; i <= at + 2 * packed[at]; i += 2) out.push((x += packed[i]), (y += packed[i + 1]));
  return out;
}
