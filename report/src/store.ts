// The report and the state, and what every panel derives from them. A panel is a function that draws itself anew.
import { UnpackedLayout, type PackedLayout } from "./layout";
import type { Graph, Lines, Operation, Placement, Report, Stage, Value } from "./model";
import { pathsAround } from "./opened";
import { parseState, printState, type State } from "./state";

// What is shared by number, where it belongs. Of large graphs, values and layouts only when something asks for them.
export function expand(report: Report): Report {
  const stages = [...report.stages, ...(report.plans?.points ?? []).flatMap(({ stage }) => stage ?? [])];
  for (const { graphs, shared } of stages)
    for (const graph of graphs) {
      for (const operation of graph.operations) {
        const { placements } = operation as { placements?: unknown };
        if (typeof placements === "number") operation.placements = shared[placements] as Placement[];
      }
      const { values } = graph;
      graph.valueCount = values.length;
      if (values.length > 0 && typeof (values[0].type as unknown) === "number") {
        let made: Value[] | null = null;
        Object.defineProperty(graph, "values", { get: () => (made ??= values.map((value) => withType(value, shared))) });
      }
      graph.layout = new UnpackedLayout(graph.layout as unknown as PackedLayout, shared);
    }
  return report;
}

function withType(value: Value, shared: unknown[][]): Value {
  const [type, shape, bytes] = shared[value.type as unknown as number] as [string, number[], number];
  return { ...value, type, shape, bytes };
}

export class Store {
  private listeners: ((changed: Set<keyof State>) => void)[] = [];
  state: State;

  constructor(private readonly whole: Report) {
    this.state = this.valid(parseState(location.hash, this.initial()));
  }
  followAddress(): void {
    window.addEventListener("hashchange", () => this.replace(this.valid(parseState(location.hash, this.initial()))));
  }

  // The report as the chosen plan makes it: its graph is the last stage.
  get report(): Report {
    return this.reportFor(this.state.plan);
  }
  get stage(): Stage {
    return this.report.stages[this.state.stage];
  }
  get graph(): Graph {
    return this.stage.graphs[this.state.graph];
  }
  get operation(): Operation | null {
    return this.state.op === null ? null : this.graph.operations[this.state.op];
  }

  onChange(listener: (changed: Set<keyof State>) => void): void {
    this.listeners.push(listener);
  }
  set(patch: Partial<State>): void {
    this.replace(this.valid({ ...this.state, ...patch }));
    history.replaceState(null, "", printState(this.state));
  }
  selectOperation(op: number, more: Partial<State> = {}): void {
    const graph = this.stage.graphs[more.graph ?? this.state.graph];
    const results = graph.operations[op]?.results ?? [];
    this.set({ op, value: results[0] ?? null, shard: null, axes: [], at: [], ...more });
  }
  selectValue(value: number, more: Partial<State> = {}): void {
    const graph = this.stage.graphs[more.graph ?? this.state.graph];
    const op = graph.operations.findIndex((operation) => operation.results.includes(value));
    this.set({ value, op: op < 0 ? null : op, shard: null, axes: [], at: [], ...more });
  }
  // The same value or operation in another stage, by its name: stages have no common numbers.
  showStage(stage: number): void {
    const { path, values } = this.graph;
    const name = this.state.value === null ? null : path + values[this.state.value].name;
    const at = name === null ? null : this.valueNamed(stage, name);
    const more = at ?? { graph: 0, value: null, op: null };
    this.set({ stage, ...more, shard: null, view: [], open: [] });
  }
  valueNamed(stage: number, name: string): { graph: number; value: number; op: number | null } | null {
    for (const [graph, { path, values, operations }] of this.report.stages[stage].graphs.entries()) {
      const value = values.findIndex((v) => path + v.name === name);
      if (value < 0) continue;
      const op = operations.findIndex((operation) => operation.results.includes(value));
      return { graph, value, op: op < 0 ? null : op };
    }
    return null;
  }
  // A graph inside others, with all of them open.
  openAround(graph: number): void {
    const open = [...new Set([...this.state.open, ...pathsAround(this.stage, graph)])];
    this.set({ panel: "graph", open });
  }
  // The operation of that name in the last stage that has one.
  showOperation(name: string): void {
    for (let stage = this.report.stages.length - 1; stage >= 0; --stage)
      for (const [graph, g] of this.report.stages[stage].graphs.entries()) {
        const op = g.operations.findIndex((operation) => operation.name === name);
        if (op < 0) continue;
        this.set({
          panel: "graph",
          stage,
          graph,
          op,
          value: g.operations[op].results[0] ?? null,
          shard: null,
          open: pathsAround(this.report.stages[stage], graph),
          view: [],
        });
        return;
      }
  }
  // The graph of a plan, if the report has it.
  showPlan(plan: number): void {
    const embedded = this.whole.plans?.points[plan]?.stage !== undefined;
    const stage = embedded ? this.reportFor(plan).stages.length - 1 : this.state.stage;
    this.set({ plan, ...(embedded ? { stage, graph: 0, op: null, value: null, shard: null, axes: [], at: [], open: [], view: [] } : {}) });
  }
  // Operations of the shown graph that come from a line.
  operationsAt(file: number, line: number): number[] {
    const at = (lines: Lines): boolean => lines[0] === file && lines[1] <= line && line <= lines[2];
    return this.graph.operations.flatMap((operation, i) => ((operation.source ?? []).some(at) ? [i] : []));
  }

