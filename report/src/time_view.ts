// The panel "Time line": what ran when on each device, as measured and as predicted, with the critical path; the same as a
// table. Data: compiler/driver/metrics/time_line.h.
import { bytesText, el, name, plural, redraw, svg } from "./dom";
import type { Picture } from "./export";
import { mostRows, pager, partWith } from "./lists";
import type { TimeLine, TimePiece } from "./model";
import type { Store } from "./store";
import {
  axisHeight,
  bandsOf,
  canvasPen,
  drawTimes,
  gutter,
  heightOf,
  placeOf,
  svgOf,
  type Band,
  type Span,
  type TimeColours,
} from "./time_draw";
import { timeText } from "./units";

const allKinds = ["kernel", "outside", "copy", "fill", "transfer", "message", "wait"];
const tallest = 540; // pixels of the picture; more devices scroll

// The colours of style.css, by kind.
function coloursNow(): TimeColours {
  const style = getComputedStyle(document.documentElement);
  const of = (variable: string): string => style.getPropertyValue("--" + variable).trim();
  const kinds: Record<string, string> = {};
  for (const kind of allKinds) kinds[kind] = of("time-" + kind);
  return { background: of("canvas"), text: of("text"), faint: of("faint"), border: of("border"), accent: of("accent"), kinds };
}
const us = (microseconds: number): string => timeText(microseconds * 1e-6);

interface Times {
  began: number;
  took: number; // of all workers
  measured: boolean; // critical
  predicted: boolean;
}
function timesOf(line: TimeLine): Times[] {
  const times = line.events.map((): Times => ({ began: Infinity, took: 0, measured: false, predicted: false }));
  for (const [event, , began, ended, critical] of line.measured) {
    const of = times[event];
    of.began = Math.min(of.began, began);
    of.took += ended - began;
    of.measured ||= critical === 1;
  }
  for (const [event, , , , critical] of line.predicted) times[event].predicted ||= critical === 1;
  return times;
}
const criticalText = ({ measured, predicted }: Times): string =>
  [measured && "measured", predicted && "predicted"].filter(Boolean).join(", ");

export class TimeView {
  readonly element = el("section", { class: "list time", "aria-label": "Time line" });
  private canvas = el("canvas", {
    tabindex: 0,
    role: "application",
    "aria-label":
      "Time line. Left and right select what ran before and after on the device, up and down another device; plus and minus zoom, 0 shows all.",
    "aria-describedby": "timed",
  });
  private scroller = el("div", { class: "times" });
  private about = el("p", { id: "timed", role: "status" });
  private table = el("tbody", {});
  private line: TimeLine | null;
  private bands: Band[] = [];
  private times: Times[] = [];
  private made = false;
  private from = 0; // the first row of the table
  private parts = el("div", {}); // leads to the other rows
  private frame = 0;

