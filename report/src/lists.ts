// The panels that are lists: passes and their rewrites, and tables of a graph.
import { el, bytesText, name, plural, redraw } from "./dom";
import type { Lines, Operation, Pass } from "./model";
import type { State } from "./state";
import type { Store } from "./store";
import { timeText } from "./units";

export const mostRows = 500; // shown together

// Leads through a list that is shown in parts.
export function pager(count: number, from: number, go: (from: number) => void, size = mostRows): HTMLElement | "" {
  if (count <= size) return "";
  const button = (label: string, to: number): HTMLElement =>
    el("button", { type: "button", disabled: to < 0 || to >= count, click: () => go(to) }, label);
  return el(
    "p",
    { class: "pager" },
    `rows ${from + 1} to ${Math.min(count, from + size)} of ${count} `,
    button("Rows before", from - size),
    " ",
    button("Rows after", from + size),
  );
}
export const partWith = (row: number | null, size = mostRows): number => (row === null ? 0 : Math.floor(row / size) * size);

export function sourceLink(store: Store, source: Lines[] | undefined): HTMLElement {
  const box = el("span", { class: "places" });
  for (const [file, first] of source ?? [])
    box.append(
      el(
        "button",
        { type: "button", class: "link", click: () => store.set({ panel: "source", file, line: first }) },
        el("bdi", {}, store.report.files[file].path.replace(/^.*\//, "").slice(-60)),
        `:${first}`,
      ),
      " ",
    );
  return box;
}

const operationLink = (store: Store, of: string): HTMLElement =>
  el("button", { type: "button", class: "link", click: () => store.showOperation(of) }, name(of));

function passItem(store: Store, pass: Pass): HTMLElement {
  const changed = pass.steps.length > 0;
  const count = pass.steps.reduce((sum, step) => sum + step.count, 0);
  const [before, after] = changed
    ? [pass.steps[0].operations[0], pass.steps[pass.steps.length - 1].operations[1]]
    : [0, 0];
  const head = el(
    "span",
    {},
    el("b", {}, pass.name),
    changed
      ? ` ${count > 0 ? plural(count, "rewrite") + ", " : ""}${before === after ? plural(after, "operation") : `${before} → ${after} operations`}`
      : " changed nothing",
    pass.milliseconds !== null && `, ${timeText(pass.milliseconds * 1e-3)}`,
    el("span", { class: "faint reason" }, pass.reason),
  );
  const rows = pass.steps.flatMap((step) =>
    step.rewrites.map((rewrite) =>
      el(
        "tr",
        {},
        el("td", {}, operationLink(store, rewrite.operation)),
        el("td", {}, rewrite.what),
        el("td", {}, ...[...new Set(rewrite.rules)].map((rule) => el("code", { class: "rule" }, rule))),
        el("td", {}, sourceLink(store, rewrite.source)),
      ),
    ),
  );
  for (const remark of pass.remarks)
    rows.push(
      el(
        "tr",
        { class: "remark" },
        el("td", {}, operationLink(store, remark.operation)),
        el("td", { colspan: 2 }, "left as it is: " + remark.message),
        el("td", {}, sourceLink(store, remark.source)),
      ),
    );
  if (rows.length === 0) return el("li", { class: changed ? null : "unchanged" }, head);
  const left = count - pass.steps.reduce((sum, step) => sum + step.rewrites.length, 0);
  return el(
    "li",
    {},
    el(
      "details",
      {},
      el("summary", {}, head),
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el("tr", {}, ...["Operation", "What", "Rules", "Source"].map((h) => el("th", { scope: "col" }, h))),
        ),
        el("tbody", {}, ...rows),
      ),
      left > 0 && el("p", { class: "faint" }, `${left} more are left out of the report`),
    ),
  );
}

// Made when it is first shown.
export function pipelineView(store: Store): HTMLElement {
  const section = el("section", { class: "list", "aria-label": "Pipeline" });
  const show = (): void => {
    if (store.state.panel === "pipeline" && section.childElementCount === 0) showPasses(store, section);
  };
  store.onChange(show);
  show();
  return section;
}

function showPasses(store: Store, section: HTMLElement): void {
  let list = el("ol", {});
  let stage = "";
  for (const pass of store.report.passes) {
    if (pass.stage !== stage) {
      stage = pass.stage;
      list = el("ol", {});
      section.append(el("h2", {}, stage), list);
    }
    list.append(passItem(store, pass));
  }
}

export const moveText = ({ move }: Operation): string =>
  move ? `${move.kind}, ${bytesText(move.bytes)}${move.axes.length > 0 ? " over " + move.axes.join(", ") : ""}` : "";

export class TableView {
  readonly element = el("section", { class: "list", "aria-label": "Table" });

  private from = { operations: 0, values: 0 }; // the first rows shown

  constructor(private store: Store) {
    this.showSelected();
    this.draw();
    store.onChange((changed) => {
      const any = (...keys: (keyof State)[]): boolean => keys.some((key) => changed.has(key));
      if (any("stage", "graph", "op", "value")) this.showSelected();
      if (any("panel", "stage", "graph", "op", "value")) this.draw();
    });
  }

  private showSelected(): void {
    const { op, value } = this.store.state;
    this.from = { operations: partWith(op), values: partWith(value) };
  }

  private draw(): void {
    const { graph, state } = this.store;
    if (state.panel !== "table") return;
    const { from } = this;
    const head = (...names: string[]) =>
      el("thead", {}, el("tr", {}, ...names.map((n) => el("th", { scope: "col" }, n))));
    const operations = graph.operations
      .slice(from.operations, from.operations + mostRows)
      .map((operation, k) => [operation, from.operations + k] as const)
      .map(([operation, i]) =>
        el(
          "tr",
          { class: i === state.op ? "selected" : null },
          el(
            "th",
            { scope: "row" },
            el(
              "button",
              { type: "button", class: "link", click: () => this.store.selectOperation(i) },
              name(operation.name),
            ),
          ),
          el("td", {}, ...operation.operands.flatMap((v, k) => [k > 0 && ", ", name(graph.values[v].name)])),
          el("td", {}, (operation.placements ?? []).map((p) => p.over).join(", ")),
          el("td", {}, moveText(operation)),
          el("td", {}, sourceLink(this.store, operation.source)),
        ),
      );
    const values = graph.values
      .slice(from.values, from.values + mostRows)
      .map((value, k) => [value, from.values + k] as const)
      .map(([value, i]) =>
        el(
          "tr",
          { class: i === state.value && state.op === null ? "selected" : null },
          el(
            "th",
            { scope: "row" },
            el("button", { type: "button", class: "link", click: () => this.store.selectValue(i) }, name(value.name)),
          ),
          el("td", {}, value.type),
          el("td", {}, value.sharding?.text ?? ""),
          el("td", { class: "number" }, bytesText(value.bytes)),
        ),
      );
    const leads = (of: "operations" | "values") => (first: number) => {
      this.from[of] = first;
      this.draw();
    };
    redraw(
      this.element,
      el("h2", {}, plural(graph.operations.length, "operation")),
      pager(graph.operations.length, from.operations, leads("operations")),
      el(
        "table",
        { class: "operations" },
        head("Operation", "Reads", "Split over", "Move", "Source"),
        el("tbody", {}, ...operations),
      ),
      el("h2", {}, plural(graph.values.length, "value")),
      pager(graph.values.length, from.values, leads("values")),
      el("table", { class: "values" }, head("Value", "Type", "Sharding", "Size"), el("tbody", {}, ...values)),
    );
  }
}
