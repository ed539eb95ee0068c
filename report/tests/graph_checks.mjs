// The panel Graph: what opens in place shows what brute force expects, and the picture stays sound.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { browser, data, nodesOf, open, sorted } from "./page.mjs";

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

// A large graph follows a drag of the mouse, near and from far away, as a picture: each frame draws it with a few calls, however many
// nodes it has; where it stops, it is what the address alone shows. report/speed.mjs has the times.
export async function followsADrag({ page: file }) {
  const { page, close } = await open(file);
  const box = await page.locator("canvas").first().boundingBox();
  const middle = [box.x + box.width / 2, box.y + box.height / 2];
  const view = () => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("view")?.split(",").map(Number));
  const pixels = (p) => p.evaluate(() => document.querySelector("canvas").toDataURL());
  await page.evaluate(() => {
    globalThis.calls = [0];
    const drawing = CanvasRenderingContext2D.prototype;
    for (const name of ["drawImage", "fillRect", "fill", "stroke", "fillText", "moveTo", "lineTo", "bezierCurveTo", "roundRect"]) {
      const own = drawing[name];
      drawing[name] = function (...given) {
        ++globalThis.calls[globalThis.calls.length - 1];
        return own.apply(this, given);
      };
    }
    const next = () => (globalThis.calls.push(0), requestAnimationFrame(next));
    requestAnimationFrame(next);
  });
  const seen = [];
  for (const turns of [1, 8, 4]) {
    await page.mouse.move(...middle);
    for (let i = 0; i < turns; ++i) await page.mouse.wheel(0, -250);
    await page.waitForFunction((last) => new URLSearchParams(location.hash.slice(1)).get("view") !== last, (await view())?.join(",") ?? null);
    const [x, y, scale] = await view();
    const before = await pixels(page);
    const first = await page.evaluate(() => globalThis.calls.push(0));
    await page.mouse.down();
    for (let i = 1; i <= 40; ++i) await page.mouse.move(middle[0] - 3 * i, middle[1] - 2 * i);
    const frames = await page.evaluate((from) => globalThis.calls.slice(from).filter((count) => count > 0), first);
    await page.mouse.up();
    await page.waitForFunction((last) => new URLSearchParams(location.hash.slice(1)).get("view") !== last, [x, y, scale].join(","));
    const after = await view();
    assert.ok(Math.abs(after[0] - x - 120 / scale) <= 1 && Math.abs(after[1] - y - 80 / scale) <= 1, `from ${[x, y, scale]} to ${after}`);
    assert.notEqual(await pixels(page), before);
    assert.ok(frames.length > 1, `${frames.length} frames`);
    if (scale < 0.5) assert.ok(Math.max(...frames.slice(1)) < 100, `calls of the canvas by frame: ${frames}`);
    seen.push(scale);
    await page.waitForTimeout(100);
    const again = await open(file, await page.evaluate(() => location.hash));
    await again.page.waitForTimeout(100);
    assert.equal(await pixels(again.page), await pixels(page));
    await again.close();
  }
  assert.ok(seen[0] < 0.12 && seen.at(-1) > 0.5, `scales ${seen}`);
  await close();
}

// A large graph is shown before the rest of the file is read: a file that ends there shows what the whole one does.
export async function graphComesFirst({ page: file, cut }) {
  const { page, close } = await open(file);
  const pixels = (p) => p.evaluate(() => document.querySelector("canvas").toDataURL());
  const settle = (p) => p.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const first = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await first.goto(pathToFileURL(cut).href);
  await Promise.all([settle(page), settle(first)]);
  assert.equal(await first.locator("#app").evaluate((app) => app.inert), true);
  assert.equal(await first.locator("header").textContent(), await page.locator("header").textContent());
  assert.equal(await pixels(first), await pixels(page));
  await first.close();
  // A link to something else does not show it.
  const other = await browser.newPage();
  await other.goto(pathToFileURL(cut).href + "#panel=table");
  assert.equal(await other.locator("canvas").count(), 0);
  await other.close();
  await close();
}

// Of a large graph: the search marks the nodes that have the text, and Enter leads from one to the next; the nearer, the more a node
// says; a click on the small map leads there.
// Texts that the canvas draws from now on.
const watchTexts = (page) =>
  page.evaluate(() => {
    globalThis.texts = new Set();
    const own = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
      globalThis.texts.add(text);
      return own.call(this, text, ...more);
    };
  });

