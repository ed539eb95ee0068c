// What the page shows, as one plain value that the fragment of the address holds: a link to a view is a link to the file.
//
//   #panel=tensor&stage=3&op=5&value=7&axes=0,2&at=1,0,0&shard=4

export const panels = ["graph", "tensor", "source", "pipeline", "rewrite", "why", "plan", "time", "proof", "table"] as const;
export type Panel = (typeof panels)[number];

export interface State {
  panel: Panel;
  stage: number;
  graph: number;
  op: number | null;
  value: number | null;
  axes: number[]; // rows and columns of the grid; empty: chosen by the page
  at: number[]; // by axis: the position on the others
  shard: number | null;
  step: number; // of the rewrites
  plan: number | null; // whose graph is the last stage; none: the picked one
  obligation: string; // that is open
  pins: number[]; // two plans to compare
  event: number | null; // of the time line
  time: number[]; // from, to; empty: all
  file: number;
  line: number | null;
  code: number[]; // a kernel and a statement of it; empty: none
  find: string;
  open: string[]; // operations that are opened in the graph: 5, 5/2 inside it
  view: number[]; // x, y and scale of the graph; empty: all of it
  theme: "auto" | "light" | "dark";
}

const wholeNumber = (text: string | null): number | null =>
  text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
const numbers = (text: string | null): number[] => {
  const list = (text ?? "").split(",").map(Number);
  return text && list.every(Number.isFinite) ? list.slice(0, 32) : [];
};

const paths = (text: string | null): string[] =>
  [...new Set((text ?? "").split(","))].filter((path) => /^\d{1,6}(\/\d{1,6})*$/.test(path)).slice(0, 256);

export function parseState(hash: string, initial: Pick<State, "panel" | "stage">): State {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const panel = given.get("panel");
  const theme = given.get("theme");
  return {
    panel: panels.find((p) => p === panel) ?? initial.panel,
    stage: wholeNumber(given.get("stage")) ?? initial.stage,
    graph: wholeNumber(given.get("graph")) ?? 0,
    op: wholeNumber(given.get("op")),
    value: wholeNumber(given.get("value")),
    axes: numbers(given.get("axes")),
    at: numbers(given.get("at")),
    shard: wholeNumber(given.get("shard")),
    plan: wholeNumber(given.get("plan")),
    obligation: given.get("obligation") ?? "",
    pins: numbers(given.get("pins")),
    event: wholeNumber(given.get("event")),
    time: numbers(given.get("time")).length === 2 ? numbers(given.get("time")) : [],
    step: wholeNumber(given.get("step")) ?? 0,
    file: wholeNumber(given.get("file")) ?? 0,
    line: wholeNumber(given.get("line")),
    code: numbers(given.get("code")).length === 2 ? numbers(given.get("code")) : [],
    find: given.get("find") ?? "",
    open: paths(given.get("open")),
    view: numbers(given.get("view")).length === 3 ? numbers(given.get("view")) : [],
    theme: theme === "light" || theme === "dark" ? theme : "auto",
  };
}

export function printState(state: State): string {
  const out = new URLSearchParams();
  out.set("panel", state.panel);
  out.set("stage", String(state.stage));
  if (state.graph) out.set("graph", String(state.graph));
  for (const name of ["op", "value", "shard", "line", "plan", "event"] as const)
    if (state[name] !== null) out.set(name, String(state[name]));
  if (state.step) out.set("step", String(state.step));
  if (state.file) out.set("file", String(state.file));
  for (const name of ["axes", "at", "view", "open", "pins", "time", "code"] as const) if (state[name].length > 0) out.set(name, state[name].join(","));
  if (state.obligation) out.set("obligation", state.obligation);
  if (state.find) out.set("find", state.find);
  if (state.theme !== "auto") out.set("theme", state.theme);
  return "#" + out.toString().replaceAll("%2C", ",").replaceAll("%2F", "/");
}