  constructor(private store: Store) {
    this.line = store.report.time_line;
    if (!this.line) return;
    store.onChange((changed) => {
      if (["panel", "event", "time", "theme"].some((key) => changed.has(key as never))) this.show(changed.has("event"));
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    this.show(false);
  }

  // Made when it is first shown.
  private show(reveal: boolean): void {
    if (this.store.state.panel !== "time" || !this.line) return;
    if (!this.made) this.make(this.line);
    const { event } = this.store.state;
    this.describe();
    if (reveal && event !== null) this.reveal(event);
    if (reveal && event !== null && partWith(event) !== this.from) this.list(partWith(event));
    this.markRow();
    this.redraw();
  }

  savedPicture(): Picture {
    const width = 1200;
    return { ...svgOf(this.scene(), coloursNow(), this.span(), width), width, file: "times" };
  }

  private markRow(): void {
    const { event } = this.store.state;
    for (const row of this.table.rows) row.classList.toggle("selected", row.dataset.event === String(event));
  }

  private make(line: TimeLine): void {
    this.made = true;
    this.bands = bandsOf(line);
    this.times = timesOf(line);
    const button = (label: string, title: string, action: () => void) =>
      el("button", { type: "button", title, "aria-label": title, click: action }, label);
    const spacer = el("div");
    this.scroller.append(this.canvas, spacer);
    // Scrolls the canvas, which is as large as what is seen of it.
    const total = axisHeight + heightOf(this.bands);
    this.scroller.style.height = `${Math.min(total + 2, tallest)}px`;
    spacer.style.height = `${Math.max(0, total - tallest)}px`;
    this.scroller.addEventListener("scroll", () => this.redraw());
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.listenToPointer();
    new ResizeObserver(() => this.redraw()).observe(this.scroller);
    const ratio = line.predicted_us > 0 ? ` (${(line.measured_us / line.predicted_us).toPrecision(2)} times as long)` : "";
    this.element.append(
      el(
        "div",
        { class: "bar" },
        this.legend(line),
        button("−", "Zoom out", () => this.zoomBy(1 / 1.5)),
        button("+", "Zoom in", () => this.zoomBy(1.5)),
        button("All", "Show all times", () => this.store.set({ time: [] })),
      ),
      el(
        "p",
        {},
        name(line.file),
        `: ${us(line.measured_us)} measured, ${us(line.predicted_us)} predicted${ratio}. For each device, the measured times are above the predicted ones.`,
      ),
      line.kept < line.count
        ? el("p", { class: "move" }, `Left out: ${line.count - line.kept} of ${line.count} recorded times, those after the first batches`)
        : "",
      this.scroller,
      this.about,
      this.listed(line),
    );
  }

  private legend(line: TimeLine): HTMLElement {
    const there = new Set(line.events.map(([, kind]) => kind));
    const words: Record<string, string> = { outside: "outside kernel", wait: "wait for messages" };
    const item = (below: string, text: string) =>
      el(
        "li",
        {},
        svg(
          "svg",
          { width: 16, height: 12, "aria-hidden": "true" },
          below === "critical"
            ? svg("rect", { x: 0, y: 5, width: 16, height: 3, class: "time-critical" })
            : svg("rect", { x: 0, y: 1, width: 16, height: 10, class: "time-" + below }),
        ),
        text,
      );
    const kinds = allKinds.filter((kind) => there.has(kind));
    return el("ul", { class: "legend", "aria-label": "Kinds" }, ...kinds.map((kind) => item(kind, words[kind] ?? kind)), item("critical", "critical path"));
  }

  private listed(line: TimeLine): HTMLElement {
    const head = ["Operation", "What", "Box", "Process", "Device", "Began", "Took", "Predicted", "Bytes", "Critical path"];
    this.list(partWith(this.store.state.event));
    return el(
      "div",
      {},
      el("h2", {}, plural(line.events.length, "task and transfer", "tasks and transfers")),
      this.parts,
      el(
        "table",
        { class: "timed" },
        el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col" }, h)))),
        this.table,
      ),
    );
  }

  // The rows from this one on.
  private list(from: number): void {
    this.from = from;
    const { events } = this.line!;
    redraw(this.parts, pager(events.length, from, (first) => this.list(first)));
    this.table.replaceChildren(...events.slice(from, from + mostRows).map((_, k) => this.rowOf(from + k)));
    this.markRow();
  }

  private rowOf(event: number): HTMLElement {
    const { events, rows } = this.line!;
    const [row, kind, of, what, box, bytes, predicted] = events[event];
    const [process, device] = rows[row];
    const times = this.times[event];
    return el(
      "tr",
      { "data-event": event },
      el("th", { scope: "row" }, el("button", { type: "button", class: "link", click: () => this.select(event) }, name(of))),
      el("td", {}, kind === "wait" ? "" : what),
      el("td", {}, box),
      el("td", { class: "number" }, String(process)),
      el("td", { class: "number" }, device === null ? "" : String(device)),
      el("td", { class: "number" }, us(times.began)),
      el("td", { class: "number" }, us(times.took)),
      el("td", { class: "number" }, predicted === null ? "" : us(predicted)),
      el("td", { class: "number" }, bytesText(bytes)),
      el("td", {}, criticalText(times)),
    );
  }

  private describe(): void {
    const { event } = this.store.state;
    if (event === null) {
      this.about.replaceChildren("Select a bar to see what it is; drag to move in time.");
      return;
    }
    const [row, , of, what, box, bytes, predicted, batch] = this.line!.events[event];
    const [process, device] = this.line!.rows[row];
    const times = this.times[event];
    const parts = this.line!.measured.filter(([e]) => e === event).length;
    const trips = batch.slice(2);
    this.about.replaceChildren(
      name(of),
      ` ${what} ${box}, ${device === null ? `process ${process}` : `device ${device} of process ${process}`}, batch ${batch[1]}${trips.length > 0 ? ` of trip ${trips.join(", ")}` : ""}: ` +
        `${us(times.took)} measured${parts > 1 ? ` in ${parts} parts` : ""} from ${us(times.began)} on, ` +
        `${predicted === null ? "no prediction" : us(predicted) + " predicted"}, ${bytesText(bytes)}` +
        (criticalText(times) ? `; on the critical path as ${criticalText(times).replace(", ", " and as ")}` : ""),
    );
  }

  private select(event: number): void {
    const of = this.line!.events[event][2];
    const { stages } = this.store.report;
    const stage = stages.length - 1;
    const graph = stages[stage].graphs.findIndex((g) => g.values.some((value) => value.name === of));
    const value = graph < 0 ? -1 : stages[stage].graphs[graph].values.findIndex((v) => v.name === of);
    if (value < 0) return this.store.set({ event });
    const op = stages[stage].graphs[graph].operations.findIndex((operation) => operation.results.includes(value));
    this.store.set({ event, stage, graph, value, op: op < 0 ? null : op, shard: null, axes: [], at: [] });
  }

  private span(): Span {
    const { time } = this.store.state;
    const end = Math.max(this.line!.measured_us, this.line!.predicted_us, 1e-3);
    return time.length === 2 ? { from: time[0], to: time[1] } : { from: 0, to: end * 1.01 };
  }
  private setSpan({ from, to }: Span): void {
    const all = Math.max(this.line!.measured_us, this.line!.predicted_us, 1e-3) * 1.01;
    const length = Math.min(all, Math.max(to - from, all / 1e5));
    const begin = Math.min(Math.max(0, from), all - length);
    const round = (n: number): number => Number(n.toPrecision(7));
    this.store.set({ time: length >= all ? [] : [round(begin), round(begin + length)] });
  }
  private zoomBy(factor: number, at = 0.5): void {
    const { from, to } = this.span();
    const length = (to - from) / factor;
    const fixed = from + (to - from) * at;
    this.setSpan({ from: fixed - length * at, to: fixed + length * (1 - at) });
  }

  private reveal(event: number): void {
    const { from, to } = this.span();
    const { began, took } = this.times[event];
    if (Number.isFinite(began) && (began < from || began > to))
      this.setSpan({ from: began + took / 2 - (to - from) / 2, to: began + took / 2 + (to - from) / 2 });
    const band = this.bands[this.line!.events[event][0]];
    const top = this.scroller.scrollTop;
    const seen = this.scroller.clientHeight - axisHeight;
    if (band.top < top || band.top + band.height > top + seen) this.scroller.scrollTop = Math.max(0, band.top - seen / 3);
  }

  // Events of a device in the order of their times.
  private step(along: number, across: number): void {
    const line = this.line!;
    const { event } = this.store.state;
    const order = [...new Set(line.measured.map(([e]) => e))];
    if (order.length === 0) return;
    if (event === null) return this.select(order[0]);
    const row = line.events[event][0];
    if (along !== 0) {
      const own = order.filter((e) => line.events[e][0] === row);
      const next = own[own.indexOf(event) + along];
      if (next !== undefined) this.select(next);
      return;
    }
    const other = order.filter((e) => line.events[e][0] === row + across);
    const distance = (e: number): number => Math.abs(this.times[e].began - this.times[event].began);
    if (other.length > 0) this.select(other.reduce((best, e) => (distance(e) < distance(best) ? e : best)));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.step(-1, 0),
      ArrowRight: () => this.step(1, 0),
      ArrowUp: () => this.step(0, -1),
      ArrowDown: () => this.step(0, 1),
      "+": () => this.zoomBy(1.5),
      "=": () => this.zoomBy(1.5),
      "-": () => this.zoomBy(1 / 1.5),
      "0": () => this.store.set({ time: [] }),
      Enter: () => this.store.state.op !== null && this.store.set({ panel: "graph" }),
      Escape: () => this.store.set({ event: null }),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  private listenToPointer(): void {
    let last: { x: number; moved: boolean } | null = null;
    const perPixel = (): number => (this.span().to - this.span().from) / Math.max(1, this.canvas.clientWidth - gutter - 12);
    this.canvas.addEventListener("pointerdown", (event) => {
      last = { x: event.clientX, moved: false };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!last) return;
      const dx = event.clientX - last.x;
      if (!last.moved && Math.abs(dx) < 4) return;
      last = { x: event.clientX, moved: true };
      const { from, to } = this.span();
      this.setSpan({ from: from - dx * perPixel(), to: to - dx * perPixel() });
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (last && !last.moved) {
        const at = this.eventAt(event.offsetX, event.offsetY);
        if (at === null) this.store.set({ event: null });
        else this.select(at);
      }
      last = null;
    });
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.shiftKey) return; // scrolls
        event.preventDefault();
        const share = (event.offsetX - gutter) / Math.max(1, this.canvas.clientWidth - gutter - 12);
        this.zoomBy(Math.exp(-(event.deltaY + event.deltaX) * 0.002), Math.min(1, Math.max(0, share)));
      },
      { passive: false },
    );
  }

  private eventAt(x: number, y: number): number | null {
    const line = this.line!;
    const { from, to } = this.span();
    const scale = (this.canvas.clientWidth - gutter - 12) / (to - from);
    const time = from + (x - gutter) / scale;
    const down = y - axisHeight + this.scroller.scrollTop;
    const hit = (pieces: TimePiece[], isMeasured: boolean): TimePiece | undefined =>
      pieces.find((piece) => {
        const [top, h] = placeOf(line, this.bands, piece, isMeasured);
        return top <= down + 1 && down - 1 <= top + h && piece[2] - 2 / scale <= time && time <= piece[3] + 2 / scale;
      });
    return (hit(line.measured, true) ?? hit(line.predicted, false))?.[0] ?? null;
  }

  private scene() {
    const devices = Math.max(1, ...this.store.report.meshes.map((mesh) => mesh.devices));
    return { line: this.line!, bands: this.bands, devices, selected: this.store.state.event };
  }

  private redraw(): void {
    if (this.frame || !this.made) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const ratio = window.devicePixelRatio || 1;
      const [width, height] = [this.scroller.clientWidth, this.scroller.clientHeight];
      if (width === 0) return;
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      const context = this.canvas.getContext("2d")!;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawTimes(canvasPen(context), this.scene(), coloursNow(), this.span(), { width, height, top: this.scroller.scrollTop });
    });
  }
}
