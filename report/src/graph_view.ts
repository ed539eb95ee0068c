// The panel of the graph: pan, zoom, search, a small map, and a selection that the arrow keys lead along edges.
import { el, plural } from "./dom";
import type { Picture } from "./export";
import { allLinesFrom, cornerSize, drawScene, paletteNow, sceneAsSvg, type Palette, type Scene, type View } from "./graph_draw";
import { foundNodes, legendItems, looksOf, operationOf, partOfShard, shardsRead } from "./graph_parts";
import { nextNode } from "./graph_steps";
import { coarsePicture, drawCoarse, pictureOf, type CoarsePicture } from "./graph_pictures";
import { nodeCount } from "./layout";
import { canOpen, openedGraph, pathsAround } from "./opened";
import type { Store } from "./store";

const map = { width: 180, height: 130 };
const largeGraph = 2000; // nodes
const leastScale = 0.002;

export class GraphView {
  readonly element: HTMLElement;
  private canvas = el("canvas", {
    tabindex: 0,
    role: "application",
    "aria-label":
      "Graph. Arrow keys select along edges, plus and minus zoom, 0 shows all, Enter opens and closes, T shows the tensor.",
    "aria-describedby": "selection",
  });
  private small = el("canvas", { class: "map", width: map.width, height: map.height, "aria-hidden": "true" });
  private search = el("input", {
    type: "search",
    placeholder: "find",
    "aria-label": "Find an operation or a value",
    spellcheck: "false",
  });
  private legend = el("ul", { class: "legend", "aria-label": "Kinds of nodes" });
  private matches = el("span", { class: "faint", role: "status" });
  private current: number | null = null; // the selected node; others may show the same operation
  private view: View = { x: 0, y: 0, scale: 1 };
  private scene!: Scene;
  private palette!: Palette;
  private picture: HTMLCanvasElement | null = null; // of the small map
  private coarse: CoarsePicture | null = null; // of a large graph, shown while it moves
  private moving = false;
  private drawn = false;
  private frame = 0;
  private saving = 0;

