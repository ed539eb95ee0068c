// Boxes of shards, from index spaces and projections alone: the same rules as ir/operator.cpp (narrowed), ir/blocks.cpp
// (block) and ir/projection.cpp (bounds).
import type { Access, Digit, Graph, Mesh, Operation, Operator, Report, Stage, Value } from "./model";

export type Range = [lo: number, hi: number];
export type Box = Range[];

export const empty = (box: Box): boolean => box.some(([lo, hi]) => hi <= lo);
export const intersect = (a: Box, b: Box): Box =>
  a.map(([lo, hi], i): Range => [Math.max(lo, b[i][0]), Math.min(hi, b[i][1])]);
export const meet = (a: Box, b: Box): boolean => !empty(intersect(a, b));
export const whole = (shape: number[]): Box => shape.map((n): Range => [0, n]);
export const boxText = (box: Box): string => `[${box.map(([lo, hi]) => `${lo}..${hi}`).join(", ")}]`;

// Block `number` of a range in `count` blocks of ceil(size / count), or between boundaries.
export function block([lo, hi]: Range, count: number, boundaries: number[], number: number): Range {
  if (boundaries.length > 0) return [boundaries[number], boundaries[number + 1]];
  const size = Math.max(0, hi - lo);
  const step = Math.ceil(size / count);
  const begin = Math.min(size, number * step);
  return [lo + begin, lo + Math.min(size, begin + step)];
}

// `box`, reduced by the blockings whose block dim has one value in it.
export function narrowed(op: Operator, box: Box): Box {
  const out = box.map(([lo, hi]): Range => [lo, hi]);
  const open = new Set<number>();
  op.blockings.forEach(([dim, blockDim, count, boundaries], index) => {
    const [lo, hi] = out[blockDim];
    if (hi - lo !== 1) open.add(dim);
    if (open.has(dim)) return;
    let within: Range = [op.dims[dim][1], op.dims[dim][2]];
    for (const outer of op.blockings.slice(0, index))
      if (outer[0] === dim) within = block(within, outer[2], outer[3], out[outer[1]][0]);
    const [from, to] = block(within, count, boundaries, lo);
    out[dim] = [Math.max(out[dim][0], from), Math.min(out[dim][1], to)];
  });
  return out;
}

// The tight box around the regions that the points of `box` access.
export function bounds([, matrix, offset, shape]: Access, box: Box): Box {
  if (shape.length > 0 && empty(box)) return shape.map((): Range => [0, 0]);
  return matrix.map((row, axis): Range => {
    let lo = offset[axis];
    let hi = offset[axis] + shape[axis];
    row.forEach((coefficient, dim) => {
      const [first, last] = [box[dim][0], box[dim][1] - 1];
      lo += coefficient * (coefficient < 0 ? last : first);
      hi += coefficient * (coefficient < 0 ? first : last);
    });
    return [lo, hi];
  });
}

// An application of an operation. `devices` is null where nothing says which device computes it.
export interface Shard {
  points: Box;
  devices: number[] | null;
}
export const mostShards = 4096; // of one operation or value; the page says so where there are more

const coordinate = (position: number, [stride, size]: Digit): number => Math.floor(position / stride) % size;
const deviceAt = (mesh: Mesh, position: number): number => (mesh.ids.length > 0 ? mesh.ids[position] : position);

// The devices of each combination of block numbers, by its key; null if nothing is placed on devices.
function devicesByNumbers(report: Report, operation: Operation): ((numbers: Map<number, number>) => number[]) | null {
  const placed = (operation.placements ?? []).filter((p) => p.digit || p.devices);
  if (placed.length === 0) return null;
  const dims = placed.filter((p) => p.dim !== null);
  const key = (number: (index: number) => number): string => dims.map((_, i) => number(i)).join();
  const found = new Map<string, number[]>();
  const add = (at: string, device: number): void => {
    const list = found.get(at);
    if (list) list.push(device);
    else found.set(at, [device]);
  };
  const axis = placed.find((p) => p.digit);
  if (axis?.mesh !== undefined) {
    const mesh = report.meshes[axis.mesh];
    for (let position = 0; position < Math.min(mesh.devices, mostShards); ++position) {
      if (placed.some((p) => p.dim === null && p.digit && coordinate(position, p.digit) !== p.number)) continue;
      add(
        key((i) => (dims[i].digit ? coordinate(position, dims[i].digit!) : 0)),
        deviceAt(mesh, position),
      );
    }
  } else {
    for (const p of placed)
      p.devices?.forEach((devices, number) => {
        if (p.dim === null && number !== p.number) return;
        for (const device of devices)
          add(
            key(() => number),
            device,
          );
      });
  }
  for (const devices of found.values()) devices.sort((a, b) => a - b);
  return (numbers) => found.get(key((i) => numbers.get(dims[i].dim!) ?? 0)) ?? [];
}

