// The picture of the last stage's graph is the first thing in the file, before the rest of the data: of a large graph, the page shows
// it while the browser still reads. Nothing can be chosen until the whole report is there, which then draws the same picture.
import type { PackedLayout } from "./layout";
import type { Layout, Report, Stage } from "./model";
import { parseState, type Panel } from "./state";

export interface FirstPicture {
  program: string;
  stages: { name: string; about: string }[];
  absent: Panel[]; // panels that have nothing to show
  layout: PackedLayout;
}
const largeGraph = 2000; // nodes; the whole report of a smaller one is there as soon

const parse = (id: string): unknown => JSON.parse(document.getElementById(id)!.textContent!);

export const firstPicture = (): FirstPicture => parse("picture") as FirstPicture;

export function wholeReport({ layout }: FirstPicture): Report {
  const report = parse("data") as Report;
  report.stages[report.stages.length - 1].graphs[0].layout = layout as unknown as Layout;
  return report;
}

// Whether the address asks for this picture, and it is worth it.
export function comesFirst({ stages, layout }: FirstPicture): boolean {
  const wanted = parseState(location.hash, { panel: "graph", stage: stages.length - 1 });
  const isOther = wanted.panel !== "graph" || wanted.stage !== stages.length - 1 || wanted.plan !== null || wanted.find !== "";
  return !isOther && wanted.open.length === 0 && layout.titles.length >= largeGraph;
}

// A report that has only this picture.
export function reportOf({ program, stages, layout }: FirstPicture): Report {
  const empty = { operators: [], shared: [] };
  const graph = { name: program, path: "", inputs: [], outputs: [], values: [], valueCount: 0, operations: [] };
  const last = stages.length - 1;
  return {
    format: "tap-report",
    version: 1,
    program,
    plan: null,
    meshes: [],
    stages: stages.map((stage, i): Stage => ({ ...stage, ...empty, graphs: i < last ? [] : [{ ...graph, layout: layout as unknown as Layout }] })),
    passes: [],
    reasons: [],
    unpriced: null,
    decisions: [],
    plans: null,
    proofs: { meanings: {}, findings: [], count: 0 },
    kernels: null,
    time_line: null,
    left_out: [],
    files: [],
  };
}

const longestWait = 300; // ms

// After the browser has shown what is there now. A window in the background shows nothing.
export function afterPaint(then: () => void): void {
  let isDone = false;
  const once = (): void => {
    if (!isDone) then();
    isDone = true;
  };
  requestAnimationFrame(() => setTimeout(once));
  setTimeout(once, document.hidden ? 0 : longestWait);
}