  constructor(private store: Store) {
    const button = (label: string, title: string, action: () => void) =>
      el("button", { type: "button", title, "aria-label": title, click: action }, label);
    this.element = el(
      "section",
      { class: "graph", "aria-label": "Graph" },
      el(
        "div",
        { class: "bar" },
        this.legend,
        this.search,
        this.matches,
        button("−", "Zoom out", () => this.zoomBy(1 / 1.3)),
        button("+", "Zoom in", () => this.zoomBy(1.3)),
        button("All", "Show the whole graph", () => this.fit()),
      ),
      el("div", { class: "stack" }, this.canvas, this.small),
    );
    this.search.addEventListener("input", () => this.store.set({ find: this.search.value }));
    this.search.addEventListener(
      "keydown",
      (event) => event.key === "Enter" && this.nextMatch(event.shiftKey ? -1 : 1),
    );
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.listenToPointer();
    new ResizeObserver(() => this.resized()).observe(this.canvas);
    this.prepare();
    store.onChange((changed) => {
      if (changed.has("open")) this.reopen(changed.has("stage"));
      else if (changed.has("stage") || changed.has("theme")) this.prepare();
      else if (["graph", "op", "value", "shard", "find"].some((key) => changed.has(key as never))) this.mark();
      if (changed.has("view") && store.state.view.length === 3) this.take(store.state.view);
      if (changed.has("panel") || (changed.has("op") && store.state.panel === "graph")) this.reveal();
      this.showSelected();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.prepare());
  }

  savedPicture(): Picture {
    const { width, height } = this.scene.layout;
    return { text: sceneAsSvg(this.scene, this.palette), width, height, file: "graph" };
  }

  private prepare(): void {
    const { stage, report, state } = this.store;
    this.palette = paletteNow();
    const opened = openedGraph(report, stage, 0, new Set(state.open));
    const devices = Math.max(1, ...report.meshes.map((mesh) => mesh.devices));
    const none = { selected: new Set<number>(), related: new Set<number>(), found: new Set<number>(), lit: new Set<number>() };
    this.scene = { ...opened, looks: looksOf(this.store, opened), devices, ...none };
    this.current = null;
    this.picture = this.coarse = null;
    this.legend.replaceChildren(...legendItems(this.scene, this.palette));
    this.search.value = this.store.state.find;
    this.mark();
    if (this.store.state.view.length === 3) this.take(this.store.state.view);
    else this.fit();
  }

  private isSelected(node: number): boolean {
    const { graph, op, value, shard } = this.store.state;
    const [kind, number] = this.scene.layout.nodes[node];
    if (this.scene.refs[node].graph !== graph) return false;
    if (kind === "shard") return operationOf(this.scene, node) === op && shard !== null && partOfShard(this.store, this.scene, node) === shard;
    return kind === "operation" ? number === op : op === null && number === value;
  }
  private nodeOf(): number {
    if (this.store.state.op === null && this.store.state.value === null) return -1;
    if (this.current !== null && this.isSelected(this.current)) return this.current;
    const { nodes } = this.scene.layout;
    const shard = this.store.state.shard === null ? -1 : nodes.findIndex(([kind], i) => kind === "shard" && this.isSelected(i));
    return shard >= 0 ? shard : nodes.findIndex((_, i) => this.isSelected(i));
  }

  // A selection inside what is closed opens it.
  private showSelected(): void {
    const { state, stage } = this.store;
    if (state.panel !== "graph" || state.graph === 0 || (state.op === null && state.value === null) || this.nodeOf() >= 0) return;
    const open = [...new Set([...state.open, ...pathsAround(stage, state.graph)])];
    if (open.length > state.open.length) this.store.set({ open });
  }

  private mark(): void {
    const node = this.nodeOf();
    const { layout } = this.scene;
    this.scene.selected = new Set(node < 0 ? [] : [node]);
    this.scene.lit = node < 0 ? new Set() : shardsRead(this.store, this.scene, node);
    this.scene.related = new Set();
    if (node >= 0) layout.edges.forEach(([from, to], i) => (from === node || to === node) && this.scene.related.add(i));
    const wanted = this.store.state.find.toLowerCase();
    this.scene.found = wanted ? foundNodes(this.store, this.scene, wanted) : new Set();
    this.matches.textContent = wanted ? plural(this.scene.found.size, "match", "matches") : "";
    this.redraw();
  }

  private nextMatch(step: number): void {
    const found = [...this.scene.found];
    if (found.length === 0) return;
    const at = found.indexOf(this.nodeOf());
    this.select(found[(at < 0 ? (step > 0 ? 0 : found.length - 1) : at + step + found.length) % found.length]);
  }

  private select(node: number): void {
    const [kind, number] = this.scene.layout.nodes[node];
    const { graph } = this.scene.refs[node];
    const operation = operationOf(this.scene, node);
    this.current = node;
    if (operation !== null)
      this.store.selectOperation(operation, { graph, shard: kind === "shard" ? partOfShard(this.store, this.scene, node) : null });
    else this.store.set({ graph, op: null, value: number, shard: null, axes: [], at: [] });
    this.current = node;
    this.mark();
    this.reveal();
  }

  private open(): void {
    const { operation, state } = this.store;
    const node = this.nodeOf();
    if (operation && canOpen(operation) && node >= 0 && this.scene.layout.nodes[node][0] === "operation") this.toggle(node);
    else if (state.value !== null) this.store.set({ panel: "tensor" });
  }

  private pathOf = (node: number): string => this.scene.refs[node].path + this.scene.layout.nodes[node][1];
  private toggle(node: number): void {
    const path = this.pathOf(node);
    const isOpen = this.scene.frames.has(node);
    const { open } = this.store.state;
    // What was open inside is open again with it.
    this.store.set({ open: isOpen ? open.filter((other) => other !== path) : [...open, path] });
    this.matches.textContent = isOpen ? "closed" : "opened";
  }

  // Keeps the selected node where it is on the screen; an opened one is shown whole.
  private reopen(isOther: boolean): void {
    if (isOther || !this.drawn) return this.prepare();
    const before = this.nodeOf();
    const path = before < 0 ? null : this.pathOf(before);
    const at = before < 0 ? null : this.scene.layout.nodes[before];
    const { view } = this;
    const whole = this.store.state.view.length === 0;
    this.prepare();
    const after = path === null ? -1 : this.scene.layout.nodes.findIndex(([kind], i) => kind === "operation" && this.pathOf(i) === path);
    if (after < 0 || at === null) return;
    this.current = after;
    this.mark();
    const [, , x, y, w, h] = this.scene.layout.nodes[after];
    if (whole && this.view.scale >= allLinesFrom) return;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const scale = Math.min(Math.max(view.scale, allLinesFrom), Math.max(0.05, Math.min((width - 30) / w, (height - 30) / h)));
    if (!this.scene.frames.has(after)) this.move({ ...view, x: view.x + x + w / 2 - at[2] - at[4] / 2, y: view.y + y - at[3] });
    else this.move({ scale, x: x + w / 2 - width / 2 / scale, y: y + h / 2 - height / 2 / scale });
  }

  private step(dx: number, dy: number): void {
    const at = this.nodeOf();
    const next = at < 0 ? (this.scene.layout.nodes.length > 0 ? 0 : null) : nextNode(this.scene, at, dx, dy);
    if (next !== null) this.select(next);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Record<string, () => void> = {
      ArrowUp: () => this.step(0, -1),
      ArrowDown: () => this.step(0, 1),
      ArrowLeft: () => this.step(-1, 0),
      ArrowRight: () => this.step(1, 0),
      "+": () => this.zoomBy(1.3),
      "=": () => this.zoomBy(1.3),
      "-": () => this.zoomBy(1 / 1.3),
      "0": () => this.fit(),
      Enter: () => this.open(),
      t: () => this.store.state.value !== null && this.store.set({ panel: "tensor" }),
      Escape: () => this.store.set({ op: null, value: null, shard: null }),
      "/": () => this.search.focus(),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  private listenToPointer(): void {
    let last: { x: number; y: number; moved: boolean } | null = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      last = { x: event.clientX, y: event.clientY, moved: false };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!last) return;
      const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
      if (!last.moved && Math.hypot(dx, dy) < 4) return;
      last = { x: event.clientX, y: event.clientY, moved: true };
      this.move({ ...this.view, x: this.view.x - dx / this.view.scale, y: this.view.y - dy / this.view.scale });
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (last && !last.moved) {
        const node = this.nodeAt(event.offsetX, event.offsetY);
        if (node >= 0) {
          const inCorner = this.inCorner(node, event.offsetX, event.offsetY);
          this.select(node);
          if (inCorner) this.toggle(node);
        } else this.store.set({ op: null, value: null, shard: null });
      }
      last = null;
    });
    this.canvas.addEventListener("dblclick", (event) => {
      const node = this.nodeAt(event.offsetX, event.offsetY);
      if (node >= 0 && !this.inCorner(node, event.offsetX, event.offsetY)) this.open();
    });
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoomBy(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.offsetX, event.offsetY);
      },
      { passive: false },
    );
    const jump = (event: PointerEvent): void => {
      if (event.buttons === 0) return;
      const scale = this.mapScale();
      const [w, h] = [this.canvas.clientWidth / this.view.scale, this.canvas.clientHeight / this.view.scale];
      this.move({ ...this.view, x: event.offsetX / scale - w / 2, y: event.offsetY / scale - h / 2 });
    };
    this.small.addEventListener("pointerdown", jump);
    this.small.addEventListener("pointermove", jump);
  }

  private nodeAt(x: number, y: number): number {
    const [gx, gy] = [this.view.x + x / this.view.scale, this.view.y + y / this.view.scale];
    const { nodes } = this.scene.layout; // what is inside a frame follows it
    for (let i = nodes.length - 1; i >= 0; --i) {
      const [, , nx, ny, w, h] = nodes[i];
      if (nx <= gx && gx <= nx + w && ny <= gy && gy <= ny + h) return i;
    }
    return -1;
  }
  private inCorner(node: number, x: number, y: number): boolean {
    if (!this.scene.looks[node].opens || this.view.scale < 0.3) return false;
    const [, , nx, ny] = this.scene.layout.nodes[node];
    return this.view.x + x / this.view.scale - nx < cornerSize && this.view.y + y / this.view.scale - ny < cornerSize;
  }

  private zoomBy(factor: number, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2): void {
    const scale = Math.min(4, Math.max(leastScale, this.view.scale * factor));
    this.move({
      x: this.view.x + x / this.view.scale - x / scale,
      y: this.view.y + y / this.view.scale - y / scale,
      scale,
    });
  }

  private fitted(): View {
    const { width, height } = this.scene.layout;
    const [w, h] = [Math.max(1, this.canvas.clientWidth), Math.max(1, this.canvas.clientHeight)];
    const scale = Math.min(1.4, Math.max(leastScale, Math.min((w - 20) / width, (h - 20) / height)));
    return { x: width / 2 - w / 2 / scale, y: height / 2 - h / 2 / scale, scale };
  }
  private fit(): void {
    this.view = this.fitted();
    if (this.store.state.view.length > 0) this.store.set({ view: [] });
    this.redraw();
  }

  // Shows the selected node, if it is outside of what is shown.
  private reveal(): void {
    const node = this.nodeOf();
    const [w, h] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (node < 0 || w === 0) return;
    const [, , x, y, nw, nh] = this.scene.layout.nodes[node];
    const { scale } = this.view;
    const inside =
      x >= this.view.x && y >= this.view.y && x + nw <= this.view.x + w / scale && y + nh <= this.view.y + h / scale;
    if (!inside) this.move({ scale, x: x + nw / 2 - w / 2 / scale, y: y + nh / 2 - h / 2 / scale });
  }

  private take([x, y, scale]: number[]): void {
    const next = { x, y, scale: Math.min(4, Math.max(leastScale, scale)) };
    if (Math.abs(next.x - this.view.x) < 1 && Math.abs(next.y - this.view.y) < 1 && next.scale === this.view.scale)
      return;
    this.view = next;
    this.redraw();
  }
  // The address follows when the movement ends.
  private move(view: View): void {
    this.view = view;
    this.moving = true;
    this.redraw();
    clearTimeout(this.saving);
    this.saving = window.setTimeout(() => {
      this.moving = false;
      this.redraw();
      const { x, y, scale } = this.view;
      this.view = { x: Math.round(x), y: Math.round(y), scale: Number(scale.toFixed(4)) };
      this.store.set({ view: [this.view.x, this.view.y, this.view.scale] });
    }, 150);
  }

  private resized(): void {
    if (this.canvas.clientWidth === 0) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.canvas.clientWidth * ratio);
    this.canvas.height = Math.round(this.canvas.clientHeight * ratio);
    if (!this.drawn || this.store.state.view.length !== 3)
      this.view = this.store.state.view.length === 3 ? this.view : this.fitted();
    this.drawn = true;
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.draw();
  }

  // Not before the canvas has its size.
  private redraw(): void {
    if (this.frame || !this.drawn) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private mapScale(): number {
    return Math.min(map.width / this.scene.layout.width, map.height / this.scene.layout.height);
  }

  private showCoarse(context: CanvasRenderingContext2D): void {
    this.coarse ??= coarsePicture(this.scene, this.palette);
    drawCoarse(context, this.coarse, this.palette, this.view, this.canvas.clientWidth, this.canvas.clientHeight);
  }

  private draw(): void {
    const ratio = window.devicePixelRatio || 1;
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.moving && nodeCount(this.scene.layout) > largeGraph && this.view.scale < 0.5) this.showCoarse(context);
    else drawScene(context, this.scene, this.palette, this.view, this.canvas.clientWidth, this.canvas.clientHeight);
    const [w, h] = [this.canvas.clientWidth / this.view.scale, this.canvas.clientHeight / this.view.scale];
    const { width, height } = this.scene.layout;
    this.small.hidden = this.view.x <= 0 && this.view.y <= 0 && this.view.x + w >= width && this.view.y + h >= height;
    if (this.small.hidden) return;
    const scale = this.mapScale();
    this.picture ??= pictureOf(this.scene, this.palette, scale, map.width, map.height);
    const small = this.small.getContext("2d")!;
    small.drawImage(this.picture, 0, 0);
    small.strokeStyle = this.palette.accent;
    small.lineWidth = 2;
    small.strokeRect(this.view.x * scale, this.view.y * scale, w * scale, h * scale);
  }
}
