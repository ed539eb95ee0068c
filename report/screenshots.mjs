// Takes the pictures of every panel in docs/images/report: node screenshots.mjs TAPC [PROGRAM[_PANEL]…], after
// scripts/build_report.sh (scripts/screenshots.sh does both). They are pictures of programs that stand in the documentation
// or in examples/, each run once for its time line.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { smallPng } from "./small_png.mjs";
import { browser, data, nodesOf, open } from "./tests/page.mjs";

const root = new URL("..", import.meta.url);
const images = new URL("docs/images/report/", root);
const tapc = resolve(process.argv[2]);
const only = process.argv.slice(3);
const folder = mkdtempSync(join(tmpdir(), "report-"));
const run = (...words) => execFileSync(tapc, words, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });

// The program `// NAME.tap` of a page.
function written(page, name) {
  const text = readFileSync(new URL(page, root), "utf8");
  const begin = text.indexOf(`// ${name}\n`);
  writeFileSync(join(folder, name), text.slice(begin + name.length + 4, text.indexOf("```", begin)));
  return name;
}

// What is selected in each panel: an operation, a value and a shard of it; an obligation, the pass of a rewrite.
const programs = [
  {
    name: "mlp",
    file: () => written("README.md", "layer.tap"),
    operation: "Y.partial",
    opens: ["Y.partial"],
    tensor: { value: "Y.partial", shard: 3 },
    rewrite: "apply_splits",
  },
  {
    name: "transformer",
    file: () => written("docs/guide/shard_a_transformer_layer.md", "layer.tap"),
    operation: "P.partial.moved",
    source: "P.partial",
    tensor: { value: "P", shard: 3 },
    rewrite: "compose_maps",
    zoom: 0.75, // of the graph, around the operation
  },
  {
    name: "conv",
    file: () => written("docs/guide/see_shards.md", "conv.tap"),
    operation: "A.moved",
    source: "B.conv2d",
    tensor: { value: "A.moved", shard: 1 },
    rewrite: "compose_maps",
  },
  {
    name: "attention",
    file: () => written("docs/guide/see_shards.md", "attention.tap"),
    operation: "Y",
    opens: ["Y"],
    tensor: { value: "Y", shard: 2 },
    rewrite: "inline_calls",
    theme: "dark",
  },
];
const panels = ["graph", "tensor", "source", "pipeline", "rewrite", "why", "plan", "time", "proof", "table"];

// The data of a written page, by the page's own reading.
async function dataOf(file) {
  const { page, close } = await open(join(folder, file));
  const found = await data(page);
  await close();
  return found;
}

const meshOf = ({ meshes }) => meshes[0].axes.map(({ name, size }) => `${name}=${size}`).join();

// Two pages: one with code and a time line, one with the front.
async function report({ name, file }) {
  const source = file();
  const [page, front, trace] = ["html", "front.html", "json"].map((ending) => `${name}.${ending}`);
  run("inspect", source, "-o", page);
  const { values, inputs } = (await dataOf(page)).stages[0].graphs[0];
  const given = inputs.flatMap((input, i) => ["-i", `${values[input].name}=rand:${i + 1}`]);
  // The quickest of several runs: in the others, the machine did something else, too.
  let quickest = Infinity;
  for (let k = 0; k < 12; ++k) {
    run("run", source, ...given, "--trace", "again.json", "-o", "@results.npz");
    const events = JSON.parse(readFileSync(join(folder, "again.json"), "utf8")).traceEvents;
    const end = Math.max(...events.map(({ ts, dur }) => (ts ?? 0) + (dur ?? 0)));
    if (end < quickest) renameSync(join(folder, "again.json"), join(folder, trace));
    quickest = Math.min(quickest, end);
  }
  run("inspect", source, "--trace", trace, "--code", "--time-passes", "-o", page);
  if (!only.length || only.some((one) => `${name}_plan`.startsWith(one)))
    run("plan", source, `--mesh=${meshOf(await dataOf(page))}`, "--threads=1", "--front", front);
  return { page, front };
}

function stateOf(program, panel, data) {
  const stage = data.stages.length - 1;
  const graph = data.stages[stage].graphs[0];
  const state = new URLSearchParams({ panel });
  const number = (name) => graph.operations.findIndex((operation) => operation.name === name);
  const op = number((panel === "source" || panel === "time" ? program.source : undefined) ?? program.operation);
  const value = graph.values.findIndex(({ name }) => name === program.tensor.value);
  if (panel === "tensor") {
    state.set("value", value);
    state.set("op", graph.operations.findIndex((operation) => operation.results.includes(value)));
    state.set("shard", program.tensor.shard);
  } else if (op >= 0 && panel !== "plan") {
    state.set("op", op);
    state.set("value", graph.operations[op].results[0]);
  }
  if (panel === "graph" && program.opens) state.set("open", program.opens.map(number));
  if (panel === "source") {
    const kernel = data.kernels.findIndex(({ values }) => values.includes(program.source ?? program.operation));
    // The last statement that has instructions of its own.
    if (kernel >= 0) state.set("code", [kernel, Math.max(...data.kernels[kernel].assembly_statements)]);
  }
  if (panel === "graph" && program.zoom) {
    const { x, y, w, h } = nodesOf(graph.layout).find(({ kind, number }) => kind === "operation" && number === op);
    state.set("view", [x + w / 2 - 415 / program.zoom, y + h / 2 - 300 / program.zoom, program.zoom].map((n) => n.toFixed(3)));
  }
  if (panel === "rewrite") {
    const steps = data.passes.flatMap((pass) => pass.steps.map(() => pass.name));
    state.set("step", Math.max(0, steps.indexOf(program.rewrite)));
  }
  if (panel === "proof") state.set("obligation", data.proofs.findings.some(([of]) => of === "transfer") ? "transfer" : "cover");
  if (panel === "time") {
    const event = data.time_line.events.findIndex(([, , name]) => name === (program.source ?? program.operation));
    if (event >= 0) state.set("event", event);
  }
  if (program.theme) state.set("theme", program.theme);
  return state;
}

mkdirSync(images, { recursive: true });
for (const program of programs) {
  const wanted = panels.filter((panel) => !only.length || only.some((one) => `${program.name}_${panel}`.startsWith(one)));
  if (wanted.length === 0) continue;
  const { page: main, front } = await report(program);
  for (const panel of wanted) {
    const file = panel === "plan" ? front : main;
    const hash = `#${stateOf(program, panel, await dataOf(file))}`;
    const { page, close } = await open(join(folder, file), hash, { viewport: { width: 1180, height: 680 }, reducedMotion: "reduce" });
    if (panel === "pipeline" || panel === "why")
      await page.locator(`#panel-${panel} details`).first().evaluate((details) => {
        details.open = true;
        if (details.getBoundingClientRect().bottom > innerHeight) details.scrollIntoView({ block: "center" });
      });
    await page.waitForTimeout(300);
    writeFileSync(new URL(`${program.name}_${panel}.png`, images), smallPng(await page.screenshot()));
    await close();
  }
}
await browser.close();
