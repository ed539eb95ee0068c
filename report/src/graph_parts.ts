// What the panel of the graph says about nodes: how each looks, the legend, and the graphs around the shown one.
import { shardsOf } from "./boxes";
import { colourOf } from "./colours";
import { el, svg } from "./dom";
import type { NodeLook, Palette, Scene } from "./graph_draw";
import type { Store } from "./store";

const mostLooks = 3000; // nodes whose devices are part of the picture

export function looksOf({ graph, stage, report }: Store): NodeLook[] {
  return graph.layout.nodes.map(([kind, number]): NodeLook => {
    if (kind !== "operation") return { fill: kind, devices: [] };
    const operation = graph.operations[number];
    const fill = operation.region ? "region" : operation.move ? "move" : "operation";
    const placed = (operation.placements ?? []).some((p) => p.digit || p.devices);
    if (!placed || graph.operations.length > mostLooks) return { fill, devices: [] };
    const devices = new Set(shardsOf(report, stage, operation).flatMap((shard) => shard.devices ?? []));
    return { fill, devices: [...devices].sort((a, b) => a - b) };
  });
}

const words: Record<string, string> = {
  input: "input",
  const: "constant",
  operation: "operation",
  region: "opens (Enter)",
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
  if (looks.some((look) => look.devices.length > 0)) {
    const strip = svg("svg", { width: 34, height: 12, "aria-hidden": "true" });
    for (let i = 0; i < Math.min(4, devices); ++i)
      strip.append(svg("rect", { x: i * 8, y: 4, width: 7, height: 5, fill: colourOf(i, devices) }));
    items.push(el("li", {}, strip, "its devices"));
  }
  return items;
}

// From the main graph to the shown one.
export function trailItems(store: Store): Node[] {
  const { graphs } = store.stage;
  if (graphs.length === 1) return [];
  const { path } = store.graph;
  const enclosing = graphs.flatMap((graph, i) => (path.startsWith(graph.path) ? [i] : []));
  return enclosing.map((i) =>
    el(
      "button",
      {
        type: "button",
        "aria-current": i === store.state.graph ? "true" : null,
        click: () => store.set({ graph: i, op: null, value: null, shard: null, view: [] }),
      },
      graphs[i].path === "" ? "main" : graphs[i].path,
    ),
  );
}
