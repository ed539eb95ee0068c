// The panel of one value: a grid of its parts. The part that is hovered, focused or selected shows what it reads, which
// parts overlap it, and who reads it.
import { moveFrom, placesIn } from "./animate";
import { boxText, meet, mostShards, partsOf, readersOf, readsOf, shardsOf, type Box, type Part } from "./boxes";
import { devicesText } from "./colours";
import { el, name, plural, redraw } from "./dom";
import { svgTextOf, type Picture } from "./export";
import { grid, inSlice, raise, usualAxes } from "./grid";
import type { Store } from "./store";

interface Related {
  reads: Map<number, { boxes: Box[]; lit: Set<number>; parts: Part[] }>; // by value
  overlaps: number[]; // other parts of the same value
  readers: { operation: number; devices: number[] | null; box: Box }[];
}

const mostReaders = 64;

export class TensorView {
  readonly element = el("section", { class: "tensor", "aria-label": "Tensor" });
  private side = el("div", { class: "related", "aria-live": "polite" });
  private main = el("div", { class: "main" });
  private shown: number | null = null; // the part that is hovered
  private parts: Part[] = [];
  private drawn: { stage: number; name: string } | null = null;

  constructor(private store: Store) {
    this.element.append(this.main, this.side);
    this.draw();
    store.onChange((changed) => {
      if (["stage", "graph", "value", "axes", "at", "shard", "panel"].some((key) => changed.has(key as never)))
        this.draw();
    });
  }

  // The grid; nothing while no value is picked.
  savedPicture(): Picture | null {
    const { state, graph } = this.store;
    const picture = this.main.querySelector<SVGSVGElement>("svg.grid");
    if (!picture || state.value === null) return null;
    const of = graph.values[state.value].name;
    const [text, width, height] = svgTextOf(picture);
    return { text, width, height, file: /^[\w.]{1,60}$/.test(of) ? of : "tensor" };
  }

  private draw(): void {
    const { state, graph, stage, report } = this.store;
    if (state.panel !== "tensor") return;
    if (state.value === null) {
      redraw(this.main, this.picker(), el("p", { class: "faint" }, "Pick a value to see its shards."));
      this.side.replaceChildren();
      return;
    }
    const value = graph.values[state.value];
    this.parts = partsOf(report, stage, graph, state.value);
    const axes = this.axes();
    this.shown = state.shard !== null && state.shard < this.parts.length ? state.shard : null;
    const inside = this.parts.filter((part) => inSlice(part.box, axes, state.at)).length;
    const steps = this.drawn?.name === value.name && this.drawn.stage !== state.stage;
    const before = placesIn(steps ? this.main.querySelector("svg.grid") : null);
    const picture = this.picture();
    this.drawn = { stage: state.stage, name: value.name };
    redraw(
      this.main,
      el("div", { class: "bar" }, this.picker(), ...this.axisControls(axes)),
      el(
        "p",
        { class: "faint" },
        name(value.name),
        `: ${value.type}, ${value.sharding?.text ?? "no sharding of its own"}; ${plural(this.parts.length, "box", "boxes")}` +
          (inside < this.parts.length ? `, ${inside} in this slice` : "") +
          (this.deviceCount() > mostShards ? `; of the first ${mostShards} of ${this.deviceCount()} devices` : ""),
      ),
      ...this.sliders(axes),
      picture,
      el("p", { class: "faint hint" }, "Hover or focus a box; arrow keys walk through them; Enter keeps one."),
    );
    moveFrom(before, picture);
    this.showRelated();
  }

  private axes(): number[] {
    const { state, graph } = this.store;
    const { shape } = graph.values[state.value!];
    const given = state.axes.filter((axis) => Number.isInteger(axis) && axis >= 0 && axis < shape.length);
    return new Set(given).size === Math.min(2, shape.length) ? given : usualAxes(shape, this.parts);
  }

