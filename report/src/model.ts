// The data of a report, as `tapc inspect --format=report-json` writes it (docs/schema/report.schema.json).

export type Lines = [file: number, first: number, last: number];

export interface Mesh {
  name: string;
  axes: { name: string; size: number }[];
  devices: number;
  ids: number[];
}
export type Digit = [stride: number, size: number]; // the coordinate of a device is (position / stride) % size

export interface Sharding {
  mesh: number;
  text: string;
  dims: Digit[][];
  unreduced: string[];
}
export interface Value {
  name: string;
  type: string;
  shape: number[];
  bytes: number;
  sharding?: Sharding;
  source?: Lines[];
}
export interface Placement {
  dim: number | null; // null: the whole operation is the block with this number
  over: string;
  number?: number;
  mesh?: number;
  digit?: Digit;
  devices?: number[][];
}
export interface Move {
  kind: string;
  bytes: number;
  axes: string[];
  devices: number;
  of: number;
}
export interface Operation {
  name: string;
  operator: number;
  operands: number[];
  results: number[];
  text?: string;
  placements?: Placement[];
  region?: { kind: string; graph: number };
  move?: Move;
  source?: Lines[];
}
export type Dim = [name: string, lo: number, hi: number, role: "parallel" | "reduction" | "counter"];
export type Blocking = [dim: number, blockDim: number, count: number, boundaries: number[]];
export type Access = [tensor: number, matrix: number[][], offset: number[], shape: number[]];
export interface Operator {
  text: string;
  dims: Dim[];
  blockings: Blocking[];
  reads: Access[];
  writes: Access[];
}
export type NodeKind = "input" | "const" | "output" | "operation" | "shard"; // the last is made by the page
export type LaidNode = [kind: NodeKind, number: number, x: number, y: number, w: number, h: number, lines: string[]];
export type LaidEdge = [from: number, to: number, points: number[]];
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: LaidNode[];
  readonly edges: LaidEdge[];
  readonly trunks: number[][];
}
export interface Graph {
  name: string;
  path: string;
  inputs: number[];
  outputs: number[];
  values: Value[];
  valueCount: number; // by expand() in store.ts
  operations: Operation[];
  layout: Layout;
}
export interface Stage {
  name: string;
  about: string;
  graphs: Graph[];
  operators: Operator[];
  shared: unknown[][]; // placements and lines of large graphs (expand() in store.ts)
}
export interface Rewrite {
  operation: string;
  what: string;
  rules: string[];
  source: Lines[];
}
export type Listed = [operation: string, text: string];
export interface Step {
  operations: [before: number, after: number];
  rewrites: Rewrite[];
  count: number;
  changes: { before: Listed[]; after: Listed[] }[];
  change_count: number;
}
export interface Pass {
  stage: string;
  name: string;
  reason: string;
  milliseconds: number | null;
  steps: Step[];
  remarks: { operation: string; message: string; source: Lines[] }[];
}
export interface Cause {
  kind: string;
  text: string;
  value: string;
  operation: string;
  source: Lines[];
}
export interface AxisReason {
  mesh: string;
  axis: string;
  state: "given" | "inherited" | "blocked" | "unrelated";
  dim: number | null;
  from: string;
  operation: string;
  source: Lines[];
  causes: Cause[];
  lost: Cause[];
}
export interface Price {
  seconds: number;
  memory: number; // bytes
  received: number; // bytes
  terms: Record<string, number>; // seconds
}
export interface PricedSharding extends Partial<Price> {
  sharding: string;
  as_it_is: boolean;
}
export interface Reason {
  value: string;
  sharding: string;
  lines: string[];
  axes: AxisReason[];
  alternatives: PricedSharding[] | null;
}
export interface Decision {
  operations: string[];
  alternatives: (Price & { lines: string[]; remark: string })[];
}
export interface PlanPoint {
  time: number; // seconds
  memory: number; // bytes of a device
  traffic: number; // bytes that the busiest device receives
  mesh: string;
  text: string;
  meshes?: Mesh[];
  stage?: Stage;
}
export interface Plans {
  command: string;
  strategies: number;
  exhaustive: boolean;
  picked: number;
  points: PlanPoint[];
}
export type Finding = [obligation: string, standing: string, step: number | null, operation: string, detail: string];
export interface Proofs {
  meanings: Record<string, string>;
  findings: Finding[];
  count: number;
}
export interface Kernel {
  values: string[]; // that it computes, or whose operand it packs
  packs: boolean;
  loops: string;
  loop_statements: number[]; // by line, from 1; 0: before the first
  assembly: string;
  assembly_statements: number[]; // by line; 0: none
}
export type TimedEvent = [
  row: number,
  kind: string,
  name: string,
  what: string,
  box: string,
  bytes: number,
  predicted: number | null, // microseconds
  batch: number[], // sequence, batch, trips
];
export type TimePiece = [event: number, lane: number, began: number, ended: number, critical: number];
export interface TimeLine {
  file: string;
  rows: [process: number, device: number | null][];
  events: TimedEvent[];
  measured: TimePiece[];
  predicted: TimePiece[];
  measured_us: number;
  predicted_us: number;
  kept: number;
  count: number;
}
export interface Report {
  format: "tap-report";
  version: 1;
  program: string;
  plan: string | null;
  meshes: Mesh[];
  stages: Stage[];
  passes: Pass[];
  reasons: Reason[];
  unpriced: string | null;
  decisions: Decision[];
  plans: Plans | null;
  proofs: Proofs;
  kernels: Kernel[] | null; // with `--code`
  time_line: TimeLine | null;
  left_out: string[];
  files: { path: string; text: string }[];
}
