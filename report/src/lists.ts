// The panels that are lists: passes and their rewrites, and tables of a graph.
import { el, bytesText, name, plural, redraw } from "./dom";
import type { Lines, Operation, Pass } from "./model";
import type { Store } from "./store";
import { timeText } from "./units";

export const mostRows = 2000;

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

  constructor(private store: Store) {
    this.draw();
    store.onChange(
      (changed) => ["panel", "stage", "graph", "op", "value"].some((key) => changed.has(key as never)) && this.draw(),
    );
  }

  private draw(): void {
    const { graph, state } = this.store;
    if (state.panel !== "table") return;
    const head = (...names: string[]) =>
      el("thead", {}, el("tr", {}, ...names.map((n) => el("th", { scope: "col" }, n))));
    const operations = graph.operations
      .slice(0, mostRows)
      .map((operation, i) =>
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
      .slice(0, mostRows)
      .map((value, i) =>
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
    const left = Math.max(0, graph.operations.length - mostRows) + Math.max(0, graph.values.length - mostRows);
    redraw(
      this.element,
      el("h2", {}, plural(graph.operations.length, "operation")),
      el(
        "table",
        { class: "operations" },
        head("Operation", "Reads", "Split over", "Move", "Source"),
        el("tbody", {}, ...operations),
      ),
      el("h2", {}, plural(graph.values.length, "value")),
      el("table", { class: "values" }, head("Value", "Type", "Sharding", "Size"), el("tbody", {}, ...values)),
      ...(left > 0
        ? [el("p", { class: "faint" }, `${left} more rows are not shown; the graph and the search show all`)]
        : []),
    );
  }
}
