// The panel of the graph: pan, zoom, search, a small map, and a selection that the arrow keys lead along edges.
import { el, plural } from "./dom";
import { saveSvg, saveSvgAsPng } from "./export";
import { drawScene, paletteNow, sceneAsSvg, type Palette, type Scene, type View } from "./graph_draw";
import { legendItems, looksOf, trailItems } from "./graph_parts";
import type { Store } from "./store";

const map = { width: 180, height: 130 };
const largeGraph = 2000; // nodes
const mostPixels = 3000; // of the picture of a large graph, on its longer side

export class GraphView {
  readonly element: HTMLElement;
  private canvas = el("canvas", {
    tabindex: 0,
    role: "application",
    "aria-label":
      "Graph. Arrow keys select along edges, plus and minus zoom, 0 shows all, Enter opens, T shows the tensor.",
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
  private trail = el("nav", { "aria-label": "Enclosing graphs", class: "trail" });
  private view: View = { x: 0, y: 0, scale: 1 };
  private scene!: Scene;
  private palette!: Palette;
  private picture: HTMLCanvasElement | null = null; // of the small map
  private coarse: HTMLCanvasElement | null = null; // of a large graph, shown while it moves
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
        this.trail,
        this.legend,
        this.search,
        this.matches,
        button("−", "Zoom out", () => this.zoomBy(1 / 1.3)),
        button("+", "Zoom in", () => this.zoomBy(1.3)),
        button("All", "Show the whole graph", () => this.fit()),
        button("SVG", "Save the graph as SVG", () => saveSvg(sceneAsSvg(this.scene, this.palette), "graph.svg")),
        button("PNG", "Save the graph as PNG", () => {
          const { width, height } = this.scene.layout;
          saveSvgAsPng(sceneAsSvg(this.scene, this.palette), width, height, "graph.png");
        }),
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
      if (changed.has("stage") || changed.has("graph") || changed.has("theme")) this.prepare();
      else if (changed.has("op") || changed.has("value") || changed.has("find")) this.mark();
      if (changed.has("view") && store.state.view.length === 3) this.take(store.state.view);
      if (changed.has("panel") || (changed.has("op") && store.state.panel === "graph")) this.reveal();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.prepare());
  }

  private prepare(): void {
    const { graph, report } = this.store;
    this.palette = paletteNow();
    const looks = looksOf(this.store);
    const devices = Math.max(1, ...report.meshes.map((mesh) => mesh.devices));
    this.scene = { layout: graph.layout, looks, devices, selected: new Set(), related: new Set(), found: new Set() };
    this.picture = this.coarse = null;
    this.legend.replaceChildren(...legendItems(this.scene, this.palette));
    this.search.value = this.store.state.find;
    this.trail.replaceChildren(...trailItems(this.store));
    this.mark();
    if (this.store.state.view.length === 3) this.take(this.store.state.view);
    else this.fit();
  }

  private nodeOf(): number {
    const { op, value } = this.store.state;
    return this.scene.layout.nodes.findIndex(([kind, number]) =>
      kind === "operation" ? number === op : op === null && number === value,
    );
  }

  private mark(): void {
    const node = this.nodeOf();
    this.scene.selected = new Set(node < 0 ? [] : [node]);
    this.scene.related = new Set();
    if (node >= 0)
      this.scene.layout.edges.forEach(([from, to], i) => (from === node || to === node) && this.scene.related.add(i));
    const wanted = this.store.state.find.toLowerCase();
    const { graph } = this.store;
    const title = (index: number): string => {
      const [kind, number] = this.scene.layout.nodes[index];
      if (kind !== "operation") return graph.values[number].name;
      const operation = graph.operations[number];
      return [
        operation.name,
        ...operation.results.map((v) => graph.values[v].name),
        ...this.scene.layout.nodes[index][6],
      ].join("\n");
    };
    this.scene.found = new Set();
    if (wanted)
      this.scene.layout.nodes.forEach((_, i) => title(i).toLowerCase().includes(wanted) && this.scene.found.add(i));
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
    if (kind === "operation") this.store.selectOperation(number);
    else if (kind === "output") this.store.selectValue(number);
    else this.store.set({ op: null, value: number, shard: null, axes: [], at: [] });
    this.reveal();
  }

  private open(): void {
    const region = this.store.operation?.region;
    if (region) this.store.set({ graph: region.graph, op: null, value: null, shard: null, view: [] });
    else if (this.store.state.value !== null) this.store.set({ panel: "tensor" });
  }