// Where nodes are too small for all their lines, they show whole ones.
export async function linesThatFit({ page: file, scale, wanted }) {
  const { page, close } = await open(file);
  const { graphs, shared } = (await data(page)).stages.at(-1);
  await watchTexts(page);
  await page.evaluate((hash) => (location.hash = hash), `#panel=graph&view=-20,-20,${scale}`);
  await page.waitForFunction((text) => globalThis.texts.has(text), wanted);
  const lines = new Set(graphs[0].layout.below.flatMap((number) => shared[number]));
  const titles = new Set(graphs[0].layout.titles);
  for (const text of await page.evaluate(() => [...globalThis.texts])) assert.ok(titles.has(text) || lines.has(text), text);
  await close();
}

export async function findsZoomsAndMaps({ page: file, wanted }) {
  const { page, close } = await open(file);
  const stage = (await data(page)).stages.at(-1);
  const { layout, operations, values } = stage.graphs[0];
  const expected = nodesOf(layout).flatMap(({ kind, number, title }, i) => {
    const names = kind === "operation" ? [operations[number].name, ...operations[number].results.map((value) => values[value].name)] : [];
    const has = [title, ...stage.shared[layout.below[i]], ...names].some((text) => text.toLowerCase().includes(wanted.toLowerCase()));
    return has ? [names[0] ?? values[number].name] : [];
  });
  assert.ok(expected.length > 2 && expected.length < operations.length);
  await watchTexts(page);
  const input = page.getByLabel("Find an operation");
  await input.fill(wanted);
  assert.equal(await page.locator(".bar [role=status]").textContent(), `${expected.length} matches`);
  const seen = [];
  for (const key of ["Enter", "Enter", "Shift+Enter", "Shift+Enter"]) {
    await input.press(key);
    seen.push(await page.locator("#selection h2").textContent());
  }
  assert.deepEqual(seen, [expected[0], expected[1], expected[0], expected.at(-1)]);
  await input.fill("");

  const settled = async (act) => {
    const hash = () => page.evaluate(() => location.hash);
    const before = await hash();
    await act();
    await page.waitForFunction((h) => location.hash !== h, before);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  };
  const view = () => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("view").split(",").map(Number));
  const box = await page.locator("canvas").first().boundingBox();
  const [x, y, w, h] = nodesOf(layout).map((n) => [n.x, n.y, n.w, n.h])[Math.floor(layout.titles.length / 2)];
  const texts = {};
  for (const scale of [0.05, 0.4, 1]) {
    await settled(() => page.evaluate((hash) => (location.hash = hash), `#panel=graph&view=${[x + w / 2 - box.width / 2 / scale, y + h / 2 - box.height / 2 / scale, scale]}`));
    await page.evaluate(() => globalThis.texts.clear());
    await settled(() => page.evaluate((hash) => (location.hash = hash), `#panel=graph&view=${[x + w / 2 - box.width / 2 / scale + 5, y + h / 2 - box.height / 2 / scale, scale]}`));
    texts[scale] = await page.evaluate(() => [...globalThis.texts]);
  }
  const titles = new Set(layout.titles);
  assert.deepEqual(texts[0.05], []);
  assert.ok(texts[0.4].length > 0 && texts[0.4].every((text) => titles.has(text)), `${texts[0.4]}`);
  assert.ok(texts[1].some((text) => titles.has(text)) && texts[1].some((text) => !titles.has(text)), `${texts[1]}`);

  const map = page.locator("canvas.map");
  const scale = Math.min(180 / layout.width, 130 / layout.height);
  for (const [at, to] of [[20, 100], [40, 30]]) {
    await settled(() => map.click({ position: { x: at, y: to } }));
    const [left, top, zoom] = await view();
    const centre = [left + box.width / 2 / zoom, top + box.height / 2 / zoom];
    const border = 2 / scale; // of the map, and a pixel of it
    assert.ok(Math.abs(centre[0] - at / scale) <= border && Math.abs(centre[1] - to / scale) <= border, `${centre} for ${[at / scale, to / scale]}`);
  }
  await close();
}
