// What the panel of the graph says about nodes: how each looks, the legend, and what its shards read.
import { bounds, boxText, meet, partsOf, readsOf, shardsOf } from "./boxes";
import { colourOf } from "./colours";
import { fillOfNode, nodeKinds } from "./layout";
import { el, svg } from "./dom";
import type { NodeLook, Palette, Scene } from "./graph_draw";
import type { Operation } from "./model";
import { canOpen, type Opened } from "./opened";
import type { Store } from "./store";

const mostLooks = 3000; // nodes whose devices are part of the picture

export function looksOf({ stage, report }: Store, { layout, refs, frames }: Opened): NodeLook[] {
  const inEach = new Map<number, number>(); // graphs are large or small, not nodes
  for (const { graph } of refs) inEach.set(graph, (inEach.get(graph) ?? 0) + 1);
  const plain = new Map<string, NodeLook>(); // without devices, by what else differs
  const plainLook = (fill: string, opens?: "open" | "closed"): NodeLook => {
    const key = fill + (opens ?? "");
    const look = plain.get(key) ?? { fill, devices: [], opens };
    plain.set(key, look);
    return look;
  };
  return nodeKinds(layout, (kind, number, i): NodeLook => {
    const { graph, shard } = refs[i];
    if (kind === "shard") return { fill: kind, devices: shard?.devices ?? [] };
    if (kind !== "operation") return plainLook(kind);
    const operation = stage.graphs[graph].operations[number] as Operation | undefined;
    if (!operation) return plainLook(fillOfNode(layout, i) ?? "operation"); // the first picture has no operations (first.ts)
    const fill = operation.region ? "region" : operation.move ? "move" : "operation";
    const opens = canOpen(operation) ? (frames.has(i) ? "open" : "closed") : undefined;
    if (frames.has(i) || inEach.get(graph)! > mostLooks) return plainLook(fill, opens);
    if (!(operation.placements ?? []).some((p) => p.digit || p.devices)) return plainLook(fill, opens);
    const devices = new Set(shardsOf(report, stage, operation).flatMap((shard) => shard.devices ?? []));
    return { fill, devices: [...devices].sort((a, b) => a - b), opens };
  });
}

// The operation of a node; of a shard, the one around it.
export function operationOf({ layout, refs }: Opened, node: number): number | null {
  const [kind, number] = layout.nodes[node];
  if (kind === "shard") return refs[node].parent === null ? null : layout.nodes[refs[node].parent!][1];
  return kind === "operation" ? number : null;
}

// The part of its operation's first result that a shard writes, as the panel Tensor numbers it.
export function partOfShard({ report, stage }: Store, scene: Opened, node: number): number | null {
  const { graph: number, shard } = scene.refs[node];
  const graph = stage.graphs[number];
  const operation = operationOf(scene, node);
  const value = operation === null ? undefined : graph.operations[operation].results[0];
  if (!shard || value === undefined) return null;
  const at = boxText(shard.points);
  const part = partsOf(report, stage, graph, value).findIndex(({ writers }) =>
    writers.some((writer) => writer.operation === operation && boxText(writer.shard.points) === at),
  );
  return part < 0 ? null : part;
}

// Nodes with this text in their names; what is inside a closed node counts for it.
export function foundNodes({ stage }: Store, { layout, refs, frames }: Opened, wanted: string): Set<number> {
  const has = (text: string): boolean => text.toLowerCase().includes(wanted);
  const inside = (number: number, operation: number): boolean => {
    const graph = stage.graphs[number];
    const { name, results, region } = graph.operations[operation];
    if (has(name) || results.some((value) => has(graph.values[value].name))) return true;
    return region !== undefined && stage.graphs[region.graph].operations.some((_, i) => inside(region.graph, i));
  };
  const found = layout.nodes.flatMap(([kind, number, , , , , lines], i) =>
    lines.some(has) || (kind === "operation" && !frames.has(i) && inside(refs[i].graph, number)) ? [i] : [],
  );
  return new Set(found);
}

// Shown shards that write what this shard reads.
export function shardsRead({ stage }: Store, scene: Opened, node: number): Set<number> {
  const found = new Set<number>();
  const { graph: number, shard } = scene.refs[node];
  const operation = operationOf(scene, node);
  if (!shard || operation === null) return found;
  const graph = stage.graphs[number];
  const reads = readsOf(stage, graph, graph.operations[operation], shard);
  scene.refs.forEach((ref, i) => {
    const writer = ref.shard && ref.graph === number ? operationOf(scene, i) : null;
    if (writer === null) return;
    const { operator, results } = graph.operations[writer];
    for (const access of stage.operators[operator].writes) {
      const written = bounds(access, ref.shard!.points);
      if (reads.some(({ value, box }) => value === results[access[0]] && (box.length === 0 || meet(box, written)))) found.add(i);
    }
  });
  return found;
}

const words: Record<string, string> = {
  input: "input",
  const: "constant",
  operation: "operation",
  region: "call, iterate or group",
  move: "move",
  output: "result",
};

// Only what the graph has.
export function legendItems({ looks, devices }: Scene, palette: Palette): Node[] {
  const there = new Set(looks.map((look) => look.fill));
  const box = (fill: string) =>
    svg(
      "svg",
      { width: 14, height: 12, "aria-hidden": "true" },
      svg("rect", { x: 1, y: 1, width: 12, height: 10, rx: 2, fill, stroke: palette.line }),
    );
  const items: Node[] = Object.keys(words).flatMap((kind) =>
    there.has(kind) ? [el("li", {}, box(palette.fills[kind]), words[kind])] : [],
  );
  if (looks.some((look) => look.opens)) items.push(el("li", {}, "▸ opens (Enter)"));
  if (looks.some((look) => look.devices.length > 0)) {
    const strip = svg("svg", { width: 34, height: 12, "aria-hidden": "true" });
    for (let i = 0; i < Math.min(4, devices); ++i)
      strip.append(svg("rect", { x: i * 8 + 1, y: 4, width: 7, height: 5, fill: colourOf(i, devices), stroke: palette.line, "stroke-width": 0.8 }));
    items.push(el("li", {}, strip, "its devices"));
  }
  return items;
}