  private shown = new Map<number, Report>();
  private reportFor(plan: number | null): Report {
    const point = plan === null ? undefined : this.whole.plans?.points[plan];
    if (plan === null || !point?.stage || !point.meshes) return this.whole;
    const stages = this.whole.stages.filter((stage) => stage.name !== "sharded");
    const report = this.shown.get(plan) ?? { ...this.whole, meshes: point.meshes, stages: [...stages, point.stage] };
    this.shown.set(plan, report);
    return report;
  }

  private initial(): State {
    return {
      panel: "graph",
      stage: this.whole.stages.length - 1,
      graph: 0,
      op: null,
      value: null,
      axes: [],
      at: [],
      shard: null,
      step: 0,
      plan: null,
      obligation: "",
      pins: [],
      event: null,
      time: [],
      file: 0,
      line: null,
      code: [],
      find: "",
      open: [],
      view: [],
      theme: "auto",
    };
  }
  private replace(state: State): void {
    const changed = new Set<keyof State>();
    for (const key of Object.keys(state) as (keyof State)[])
      if (JSON.stringify(state[key]) !== JSON.stringify(this.state[key])) changed.add(key);
    this.state = state;
    if (changed.has("plan")) changed.add("stage").add("graph"); // other graphs under the same numbers
    if (changed.size > 0) for (const listener of this.listeners) listener(changed);
  }
  // A link may be to another report: what does not exist here is left out.
  private valid(state: State): State {
    const out = { ...state };
    const points = this.whole.plans?.points.length ?? 0;
    if (out.plan !== null && out.plan >= points) out.plan = null;
    out.pins = out.pins.filter((pin) => Number.isInteger(pin) && pin >= 0 && pin < points).slice(-2);
    if (out.panel === "plan" && points === 0) out.panel = "graph";
    if (out.panel === "time" && !this.whole.time_line) out.panel = "graph";
    if (out.event !== null && out.event >= (this.whole.time_line?.events.length ?? 0)) out.event = null;
    if (out.time.length === 2 && !(out.time[0] >= 0 && out.time[0] < out.time[1])) out.time = [];
    const report = this.reportFor(out.plan);
    if (out.stage >= report.stages.length) out.stage = report.stages.length - 1;
    const stage = report.stages[out.stage];
    if (out.graph >= stage.graphs.length) out.graph = 0;
    const graph = stage.graphs[out.graph];
    if (out.op !== null && out.op >= graph.operations.length) out.op = null;
    if (out.value !== null && out.value >= graph.values.length) out.value = null;
    const steps = report.passes.reduce((sum, pass) => sum + pass.steps.length, 0);
    if (out.step >= steps) out.step = Math.max(0, steps - 1);
    if (out.file >= report.files.length) out.file = 0;
    if (out.panel === "why" && report.reasons.length + report.decisions.length === 0) out.panel = "graph";
    if (out.panel === "tensor" && graph.values.length === 0) out.panel = "graph";
    return out;
  }
}
