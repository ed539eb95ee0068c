// The graph with some of its operations opened in place: a call, iterate or group shows the graph inside it, a split operation its
// shards. Places come from the compiler's layouts (compiler/driver/show/layered_layout.h). An opened node only stretches the
// layout around it: what was right of it or below it moves away, and nothing changes sides, so no edge crosses a box.
import { differingDims, shardsOf, type Shard } from "./boxes";
import { devicesText } from "./colours";
import { nodeCount } from "./layout";
import type { LaidEdge, LaidNode, Layout, Operation, Report, Stage } from "./model";

export interface NodeRef {
  graph: number; // of the stage
  path: string; // of the opened operations around it: "5/2/"; empty in the main graph
  parent: number | null; // the node around it
  shard?: Shard;
}
export interface Opened {
  layout: Layout;
  refs: NodeRef[]; // by node
  frames: Set<number>; // nodes that are opened
}

const titleHeight = 24;
const inset = 12;
const gap = 10;
const letter = 6.7; // the width of one, in pixels
const mostShardNodes = 64;
const most = { columns: 8, deep: 16 };

const isSplit = (operation: Operation): boolean => (operation.placements ?? []).some((p) => p.dim !== null);
export const canOpen = (operation: Operation): boolean => operation.region !== undefined || isSplit(operation);

interface Inside extends Opened {
  shift: [dx: number, dy: number];
}

// In rows: the first dim that differs goes down, the others to the right.
function shardNodes(report: Report, stage: Stage, operation: Operation, ref: Omit<NodeRef, "parent">): Opened {
  const op = stage.operators[operation.operator];
  const all = shardsOf(report, stage, operation);
  const dims = differingDims(op, all);
  const next = dims.length > 1 ? all.findIndex(({ points }) => points[dims[0]].join() !== all[0].points[dims[0]].join()) : 4;
  const columns = Math.max(1, Math.min(next < 0 ? all.length : next, most.columns, all.length));
  const shown = all.slice(0, mostShardNodes);
  const texts = shown.map(({ points, devices }) => [
    devicesText(devices),
    ...dims.map((dim) => `${op.dims[dim][0]} ${points[dim][0]}..${points[dim][1]}`),
  ]);
  if (all.length > shown.length) texts.push([`… ${all.length - shown.length} more`]);
  const width = Math.ceil(Math.max(...texts.flat().map((line) => [...line].length)) * letter) + 18;
  const height = 15 * (1 + dims.length) + 17;
  const nodes = texts.map((lines, i): LaidNode => {
    const [column, row] = [i % columns, Math.floor(i / columns)];
    return ["shard", i, column * (width + gap), row * (height + gap), width, height, lines];
  });
  const rows = Math.ceil(texts.length / columns);
  return {
    layout: {
      width: columns * (width + gap) - gap,
      height: rows * (height + gap) - gap,
      nodes,
      edges: [],
      trunks: nodes.map(() => []),
    },
    refs: nodes.map((_, i) => ({ ...ref, parent: null, shard: shown[i] })),
    frames: new Set(),
  };
}

// Where something is after all nodes have grown: each pushes what is beyond its centre away.
class Stretch {
  private grown: { at: number; before: number; after: number }[] = [];
  place(x: number): number {
    let out = x;
    for (const { at, before, after } of this.grown)
      if (x >= at - 1) out += x <= at + 1 ? before : before + after;
    return out;
  }
  // At least `before` and `after` around `at`, within the range that the node had.
  grow(at: number, [lo, hi]: [number, number], before: number, after: number): void {
    this.grown.push({
      at,
      before: Math.max(0, before - (this.place(at) - this.place(lo))),
      after: Math.max(0, after - (this.place(hi) - this.place(at))),
    });
  }
}

function insideOf(report: Report, stage: Stage, operation: Operation, ref: Omit<NodeRef, "parent">, open: Set<string>): Inside[] {
  const parts: Opened[] = [];
  if (operation.region) parts.push(openedGraph(report, stage, operation.region.graph, open, ref.path));
  if (isSplit(operation)) parts.push(shardNodes(report, stage, operation, ref));
  let y = titleHeight;
  return parts.map((part) => {
    const shift: [number, number] = [inset, y];
    y += part.layout.height + inset;
    return { ...part, shift };
  });
}

