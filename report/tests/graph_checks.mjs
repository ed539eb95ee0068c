// The panel Graph: what opens in place shows what brute force expects, and the picture stays sound.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { data, nodesOf, open, sorted } from "./page.mjs";

async function picture(page) {
  const button = page.getByRole("button", { name: "Save the panel Graph as SVG", exact: true });
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return readFileSync(await download.path(), "utf8");
}

// In the page: nodes and frames with their texts, and what is wrong with the picture, every line against every box.
const measure = (text) => {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml");
  const boxOf = (group) => {
    const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => Number(group.querySelector("rect").getAttribute(name)));
    return { left: x, top: y, right: x + w, bottom: y + h, kind: group.getAttribute("class"), texts: [...group.querySelectorAll("text")].map((t) => t.textContent) };
  };
  const nodes = [...svg.querySelectorAll("g.node")].map(boxOf);
  const frames = [...svg.querySelectorAll("g.frame")].map(boxOf);
  const problems = [];
  const name = ({ texts }) => texts[0];
  const within = (a, b) => a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
  const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
  nodes.forEach((a, i) => nodes.slice(0, i).forEach((b) => apart(a, b) || problems.push(`${name(a)} and ${name(b)} overlap`)));
  for (const frame of frames) {
    for (const node of nodes) if (!within(node, frame) && !apart(node, frame)) problems.push(`${name(node)} is on the edge of ${name(frame)}`);
    for (const other of frames)
      if (other !== frame && !within(other, frame) && !within(frame, other) && !apart(other, frame)) problems.push(`frames ${name(frame)} and ${name(other)} overlap`);
  }
  const strictly = ({ x, y }, box) => x > box.left + 1 && x < box.right - 1 && y > box.top + 1 && y < box.bottom - 1;
  const lines = [...svg.querySelectorAll("g.edges path")];
  for (const line of lines) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", line.getAttribute("d").replace(/M(?!.*M).*$/, (last, at) => (at > 0 ? "" : last))); // without its arrow
    const length = path.getTotalLength();
    const points = Array.from({ length: Math.ceil(length / 3) + 1 }, (_, i) => path.getPointAtLength(Math.min(length, i * 3)));
    for (const node of nodes) if (points.some((p) => strictly(p, node))) problems.push(`a line crosses ${name(node)}`);
    for (const frame of frames) {
      const inside = points.filter((p) => strictly(p, frame)).length;
      const allIn = points.every(({ x, y }) => x > frame.left && x < frame.right && y > frame.top && y < frame.bottom);
      if (inside > 0 && !allIn) problems.push(`a line crosses the frame ${name(frame)}`);
    }
  }
  return { nodes, frames, lines: lines.length, problems };
};

// Everything that can be opened, as the address names it: the graphs inside others, and split operations.
function allPaths(stage, number = 0, path = "") {
  return stage.graphs[number].operations.flatMap(({ region, placements }, op) => [
    ...(region || (placements ?? []).some((p) => p.dim !== null) ? [path + op] : []),
    ...(region ? allPaths(stage, region.graph, `${path}${op}/`) : []),
  ]);
}

// In every stage, all that opens is opened: the graphs inside are there, and the shards of the last stage are those of brute force.
export async function opensInPlace({ page: file, shards }) {
  const { page, close } = await open(file);
  const report = await data(page);
  for (const [number, stage] of report.stages.entries()) {
    const paths = allPaths(stage);
    await page.evaluate((hash) => (location.hash = hash), `#panel=graph&stage=${number}`);
    const closed = await page.evaluate(measure, await picture(page));
    assert.deepEqual(closed.problems, []);
    assert.deepEqual([closed.nodes.length, closed.frames.length], [stage.graphs[0].layout.titles.length, 0]);
    await page.evaluate((hash) => (location.hash = hash), `#panel=graph&stage=${number}&open=${paths}`);
    const opened = await page.evaluate(measure, await picture(page));
    assert.deepEqual(opened.problems, [], stage.name);
    assert.equal(opened.frames.length, paths.length);
    // Each opened graph is there once for each operation around it.
    const inside = (graph) =>
      stage.graphs[graph].layout.titles.length +
      stage.graphs[graph].operations.reduce((sum, { region }) => sum + (region ? inside(region.graph) : 0), 0);
    const isShard = ({ kind }) => kind === "node shard";
    assert.equal(opened.nodes.filter((node) => !isShard(node)).length + opened.frames.length, inside(0));
    if (number + 1 < report.stages.length || !shards) continue;
    const { operations, layout } = stage.graphs[0];
    for (const [op, expected] of Object.entries(shards)) {
      const at = operations.findIndex(({ name }) => name === op);
      await page.evaluate((hash) => (location.hash = hash), `#panel=graph&stage=${number}&open=${at}`);
      const one = await page.evaluate(measure, await picture(page));
      assert.deepEqual(one.frames.map(({ texts }) => texts), [[nodesOf(layout).find(({ kind, number }) => kind === "operation" && number === at).title]]);
      assert.deepEqual(sorted(one.nodes.filter(isShard).map(({ texts }) => texts.join(" | "))), sorted(expected), `the shards of ${op}`);
    }
  }
  await close();
}

// By keys alone: Enter opens, arrows lead in, along and out again, the address has it all, Enter closes.
export async function opensByKeys({ page: file, operation, keys, inside }) {
  const { page, close } = await open(file);
  const report = await data(page);
  const heading = () => page.locator("#selection h2").textContent();
  const hash = () => page.evaluate(() => location.hash);
  const canvas = page.locator("canvas").first();
  const stage = report.stages.findIndex(({ graphs }) => graphs[0].operations.some(({ name }) => name === operation));
  const { operations } = report.stages[stage].graphs[0];
  const op = operations.findIndex(({ name }) => name === operation);
  await page.evaluate((h) => (location.hash = h), `#panel=graph&stage=${stage}&op=${op}&value=${operations[op].results[0]}`);
  await canvas.focus();
  await page.keyboard.press("Enter");
  assert.match(await hash(), new RegExp(`open=${op}(&|$)`));
  assert.equal(await heading(), operation);
  const seen = [];
  for (const key of keys) {
    await page.keyboard.press(key);
    const [, graph, shard] = [await heading(), Number(/graph=(\d+)/.exec(await hash())?.[1] ?? 0), /shard=(\d+)/.exec(await hash())?.[1]];
    seen.push(shard !== undefined ? `shard ${shard}` : `${graph} ${await heading()}`);
  }
  for (const one of inside) assert.ok(seen.includes(one), `${one} among ${seen.join("; ")}`);
  assert.match(seen[seen.length - 1], /^0 /); // out again
  const again = await open(file, await hash());
  assert.deepEqual(await again.page.locator("#selection").textContent(), await page.locator("#selection").textContent());
  await again.close();
  await page.evaluate((h) => (location.hash = h), `#panel=graph&stage=${stage}&op=${op}&value=${operations[op].results[0]}&open=${op}`);
  await canvas.focus();
  await page.keyboard.press("Enter");
  assert.doesNotMatch(await hash(), /open=/);
  await close();
}