// Every application of an operation: one for each combination of its block numbers that some device has.
export function shardsOf(report: Report, stage: Stage, operation: Operation): Shard[] {
  const op = stage.operators[operation.operator];
  const devicesOf = devicesByNumbers(report, operation);
  const placed = new Set((operation.placements ?? []).filter((p) => p.dim !== null).map((p) => p.dim!));
  const numbered = op.dims
    .map((_, dim) => dim)
    .filter((dim) => op.dims[dim][3] === "parallel" && (placed.has(dim) || op.blockings.some((b) => b[1] === dim)));
  let combinations: Map<number, number>[] = [new Map()];
  for (const dim of numbered) {
    const longer: Map<number, number>[] = [];
    for (const numbers of combinations)
      for (let n = op.dims[dim][1]; n < op.dims[dim][2] && longer.length < mostShards; ++n)
        longer.push(new Map(numbers).set(dim, n));
    combinations = longer;
  }
  const shards: Shard[] = [];
  for (const numbers of combinations) {
    const devices = devicesOf ? devicesOf(numbers) : null;
    if (devices && devices.length === 0) continue;
    const points = op.dims.map(([, lo, hi], dim): Range => {
      const number = numbers.get(dim);
      return number === undefined ? [lo, hi] : [number, number + 1];
    });
    shards.push({ points: narrowed(op, points), devices });
  }
  return shards;
}

// The dims on which applications differ, without those that number blocks.
export const differingDims = (op: Operator, shards: Shard[]): number[] =>
  op.dims.flatMap((_, dim) =>
    !op.blockings.some((b) => b[1] === dim) && new Set(shards.map((shard) => shard.points[dim].join())).size > 1 ? [dim] : [],
  );

// A part of a value, who holds it, and which applications write it.
export interface Part {
  box: Box;
  devices: number[] | null;
  writers: { operation: number; shard: Shard }[];
}

function partsOfSharding(report: Report, value: Value): Part[] {
  const sharding = value.sharding!;
  const mesh = report.meshes[sharding.mesh];
  const parts = new Map<string, Part>();
  for (let position = 0; position < Math.min(mesh.devices, mostShards); ++position) {
    const box = value.shape.map((extent, axis): Range => {
      const digits = sharding.dims[axis] ?? [];
      const count = digits.reduce((product, [, size]) => product * size, 1);
      const number = digits.reduce((at, digit) => at * digit[1] + coordinate(position, digit), 0);
      return block([0, extent], count, [], number);
    });
    const at = boxText(box);
    const part = parts.get(at) ?? { box, devices: [], writers: [] };
    part.devices!.push(deviceAt(mesh, position));
    parts.set(at, part);
  }
  for (const part of parts.values()) part.devices!.sort((a, b) => a - b);
  return [...parts.values()];
}

export function writersOf(graph: Graph, value: number): number[] {
  const found: number[] = [];
  graph.operations.forEach((operation, i) => operation.results.includes(value) && found.push(i));
  return found;
}
export function readersOf(graph: Graph, value: number): number[] {
  const found: number[] = [];
  graph.operations.forEach((operation, i) => operation.operands.includes(value) && found.push(i));
  return found;
}

// The parts of a value: what its writers' shards write; without them, what its sharding says; else all of it.
export function partsOf(report: Report, stage: Stage, graph: Graph, number: number): Part[] {
  const graphs = knownParts.get(report) ?? new Map<Graph, Map<number, Part[]>>();
  knownParts.set(report, graphs);
  const values = graphs.get(graph) ?? new Map<number, Part[]>();
  graphs.set(graph, values);
  const parts = values.get(number) ?? findParts(report, stage, graph, number);
  values.set(number, parts);
  return parts;
}
const knownParts = new WeakMap<Report, Map<Graph, Map<number, Part[]>>>();

function findParts(report: Report, stage: Stage, graph: Graph, number: number): Part[] {
  const value = graph.values[number];
  const all = whole(value.shape);
  const writers = writersOf(graph, number);
  const split = writers.some((w) => (graph.operations[w].placements ?? []).length > 0);
  if (value.sharding && !split) return partsOfSharding(report, value);
  if (writers.length === 0) return [{ box: all, devices: null, writers: [] }];
  const parts = new Map<string, Part>();
  for (const writer of writers) {
    const operation = graph.operations[writer];
    const op = stage.operators[operation.operator];
    for (const shard of shardsOf(report, stage, operation)) {
      const writes = op.writes.filter((access) => operation.results[access[0]] === number);
      const boxes = writes.length > 0 ? writes.map((access) => intersect(bounds(access, shard.points), all)) : [all];
      for (const box of boxes) {
        if (all.length > 0 && empty(box)) continue;
        const at = boxText(box);
        const part = parts.get(at) ?? { box, devices: shard.devices && [], writers: [] };
        if (shard.devices)
          part.devices = [...new Set([...(part.devices ?? []), ...shard.devices])].sort((a, b) => a - b);
        if (!part.writers.some((w) => w.operation === writer && w.shard === shard))
          part.writers.push({ operation: writer, shard });
        parts.set(at, part);
      }
    }
  }
  return [...parts.values()];
}

// The boxes of values that an application reads, inside the values.
export function readsOf(stage: Stage, graph: Graph, operation: Operation, shard: Shard): { value: number; box: Box }[] {
  const found = new Map<string, { value: number; box: Box }>();
  for (const access of stage.operators[operation.operator].reads) {
    const value = operation.operands[access[0]];
    const shape = graph.values[value].shape;
    const box = intersect(bounds(access, shard.points), whole(shape));
    if (shape.length === 0 || !empty(box)) found.set(`${value} ${boxText(box)}`, { value, box });
  }
  return [...found.values()];
}