  private picture(): SVGSVGElement {
    const { state, graph } = this.store;
    const value = graph.values[state.value!];
    const overlaps = this.shown === null ? [] : this.related(this.shown).overlaps;
    return grid({
      shape: value.shape,
      parts: this.parts,
      axes: this.axes(),
      at: state.at,
      devices: this.deviceCount(),
      width: 520,
      height: 420,
      title: `Boxes of ${value.name}`,
      lit: new Set(overlaps),
      focus: this.shown,
      onHover: (part) => this.hover(part),
      onSelect: (part) => this.store.set({ shard: this.store.state.shard === part ? null : part }),
    });
  }

  // Only classes change: the focused element stays the same.
  private hover(part: number | null): void {
    if (part === this.shown) return;
    this.shown = part;
    const overlaps = new Set(part === null ? [] : this.related(part).overlaps);
    for (const cell of this.main.querySelectorAll("g.part")) {
      const number = Number(cell.getAttribute("data-part"));
      cell.classList.toggle("focus", number === part);
      if (number === part) raise(cell.closest("svg")!, cell as SVGGElement);
      cell.classList.toggle("lit", overlaps.has(number));
      cell.setAttribute("tabindex", number === part ? "0" : "-1");
    }
    this.showRelated();
  }

  private related(number: number): Related {
    const { state, graph, stage, report } = this.store;
    const part = this.parts[number];
    const reads: Related["reads"] = new Map();
    for (const { operation, shard } of part.writers)
      for (const { value, box } of readsOf(stage, graph, graph.operations[operation], shard)) {
        const entry = reads.get(value) ?? { boxes: [], lit: new Set(), parts: partsOf(report, stage, graph, value) };
        if (!entry.boxes.some((other) => boxText(other) === boxText(box))) entry.boxes.push(box);
        entry.parts.forEach((other, i) => meet(other.box, box) && entry.lit.add(i));
        reads.set(value, entry);
      }
    const overlaps = this.parts.flatMap((other, i) => (i !== number && meet(other.box, part.box) ? [i] : []));
    const readers: Related["readers"] = [];
    for (const reader of readersOf(graph, state.value!))
      for (const shard of shardsOf(report, stage, graph.operations[reader]))
        for (const { value, box } of readsOf(stage, graph, graph.operations[reader], shard))
          if (value === state.value && meet(box, part.box))
            readers.push({ operation: reader, devices: shard.devices, box });
    return { reads, overlaps, readers };
  }

