// The panel of source texts: a click on a line selects the operations that come from it; the selected operation's lines
// are marked, those of its equation and those of the calls around it.
import { el } from "./dom";
import type { Store } from "./store";

const baseName = (path: string): string => path.replace(/^.*\/(?=.)/, "").slice(-80);

export class SourceView {
  readonly element = el("section", { class: "source", "aria-label": "Source" });

  constructor(private store: Store) {
    this.draw();
    store.onChange((changed) => {
      if (["panel", "file", "line", "op", "value", "stage", "graph"].some((key) => changed.has(key as never)))
        this.draw();
    });
  }

  private draw(): void {
    const { report, state, graph, operation } = this.store;
    if (state.panel !== "source") return;
    const frames = operation?.source ?? (state.value !== null ? graph.values[state.value].source : undefined) ?? [];
    const marked = new Set<number>();
    for (const [file, first, last] of frames)
      if (file === state.file) for (let n = first; n <= last; ++n) marked.add(n);
    const used = new Map<number, number>(); // line → operations
    for (const { source } of graph.operations)
      for (const [file, first] of source ?? []) if (file === state.file) used.set(first, (used.get(first) ?? 0) + 1);

    const files = el(
      "div",
      { class: "bar", role: "group", "aria-label": "Files" },
      ...report.files.map((file, i) =>
        el(
          "button",
          {
            type: "button",
            "aria-pressed": String(i === state.file),
            title: file.path,
            click: () => this.store.set({ file: i, line: null }),
          },
          el("bdi", {}, baseName(file.path)),
        ),
      ),
    );
    const list = el("ol", { class: "lines" });
    report.files[state.file].text.split(/\r\n|\r|\n/).forEach((text, index) => {
      const number = index + 1;
      const count = used.get(number) ?? 0;
      const code = el("code", {}, el("bdi", { dir: "ltr" }, text || " "));
      const line = el("li", {
        class: marked.has(number) ? "marked" : state.line === number ? "picked" : null,
        "data-line": number,
      });
      if (count === 0) line.append(el("span", { class: "count" }), code);
      else
        line.append(
          el("span", { class: "count", title: "operations from this line" }, String(count)),
          el(
            "button",
            { type: "button", class: "line", "aria-label": `Line ${number}: ${text}`, click: () => this.pick(number) },
            code,
          ),
        );
      list.append(line);
    });
    this.element.replaceChildren(files, list);
    const target = list.querySelector(".marked") ?? list.querySelector(".picked");
    target?.scrollIntoView({ block: "nearest" });
  }

  // Another click on the same line goes on to its next operation.
  private pick(line: number): void {
    const { state } = this.store;
    const operations = this.store.operationsAt(state.file, line);
    if (operations.length === 0) return;
    const at = state.op === null ? -1 : operations.indexOf(state.op);
    this.store.selectOperation(operations[(at + 1) % operations.length], { line });
  }
}
