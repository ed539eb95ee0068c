// The panel of source texts: a click on a line selects the operations that come from it; the selected operation's lines
// are marked, those of its equation and those of the calls around it. Beside it, the loop nest and the assembly of its kernels.
import { el, name, redraw, whenShown } from "./dom";
import type { Kernel } from "./model";
import type { Store } from "./store";

const baseName = (path: string): string => path.replace(/^.*\/(?=.)/, "").slice(-80);

export class SourceView {
  readonly element = el("section", { class: "source", "aria-label": "Source" });

  constructor(private store: Store) {
    this.draw();
    store.onChange((changed) => {
      if (["panel", "file", "line", "op", "value", "stage", "graph"].some((key) => changed.has(key as never)))
        this.draw();
      else if (changed.has("code")) this.markCode(true);
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
    const texts = report.files[state.file].text.split(/\r\n|\r|\n/);
    if (texts.length > 1 && texts.at(-1) === "") texts.pop(); // what ends the last line begins none
    texts.forEach((text, index) => {
      const number = index + 1;
      const count = used.get(number) ?? 0;
      const code = el("code", {}, el("bdi", { dir: "ltr" }, text || " "));
      const line = el("li", {
        class: marked.has(number) ? "marked" : state.line === number ? "picked" : null,
        "data-line": number,
      });
      line.append(el("span", { class: "number", "aria-hidden": "true" }, String(number)));
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
    redraw(this.element, el("div", { class: "text" }, files, list), this.code());
    this.markCode(false);
    whenShown(() => {
      (list.querySelector(".marked") ?? list.querySelector(".picked"))?.scrollIntoView({ block: "nearest" });
      this.markCode(true);
    });
  }

  private code(): HTMLElement {
    const { report, operation, graph } = this.store;
    const { kernels } = report;
    const part = (...children: (Node | string)[]) => el("div", { class: "code" }, ...children);
    if (!kernels)
      return part(el("p", { class: "faint" }, "With ", el("code", {}, "tapc inspect FILE --code -o report.html"), ", loop nests and assembly appear here."));
    if (!operation) return part(el("p", { class: "faint" }, "Select a line with a number: the loop nest and the assembly of its operation appear here."));
    const results = operation.results.map((value) => graph.path + graph.values[value].name);
    const own = kernels.flatMap((kernel, i) => (kernel.values.some((value) => results.includes(value)) ? [i] : []));
    if (own.length === 0)
      return part(el("p", { class: "faint" }, "No kernel computes ", name(operation.name), operation.move ? ": it is copied or sent." : " in this stage: see the last one."));
    return part(...own.flatMap((i) => this.kernel(kernels[i], i)));
  }

  // A kernel may compute several values: each leads to its operation.
  private kernel(kernel: Kernel, number: number): HTMLElement[] {
    const links = kernel.values.map((value) =>
      el("button", { type: "button", class: "link", click: () => this.selectValue(value) }, name(value)),
    );
    const listing = (title: string, text: string, kind: string, statements: number[]) => {
      const lines = text.trimEnd().split("\n");
      const pre = el(
        "pre",
        { tabindex: 0, "data-kernel": number, "aria-label": `${title} of kernel ${number}; arrow keys select statements` },
        ...lines.map((line, i) => el("span", { class: "statement", "data-statement": statements[i] || null }, line + "\n")),
      );
      this.listen(pre, number);
      return el("details", { open: true, class: kind }, el("summary", {}, `${title}, ${lines.length} lines`), pre);
    };
    return [
      el(
        "h3",
        {},
        `Kernel ${number} ${kernel.packs ? "packs an operand of" : "computes"} `,
        ...links.flatMap((link, i) => (i > 0 ? [", ", link] : [link])),
      ),
      listing("Loop nest", kernel.loops, "loops", kernel.loop_statements),
      listing("Assembly", kernel.assembly, "assembly", kernel.assembly_statements),
    ];
  }

  // A statement of a loop nest and the instructions that it became are marked together: when hovered, and when selected by a click
  // or the arrow keys.
  private listen(pre: HTMLElement, kernel: number): void {
    const statementAt = (target: EventTarget | null): number => {
      const line = target instanceof Element ? target.closest<HTMLElement>("[data-statement]") : null;
      return line ? Number(line.dataset.statement) : 0;
    };
    pre.addEventListener("pointerover", (event) => this.markCode(false, [kernel, statementAt(event.target)]));
    pre.addEventListener("pointerleave", () => this.markCode(false));
    pre.addEventListener("click", (event) => {
      const statement = statementAt(event.target);
      if (String(getSelection())) return; // of text
      this.store.set({ code: statement > 0 ? [kernel, statement] : [] });
    });
    pre.addEventListener("keydown", (event) => {
      const step = ({ ArrowDown: 1, ArrowUp: -1 } as Record<string, number>)[event.key];
      if (event.key === "Escape") this.store.set({ code: [] });
      if (!step) return;
      event.preventDefault();
      const last = Math.max(...this.store.report.kernels![kernel].loop_statements);
      const [own, statement] = this.store.state.code;
      const next = own === kernel ? statement + step : step > 0 ? 1 : last;
      this.store.set({ code: [kernel, Math.min(last, Math.max(1, next))] });
    });
  }

  private markCode(scrolls: boolean, [kernel, statement]: number[] = this.store.state.code): void {
    for (const line of this.element.querySelectorAll(".statement.marked")) line.classList.remove("marked");
    if (!statement) return;
    for (const pre of this.element.querySelectorAll<HTMLElement>(`pre[data-kernel="${kernel}"]`)) {
      const lines = pre.querySelectorAll<HTMLElement>(`[data-statement="${statement}"]`);
      for (const line of lines) line.classList.add("marked");
      if (scrolls && lines.length > 0) pre.scrollTop = lines[0].offsetTop - pre.offsetTop - pre.clientHeight / 3;
    }
  }

  // In the last stage that has it.
  private selectValue(name: string): void {
    for (let stage = this.store.report.stages.length - 1; stage >= 0; --stage) {
      const at = this.store.valueNamed(stage, name);
      if (!at) continue;
      this.store.set({ stage, ...at, shard: null, axes: [], at: [], open: [] });
      return;
    }
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