  private showRelated(): void {
    if (this.shown === null) {
      this.side.replaceChildren();
      return;
    }
    const { graph, state } = this.store;
    const part = this.parts[this.shown];
    const related = this.related(this.shown);
    const readGrids = [...related.reads].map(([value, { boxes, lit, parts }]) => {
      const operand = graph.values[value];
      return el(
        "div",
        { class: "operand", "data-value": operand.name },
        el("h4", {}, name(operand.name), ` ${operand.type}`),
        grid({
          shape: operand.shape,
          parts,
          axes: usualAxes(operand.shape, parts),
          at: boxes[0].map(([lo]) => lo),
          devices: this.deviceCount(),
          width: 300,
          height: 170,
          title: `What it reads of ${operand.name}`,
          lit,
          dimmed: true,
          outlines: boxes,
        }),
        el(
          "ul",
          { class: "boxes" },
          ...boxes.map((box) => el("li", { class: "read-box", "data-box": boxText(box) }, "reads " + boxText(box))),
          ...[...lit].map((i) =>
            el(
              "li",
              {
                class: "lit-part",
                "data-box": boxText(parts[i].box),
                "data-devices": parts[i].devices?.join() ?? "all",
              },
              `of ${boxText(parts[i].box)} on ${devicesText(parts[i].devices)}`,
            ),
          ),
        ),
      );
    });
    const readers = related.readers.slice(0, mostReaders);
    const children: (HTMLElement | false)[] = [
      el("h3", {}, name(graph.values[state.value!].name), ` ${boxText(part.box)}`),
      el("p", { class: "faint" }, `on ${devicesText(part.devices)}`),
      related.reads.size > 0 && el("h3", {}, "Reads"),
      ...readGrids,
      related.overlaps.length > 0 &&
        el(
          "div",
          { class: "overlaps" },
          el("h3", {}, "Overlaps"),
          el(
            "ul",
            { class: "boxes" },
            ...related.overlaps.map((i) =>
              el(
                "li",
                { "data-box": boxText(this.parts[i].box) },
                `${boxText(this.parts[i].box)} on ${devicesText(this.parts[i].devices)}`,
              ),
            ),
          ),
        ),
      related.readers.length > 0 && el("h3", {}, "Read by"),
      related.readers.length > 0 &&
        el(
          "ul",
          { class: "boxes readers" },
          ...readers.map(({ operation, devices, box }) =>
            el(
              "li",
              {
                "data-operation": graph.operations[operation].name,
                "data-box": boxText(box),
                "data-devices": devices?.join() ?? "all",
              },
              name(graph.operations[operation].name),
              ` on ${devicesText(devices)}, which reads ${boxText(box)}`,
            ),
          ),
          readers.length < related.readers.length &&
            el("li", {}, `… and ${related.readers.length - readers.length} more`),
        ),
    ];
    this.side.replaceChildren(...children.filter((child): child is HTMLElement => child instanceof HTMLElement));
  }

  private deviceCount(): number {
    return Math.max(1, ...this.store.report.meshes.map((mesh) => mesh.devices));
  }

  private picker(): HTMLElement {
    const { state, graph } = this.store;
    const select = el("select", {
      "aria-label": "Value",
      change: (event) => this.store.selectValue(Number((event.target as HTMLSelectElement).value)),
    });
    if (state.value === null) select.append(el("option", { value: "", selected: true }, "a value …"));
    graph.values.forEach((value, i) =>
      select.append(
        el(
          "option",
          { value: i, selected: i === state.value },
          value.name.length > 60 ? value.name.slice(0, 60) + "…" : value.name,
        ),
      ),
    );
    return select;
  }

  private axisControls(axes: number[]): HTMLElement[] {
    const { shape } = this.store.graph.values[this.store.state.value!];
    if (shape.length < 2) return [];
    return ["rows", "columns"].map((what, index) => {
      const select = el("select", {
        "aria-label": what,
        change: (event) => {
          const next = [...axes];
          const axis = Number((event.target as HTMLSelectElement).value);
          if (next[1 - index] === axis) next[1 - index] = next[index];
          next[index] = axis;
          this.store.set({ axes: next });
        },
      });
      shape.forEach((n, axis) =>
        select.append(el("option", { value: axis, selected: axes[index] === axis }, `${what}: axis ${axis} (${n})`)),
      );
      return select;
    });
  }

  private sliders(axes: number[]): HTMLElement[] {
    const { state, graph } = this.store;
    const { shape } = graph.values[state.value!];
    return shape.flatMap((extent, axis) => {
      if (axes.includes(axis)) return [];
      const position = Math.min(state.at[axis] ?? 0, Math.max(0, extent - 1));
      const shown = el("output", {}, String(position));
      const slider = el("input", {
        type: "range",
        min: 0,
        max: Math.max(0, extent - 1),
        value: position,
        "aria-label": `Position on axis ${axis}`,
        input: (event) => (shown.textContent = (event.target as HTMLInputElement).value),
        change: (event) => {
          const at = shape.map((_, i) => state.at[i] ?? 0);
          at[axis] = Number((event.target as HTMLInputElement).value);
          this.store.set({ at });
        },
      });
      return [el("label", { class: "slider" }, `axis ${axis} at `, slider, shown, ` of ${extent}`)];
    });
  }
}
