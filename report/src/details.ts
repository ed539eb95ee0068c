// The column beside every panel: what is selected, with its equation, index space, projections, shards and source.
import { differingDims, shardsOf, type Shard } from "./boxes";
import { devicesText } from "./colours";
import { bytesText, el, name, plural, redraw } from "./dom";
import { moveText, sourceLink } from "./lists";
import type { Operation, Operator } from "./model";
import type { Store } from "./store";
import { reasonText } from "./why_view";

const mostShown = 64; // shards

// A dim stays on one line with its range: dims are separated by several spaces.
const together = (dims: string): string => dims.replace(/(?<=\S) (?=\S)/g, "\u00a0");

export class Details {
  readonly element = el("aside", { id: "selection", "aria-label": "Selection", tabindex: 0 });

  constructor(private store: Store) {
    this.draw();
    store.onChange(
      (changed) => ["stage", "graph", "op", "value"].some((key) => changed.has(key as never)) && this.draw(),
    );
  }

  private draw(): void {
    const { operation, state } = this.store;
    const children = operation
      ? this.ofOperation(operation)
      : state.value !== null
        ? this.ofValue(state.value)
        : this.ofProgram();
    redraw(this.element, ...children.filter((child): child is HTMLElement => child instanceof HTMLElement));
  }

  private ofProgram(): (HTMLElement | false)[] {
    const { report, stage, graph } = this.store;
    return [
      el("h2", {}, name(graph.name)),
      el("p", {}, stage.about + "."),
      el("p", {}, `${plural(graph.operations.length, "operation")}, ${plural(graph.valueCount, "value")}.`),
      ...report.meshes.map((mesh) =>
        el(
          "p",
          {},
          "mesh ",
          name(mesh.name),
          ` [${mesh.axes.map((a) => `${a.name}: ${a.size}`).join(", ")}], ${plural(mesh.devices, "device")}`,
        ),
      ),
      report.plan !== null && el("p", {}, "plan ", name(report.plan)),
      ...report.left_out.map((what) => el("p", { class: "move" }, "Left out: " + what)),
      el("p", { class: "faint" }, "Select an operation or a value."),
    ];
  }

  private ofOperation(operation: Operation): (HTMLElement | false)[] {
    const { stage, report } = this.store;
    const op = stage.operators[operation.operator];
    const shards = shardsOf(report, stage, operation);
    const placed = (operation.placements ?? []).map(
      (p) => (p.dim === null ? "all" : op.dims[p.dim][0]) + " over " + p.over,
    );
    const { region } = operation;
    return [
      el("h2", {}, name(operation.name)),
      operation.move !== undefined &&
        el(
          "p",
          { class: "move" },
          moveText(operation) +
            (operation.move.devices < operation.move.of
              ? ` (of the first ${operation.move.devices} of ${operation.move.of} devices)`
              : " (the most that one device receives)"),
        ),
      this.equation(operation.text ?? op.text),
      placed.length > 0 && el("p", {}, `${plural(shards.length, "shard")}: ${placed.join(", ")}`),
      placed.length > 0 && this.shardTable(op, shards),
      region !== undefined &&
        el(
          "p",
          {},
          el(
            "button",
            {
              type: "button",
              click: () => this.store.openAround(region.graph),
            },
            `Open the ${region.kind} in the graph`,
          ),
        ),
      el("h3", {}, "Results"),
      this.values(operation.results),
      el("h3", {}, "Operands"),
      this.values(operation.operands),
      this.excerpt(operation.source),
    ];
  }

  // The dims that differ between shards.
  private shardTable(op: Operator, shards: Shard[]): HTMLElement {
    const differing = differingDims(op, shards);
    const head = ["on", ...differing.map((dim) => op.dims[dim][0])];
    const rows = shards
      .slice(0, mostShown)
      .map(({ points, devices }) =>
        el(
          "tr",
          {},
          el("td", {}, devicesText(devices)),
          ...differing.map((dim) => el("td", {}, `${points[dim][0]}..${points[dim][1]}`)),
        ),
      );
    return el(
      "details",
      { open: shards.length <= 16 },
      el("summary", {}, "index space of each"),
      el(
        "table",
        { class: "shards" },
        el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col" }, h)))),
        el("tbody", {}, ...rows),
      ),
      shards.length > mostShown && el("p", { class: "faint" }, `… and ${shards.length - mostShown} more`),
    );
  }

  private equation(text: string): HTMLElement {
    const [head, ...rest] = text.trimEnd().split("\n");
    return el(
      "div",
      {},
      el("pre", { class: "equation", tabindex: 0 }, head.replace(/^operator [^:\n]*: /, "")),
      el("pre", { class: "space", tabindex: 0 }, rest.map((line) => line.replace(/^ {2}/, "").replace(/^index.*/, together)).join("\n")),
    );
  }

  private ofValue(number: number): (HTMLElement | false)[] {
    const value = this.store.graph.values[number];
    return [el("h2", {}, name(value.name)), this.values([number]), this.excerpt(value.source)];
  }

  private values(numbers: number[]): HTMLElement {
    const { graph, report } = this.store;
    return el(
      "ul",
      { class: "boxes" },
      ...[...new Set(numbers)].map((number) => {
        const value = graph.values[number];
        const why = report.reasons.find((reason) => reason.value === graph.path + value.name);
        return el(
          "li",
          {},
          el(
            "button",
            {
              type: "button",
              class: "link",
              click: () => this.store.selectValue(number, { panel: "tensor" }),
            },
            name(value.name),
          ),
          ` ${value.type}, ${bytesText(value.bytes)}`,
          value.sharding && !why && ` ${value.sharding.text}`,
          why && el("details", {}, el("summary", {}, why.sharding === "not sharded" ? "not sharded" : `sharding ${why.sharding}`), reasonText(this.store, why.lines)),
        );
      }),
    );
  }

  private excerpt(source: Operation["source"]): HTMLElement | false {
    if (!source || source.length === 0) return false;
    const { files } = this.store.report;
    return el(
      "div",
      {},
      el("h3", {}, "Source"),
      ...source.map(([file, first, last]) =>
        el(
          "div",
          {},
          sourceLink(this.store, [[file, first, last]]),
          el(
            "pre",
            { tabindex: 0 },
            files[file].text
              .split(/\r\n|\r|\n/)
              .slice(first - 1, Math.min(last, first + 11))
              .join("\n"),
          ),
        ),
      ),
    );
  }
}