  // The nearest node in that direction; up and down along edges where there are any.
  private step(dx: number, dy: number): void {
    const { nodes, edges } = this.scene.layout;
    const at = this.nodeOf();
    if (at < 0) {
      if (nodes.length > 0) this.select(0);
      return;
    }
    const centre = (i: number): [number, number] => [nodes[i][2] + nodes[i][4] / 2, nodes[i][3] + nodes[i][5] / 2];
    const [x, y] = centre(at);
    let candidates =
      dy > 0
        ? edges.filter((e) => e[0] === at).map((e) => e[1])
        : dy < 0
          ? edges.filter((e) => e[1] === at).map((e) => e[0])
          : [];
    if (dx !== 0)
      candidates = nodes.flatMap((_, i) => {
        const [cx, cy] = centre(i);
        return i !== at && (cx - x) * dx > 0 && Math.abs(cy - y) < 60 ? [i] : [];
      });
    const distance = (i: number): number => Math.hypot(centre(i)[0] - x, centre(i)[1] - y);
    candidates.sort((a, b) => distance(a) - distance(b));
    if (candidates.length > 0) this.select(candidates[0]);
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
        if (node >= 0) this.select(node);
        else this.store.set({ op: null, value: null, shard: null });
      }
      last = null;
    });
    this.canvas.addEventListener("dblclick", (event) => this.nodeAt(event.offsetX, event.offsetY) >= 0 && this.open());
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
    return this.scene.layout.nodes.findIndex(
      ([, , nx, ny, w, h]) => nx <= gx && gx <= nx + w && ny <= gy && gy <= ny + h,
    );
  }

  private zoomBy(factor: number, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2): void {
    const scale = Math.min(4, Math.max(0.02, this.view.scale * factor));
    this.move({
      x: this.view.x + x / this.view.scale - x / scale,
      y: this.view.y + y / this.view.scale - y / scale,
      scale,
    });
  }

  private fitted(): View {
    const { width, height } = this.scene.layout;
    const [w, h] = [Math.max(1, this.canvas.clientWidth), Math.max(1, this.canvas.clientHeight)];
    const scale = Math.min(1.4, Math.max(0.02, Math.min((w - 20) / width, (h - 20) / height)));
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
    const next = { x, y, scale: Math.min(4, Math.max(0.02, scale)) };
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

  private pictureAt(scale: number, width: number, height: number): HTMLCanvasElement {
    const picture = document.createElement("canvas");
    picture.width = width;
    picture.height = height;
    drawScene(picture.getContext("2d")!, this.scene, this.palette, { x: 0, y: 0, scale }, width, height);
    return picture;
  }

  // A large graph moves as a picture, and is drawn again where it stops.
  private drawCoarse(context: CanvasRenderingContext2D): void {
    const { width, height } = this.scene.layout;
    const scale = Math.min(1, mostPixels / width, mostPixels / height);
    this.coarse ??= this.pictureAt(scale, Math.ceil(width * scale), Math.ceil(height * scale));
    context.fillStyle = this.palette.background;
    context.fillRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    const { x, y, scale: shown } = this.view;
    context.imageSmoothingEnabled = false;
    context.drawImage(
      this.coarse,
      -x * shown,
      -y * shown,
      (this.coarse.width / scale) * shown,
      (this.coarse.height / scale) * shown,
    );
  }

  private draw(): void {
    const ratio = window.devicePixelRatio || 1;
    const context = this.canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.moving && this.scene.layout.nodes.length > largeGraph && this.view.scale < 0.5) this.drawCoarse(context);
    else drawScene(context, this.scene, this.palette, this.view, this.canvas.clientWidth, this.canvas.clientHeight);
    const [w, h] = [this.canvas.clientWidth / this.view.scale, this.canvas.clientHeight / this.view.scale];
    const { width, height } = this.scene.layout;
    this.small.hidden = this.view.x <= 0 && this.view.y <= 0 && this.view.x + w >= width && this.view.y + h >= height;
    if (this.small.hidden) return;
    const scale = this.mapScale();
    this.picture ??= this.pictureAt(scale, map.width, map.height);
    const small = this.small.getContext("2d")!;
    small.drawImage(this.picture, 0, 0);
    small.strokeStyle = this.palette.accent;
    small.lineWidth = 2;
    small.strokeRect(this.view.x * scale, this.view.y * scale, w * scale, h * scale);
  }
}
