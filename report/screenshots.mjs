// Takes the pictures of reports in docs/images: node screenshots.mjs TAPC, after scripts/build_report.sh. They are pictures
// of programs that stand in the documentation or in examples/.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const root = new URL("..", import.meta.url);
const tapc = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), "report-"));

// The program `// NAME.tap` of a page.
function written(page, name) {
  const text = readFileSync(new URL(page, root), "utf8");
  const begin = text.indexOf(`// ${name}\n`);
  const file = join(folder, name);
  writeFileSync(file, text.slice(begin + name.length + 4, text.indexOf("```", begin)));
  return file;
}
const example = (name) => new URL(`examples/${name}.tap`, root).pathname;

const conv = () => written("docs/guide/see_shards.md", "conv.tap");
const layer = () => written("docs/guide/shard_a_transformer_layer.md", "layer.tap");
const mlp = () => written("README.md", "layer.tap");
// The file, its program, and the view: a panel, a selected operation or value, and a box of it.
const pictures = [
  { file: "report_graph", program: conv, panel: "graph", operation: "A.moved" },
  { file: "report_tensor", program: conv, panel: "tensor", operation: "A.moved", value: "A.moved", shard: 1 },
  { file: "report_pipeline", program: layer, panel: "pipeline", operation: "P.partial", open: "compose_maps" },
  { file: "report_transformer", program: layer, panel: "graph", operation: "P.partial.moved" },
  { file: "report_transformer_tensor", program: layer, panel: "tensor", operation: "P", value: "P", shard: 3 },
  { file: "report_why", program: layer, panel: "why", operation: "Q", theme: "dark" },
  { file: "report_mlp", program: mlp, panel: "source", operation: "Y.partial" },
  { file: "report_mlp_tensor", program: mlp, panel: "tensor", operation: "Y.partial", value: "Y.partial", shard: 3 },
  { file: "report_mlp_table", program: mlp, panel: "table", operation: "H" },
  {
    file: "report_attention",
    program: () => example("attention"),
    options: ["--program", "fused"],
    panel: "graph",
    theme: "dark",
  },
];

const browser = await launch();
const only = process.argv.slice(3);
for (const picture of pictures.filter(({ file }) => only.length === 0 || only.includes(file))) {
  const out = join(folder, picture.file + ".html");
  execFileSync(tapc, ["inspect", picture.program(), ...(picture.options ?? []), "-o", out], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const data = JSON.parse(
    /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(readFileSync(out, "utf8"))[1],
  );
  const graph = data.stages.at(-1).graphs[0];
  const state = new URLSearchParams({ panel: picture.panel });
  const op = graph.operations.findIndex(({ name }) => name === picture.operation);
  const value = picture.value
    ? graph.values.findIndex(({ name }) => name === picture.value)
    : (graph.operations[op]?.results[0] ?? -1);
  if (op >= 0) state.set("op", op);
  if (value >= 0) state.set("value", value);
  if (picture.shard !== undefined) state.set("shard", picture.shard);
  if (picture.theme) state.set("theme", picture.theme);
  const page = await browser.newPage({ viewport: { width: 1200, height: 720 }, reducedMotion: "reduce" });
  await page.goto(`${pathToFileURL(out).href}#${state}`);
  if (picture.open)
    await page
      .locator("details", { hasText: picture.open })
      .first()
      .evaluate((details) => (details.open = true));
  await page.waitForTimeout(300);
  await page.screenshot({ path: new URL(`docs/images/${picture.file}.png`, root).pathname });
  await page.close();
}
await browser.close();