const moved = (points: number[], [dx, dy]: [number, number]): number[] =>
  points.map((at, i) => at + (i % 2 === 0 ? dx : dy));

export function openedGraph(report: Report, stage: Stage, number: number, open: Set<string>, path = ""): Opened {
  const graph = stage.graphs[number];
  const { layout } = graph;
  const ref: NodeRef = { graph: number, path, parent: null };
  const refs = new Array<NodeRef>(nodeCount(layout)).fill(ref);
  const inside = new Map<number, Inside[]>();
  if (open.size > 0 && path.split("/").length <= most.deep)
    layout.nodes.forEach(([kind, operation], i) => {
      const own = path + operation;
      if (kind !== "operation" || !open.has(own) || !canOpen(graph.operations[operation])) return;
      inside.set(i, insideOf(report, stage, graph.operations[operation], { graph: number, path: own + "/" }, open));
    });
  if (inside.size === 0) return { layout, refs, frames: new Set() };

  const grown = new Map<number, [width: number, height: number]>();
  const [across, down] = [new Stretch(), new Stretch()];
  for (const [i, parts] of inside) {
    const [, , x, y, w, h, lines] = layout.nodes[i];
    const width = Math.max(w, [...lines[0]].length * letter + 40, ...parts.map((part) => part.layout.width + 2 * inset));
    const height = titleHeight + parts.reduce((sum, part) => sum + part.layout.height + inset, 0);
    grown.set(i, [width, Math.max(h, height)]);
    across.grow(x + w / 2, [x, x + w], width / 2, width / 2);
    down.grow(y + h / 2, [y, y + h], h / 2, Math.max(h, height) - h / 2);
  }
  const place = (points: number[]): number[] =>
    points.map((at, i) => Math.round(i % 2 === 0 ? across.place(at) : down.place(at)));
  const nodes = layout.nodes.map(([kind, of, x, y, w, h, lines], i): LaidNode => {
    const [width, height] = grown.get(i) ?? [w, h];
    return [kind, of, Math.round(across.place(x + w / 2) - width / 2), Math.round(down.place(y)), width, height, lines];
  });
  // A line begins at the bottom of its node, which stays above the stretched part of its row.
  const below = (node: number, points: number[]): number[] =>
    points.map((at, i) => (i === 1 ? nodes[node][3] + nodes[node][5] : at));
  const edges = layout.edges.map(([from, to, points]): LaidEdge => [from, to, place(points)]);
  const trunks = layout.trunks.map((points, i) => below(i, place(points)));
  const frames = new Set(inside.keys());
  for (const [i, parts] of inside)
    for (const part of parts) {
      const first = nodes.length;
      const [, , x, y, width] = nodes[i];
      // In the middle of its frame.
      const shift: [number, number] = [Math.round(x + (width - part.layout.width) / 2), y + part.shift[1]];
      part.layout.nodes.forEach(([kind, of, nx, ny, w, h, lines]) => nodes.push([kind, of, nx + shift[0], ny + shift[1], w, h, lines]));
      for (const [from, to, points] of part.layout.edges) edges.push([from + first, to + first, moved(points, shift)]);
      for (const points of part.layout.trunks) trunks.push(moved(points, shift));
      for (const ref of part.refs) refs.push({ ...ref, parent: ref.parent === null ? i : ref.parent + first });
      for (const frame of part.frames) frames.add(frame + first);
    }
  return {
    layout: {
      width: Math.ceil(across.place(layout.width)),
      height: Math.ceil(down.place(layout.height)),
      nodes,
      edges,
      trunks,
    },
    refs,
    frames,
  };
}

// What must be opened for a graph to be shown: the operations around it, outermost first.
export function pathsAround(stage: Stage, graph: number): string[] {
  const found = new Map<number, string[]>([[0, []]]);
  for (const [number, paths] of found)
    stage.graphs[number].operations.forEach(({ region }, op) => {
      if (!region || found.has(region.graph)) return;
      const outer = paths.length > 0 ? paths[paths.length - 1] + "/" : "";
      found.set(region.graph, [...paths, outer + op]);
    });
  return found.get(graph) ?? [];
}
