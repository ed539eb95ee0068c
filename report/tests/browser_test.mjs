// Opens reports in a real browser and compares what they show with what the test expects. tests/process/report_test.py
// writes the pages and the expectations, and runs this:
//
//   node browser_test.mjs CASES.json       [{name, page, program, stage, values: {NAME: [{box, reads, lit, readers}]}}]
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { launch } from "../browser.mjs";

const cases = JSON.parse(readFileSync(process.argv[2], "utf8"));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await launch();

// A page that fails the test on any request, error or warning.
async function open(file, hash = "", options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  const problems = [];
  const url = pathToFileURL(file).href;
  page.on("request", (request) => {
    if (request.url().replace(/#.*$/, "") !== url && !request.url().startsWith("blob:"))
      problems.push("request: " + request.url());
  });
  page.on("console", (message) => problems.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => problems.push("error: " + error));
  page.on("dialog", (dialog) => {
    problems.push("dialog: " + dialog.message());
    void dialog.dismiss();
  });
  await page.goto(url + hash);
  await page.waitForSelector("[role=tab]");
  return { page, problems, close: async () => (assert.deepEqual(problems, []), page.close()) };
}

const tab = (page, title) => page.getByRole("tab", { name: title }).click();
const sorted = (list) => [...list].sort();
const data = (page) => page.evaluate(() => JSON.parse(document.getElementById("data").textContent));

// Each box of each value lights exactly what brute force over index points finds.
async function boxesLight({ page: file, values }) {
  const { page, close } = await open(file);
  const report = await data(page);
  const stage = report.stages.length - 1;
  await tab(page, "Tensor");
  for (const [name, expected] of Object.entries(values)) {
    const number = report.stages[stage].graphs[0].values.findIndex((value) => value.name === name);
    assert.notEqual(number, -1, name);
    await page.getByLabel("Value", { exact: true }).selectOption(String(number));
    const parts = page.locator(".main g.part");
    const shown = await parts.evaluateAll((all) => all.map((part) => part.dataset.box));
    assert.deepEqual(sorted(shown), sorted(expected.map(({ box }) => box)), `the boxes of ${name}`);
    for (const { box, devices, reads, lit, overlaps, readers } of expected) {
      const part = page.locator(`.main g.part[data-box="${box}"]`);
      assert.equal(await part.getAttribute("data-devices"), devices);
      await part.hover();
      const found = await page.evaluate(() => {
        const list = (root, selector, text) => [...root.querySelectorAll(selector)].map(text);
        const operands = [...document.querySelectorAll(".related .operand")];
        const label = (operand, item) => `${operand.dataset.value} ${item.dataset.box}`;
        return {
          reads: operands.flatMap((o) => list(o, "li.read-box", (i) => label(o, i))),
          outlined: operands.flatMap((o) => list(o, "rect.read", (i) => label(o, i))),
          lit: operands.flatMap((o) => list(o, "li.lit-part", (i) => `${label(o, i)} ${i.dataset.devices}`)),
          shownLit: operands.flatMap((o) => list(o, "g.part.lit", (i) => `${label(o, i)} ${i.dataset.devices}`)),
          overlaps: list(document, ".main g.part.lit", (i) => i.dataset.box),
          readers: list(document, ".readers li", (i) => `${i.dataset.operation} ${i.dataset.box} ${i.dataset.devices}`),
        };
      });
      const what = `${name} ${box}`;
      assert.deepEqual(sorted(found.reads), sorted(reads), "reads of " + what);
      assert.deepEqual(sorted(found.lit), sorted(lit), "lit by " + what);
      assert.deepEqual(sorted(found.overlaps), sorted(overlaps), "overlaps of " + what);
      assert.deepEqual(sorted(found.readers), sorted(readers), "readers of " + what);
      // The pictures show a slice of what the lists say.
      for (const item of found.outlined) assert.ok(reads.includes(item), item);
      for (const item of found.shownLit) assert.ok(lit.includes(item), item);
    }
  }
  await close();
}

// The table shows the graph of the data.
async function tableEqualsData({ page: file }) {
  const { page, close } = await open(file);
  const report = await data(page);
  await tab(page, "Table");
  for (const [number, stage] of report.stages.entries()) {
    await page.getByLabel("Stage").selectOption(String(number));
    const rows = await page.$$eval("table.operations tbody tr", (all) =>
      all.map((row) => [row.cells[0].textContent, row.cells[1].textContent, row.cells[2].textContent]),
    );
    const graph = stage.graphs[0];
    assert.deepEqual(
      rows,
      graph.operations.map((operation) => [
        operation.name,
        operation.operands.map((value) => graph.values[value].name).join(", "),
        (operation.placements ?? []).map((placement) => placement.over).join(", "),
      ]),
    );
    const values = await page.$$eval("table.values tbody tr", (all) =>
      all.map((row) => [...row.cells].slice(0, 3).map((c) => c.textContent)),
    );
    assert.deepEqual(
      values,
      graph.values.map((value) => [value.name, value.type, value.sharding?.text ?? ""]),
    );
  }
  await close();
}

// The panel Plan has a point and a row for each plan; a click loads its graph, with as many shards as brute force gives.
async function plansLoad({ page: file, shards }) {
  const { page, close } = await open(file);
  const { plans } = await data(page);
  assert.ok(shards.length > 1 && plans.points.length === shards.length);
  await tab(page, "Plan");
  assert.equal(await page.locator(".front .point").count(), shards.length);
  assert.equal(await page.locator(".plan-table tbody tr").count(), shards.length);
  for (const [number, counts] of shards.entries()) {
    await tab(page, "Plan");
    await page.locator(`.front .point[data-plan="${number}"]`).dispatchEvent("click");
    assert.equal(await page.locator(".plan-text").textContent(), plans.points[number].text);
    const hash = await page.evaluate(() => location.hash);
    assert.match(hash, new RegExp(`plan=${number}(&|$)`));
    if (!counts) {
      assert.match(await page.locator(".chosen").textContent(), /not part of this report/);
      continue;
    }
    await tab(page, "Tensor");
    const values = plans.points[number].stage.graphs[0].values;
    for (const [name, count] of Object.entries(counts)) {
      const index = values.findIndex((value) => value.name === name);
      await page.getByLabel("Value", { exact: true }).selectOption(String(index));
      assert.equal(await page.locator(".main g.part").count(), count, `${name} of plan ${number + 1}`);
    }
  }
  // Two are pinned from the keyboard and compared; the address holds them.
  await tab(page, "Plan");
  for (const number of [0, shards.length - 1]) {
    await page.locator(`.front .point[data-plan="${number}"]`).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Pin to compare" }).press("Enter");
  }
  const lines = (i) => plans.points[i].text.split("\n").filter((line) => line && !line.startsWith("//"));
  const compared = async (p) =>
    p.$$eval(".compared .side", (all) => all.map((side) => [...side.querySelectorAll("li.own")].map((li) => li.textContent)));
  const [a, b] = [lines(0), lines(shards.length - 1)];
  const expected = [a.filter((line) => !b.includes(line)), b.filter((line) => !a.includes(line))];
  assert.deepEqual(await compared(page), expected);
  const again = await open(file, await page.evaluate(() => location.hash));
  assert.deepEqual(await compared(again.page), expected);
  await again.page.evaluate(axe);
  const result = await again.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = result.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 160)}`), []);
  await again.close();
  await close();
}

// The panel Proof counts the claims of the data; an open obligation shows them, with both sides of what changed.
async function proofsEqualData({ page: file, counts }) {
  const { page, close } = await open(file);
  const { proofs, passes } = await data(page);
  const steps = passes.flatMap((pass) => pass.steps);
  await tab(page, "Proof");
  const rows = await page.$$eval(".obligations tbody tr", (all) =>
    all.map((row) => [row.cells[0].textContent, Number(row.cells[1].textContent), Number(row.cells[2].textContent)]),
  );
  assert.deepEqual(Object.fromEntries(rows.map(([of, proved]) => [of, proved])), counts);
  for (const [obligation, proved, assumed] of rows) {
    await page.locator(".obligations").getByRole("button", { name: obligation, exact: true }).press("Enter");
    const claims = await page.$$eval("article.claim", (all) =>
      all.map((one) => [...one.querySelectorAll(".after .listed")].map((item) => item.dataset.operation)),
    );
    assert.equal(claims.length, proved + assumed);
    const own = proofs.findings.filter(([of]) => of === obligation);
    for (const [i, [, , step, operation]] of own.entries()) {
      const change = step === null ? undefined : steps[step].changes.find(({ after }) => after.some(([of]) => of === operation));
      assert.deepEqual(claims[i], change ? change.after.map(([of]) => of) : []);
    }
    const again = await open(file, await page.evaluate(() => location.hash));
    assert.equal(await again.page.locator("article.claim").count(), claims.length);
    await again.close();
  }
  await close();
}

// A source line leads to an operation, this to its kernels, and a kernel back to each operation that it computes.
async function codeIsLinked({ page: file, loops }) {
  const { page, close } = await open(file);
  const { kernels, stages } = await data(page);
  assert.equal(kernels.map((kernel) => kernel.loops.trimEnd()).join("\n\n"), loops.trimEnd());
  const stage = stages.length - 1;
  const graph = stages[stage].graphs[0];
  const seen = new Set();
  for (const [op, operation] of graph.operations.entries()) {
    const results = operation.results.map((value) => graph.values[value].name);
    const own = kernels.flatMap((kernel, i) => (kernel.values.some((value) => results.includes(value)) ? [i] : []));
    await page.evaluate((hash) => (location.hash = hash), `#panel=source&stage=${stage}&op=${op}&value=${operation.results[0]}`);
    await page.waitForFunction((n) => document.querySelectorAll(".code .loops").length === n, own.length);
    const shown = await page.$$eval(".code pre", (all) => all.map((pre) => [Number(pre.dataset.kernel), pre.textContent]));
    assert.deepEqual(shown, own.flatMap((i) => [[i, kernels[i].loops], [i, kernels[i].assembly]]));
    for (const i of own) {
      seen.add(i);
      assert.match(kernels[i].assembly, new RegExp(`^k_${String(i + 1).padStart(4, "0")}:[^]*\\bret`));
      for (const value of kernels[i].values) {
        await page.locator(".code h3").getByRole("button", { name: value, exact: true }).first().click();
        assert.equal(await page.locator("#selection h2").textContent(), graph.operations.find((o) => o.results.some((r) => graph.values[r].name === value)).name);
      }
    }
  }
  assert.equal(seen.size, kernels.length);
  await page.evaluate(axe);
  const result = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = result.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 160)}`), []);
  await close();
}

// Stepping to the next stage moves boxes, except for readers who prefer less motion.
async function stagesAnimate({ page: file, value }) {
  for (const reducedMotion of ["no-preference", "reduce"]) {
    const { page, close } = await open(file, "", { reducedMotion });
    const { stages } = await data(page);
    const sharded = stages.length - 1;
    const number = stages[0].graphs[0].values.findIndex(({ name }) => name === value);
    await page.evaluate((hash) => (location.hash = hash), `#panel=tensor&stage=0&value=${number}`);
    await page.locator(".main g.part").first().waitFor();
    const moving = await page.evaluate((stage) => {
      const select = document.querySelector(".stage select");
      select.value = String(stage);
      select.dispatchEvent(new Event("change"));
      return document.getAnimations().length;
    }, sharded);
    const parts = await page.locator(".main g.part").count();
    assert.ok(parts > 1);
    assert.equal(moving, reducedMotion === "reduce" ? 0 : parts);
    await page.waitForFunction(() => document.getAnimations().length === 0);
    await close();
  }
}

// Every picture can be saved, as SVG that needs no style of the page, and as PNG.
async function picturesAreSaved({ page: file, panel, saves }) {
  const { page, close } = await open(file);
  await page.evaluate((hash) => (location.hash = hash), `#panel=${panel}&value=0`);
  for (const [label, ending] of saves) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: label, exact: true }).click()]);
    assert.ok(download.suggestedFilename().endsWith(ending));
    const bytes = readFileSync(await download.path());
    if (ending === ".svg") {
      assert.match(bytes.toString(), /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
      assert.doesNotMatch(bytes.toString(), /var\(--/);
    } else assert.equal(bytes.toString("latin1", 1, 4), "PNG");
  }
  await close();
}

// The panel Time line lists the events of the data; keys and clicks select them, and the address holds what is shown.
async function timesEqualData({ page: file }) {
  const { page, close } = await open(file);
  const { time_line: line } = await data(page);
  await tab(page, "Time line");
  const text = (us) => {
    if (us === 0) return "0";
    const [unit, letters] = [[1e6, "s"], [1e3, "ms"], [1, "µs"], [1e-3, "ns"]].find(([one]) => us >= one * (1 - 1e-12)) ?? [1e-3, "ns"];
    return `${Number((us / unit).toPrecision(3))} ${letters}`;
  };
  const rows = await page.$$eval(".timed tbody tr", (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.equal(rows.length, line.events.length);
  for (const [number, [row, kind, name, what, box, , predicted]] of line.events.entries()) {
    const own = (pieces) => pieces.filter(([event]) => event === number);
    const measured = own(line.measured);
    const critical = [own(line.measured), own(line.predicted)].map((pieces) => pieces.some((piece) => piece[4]));
    const [process, device] = line.rows[row];
    const found = rows[number];
    assert.deepEqual(
      [...found.slice(0, 6), found[7], found[9]],
      [name, kind === "wait" ? "" : what, box, String(process), device === null ? "" : String(device),
        text(Math.min(...measured.map((piece) => piece[2]))), predicted === null ? "" : text(predicted),
        ["measured", "predicted"].filter((_, i) => critical[i]).join(", ")],
    );
  }
  // A click on the middle of each device's longest piece selects it.
  const canvas = page.locator(".times canvas");
  const selected = () => page.evaluate(() => Number(new URLSearchParams(location.hash.slice(1)).get("event")));
  const end = Math.max(line.measured_us, line.predicted_us) * 1.01;
  const { width } = await canvas.boundingBox();
  let top = 26;
  for (const [row] of line.rows.entries()) {
    const of = (pieces) => pieces.filter(([event]) => line.events[event][0] === row);
    const [measured, predicted] = [of(line.measured), of(line.predicted)];
    const lanes = (pieces) => Math.max(0, ...pieces.map((piece) => piece[1] + 1));
    const longest = measured.reduce((best, piece) => (piece[3] - piece[2] > best[3] - best[2] ? piece : best));
    const x = 104 + (((longest[2] + longest[3]) / 2) * (width - 116)) / end;
    await canvas.click({ position: { x, y: top + 4.5 + longest[1] * 15 + 6 } });
    assert.equal(await selected(), longest[0], `row ${row}`);
    top += lanes(measured) * 15 + lanes(predicted) * 9 + 9;
  }
  // The keys walk along a device in the order of time.
  const first = line.measured[0][0];
  await canvas.focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowRight");
  assert.equal(await selected(), first);
  const own = [...new Set(line.measured.map(([event]) => event).filter((event) => line.events[event][0] === line.events[first][0]))];
  await page.keyboard.press("ArrowRight");
  assert.equal(await selected(), own[Math.min(1, own.length - 1)]);
  for (const key of ["+", "+"]) await page.keyboard.press(key);
  const shown = (p) => p.evaluate(() => [location.hash, document.querySelector("main").innerText]);
  const before = await shown(page);
  assert.match(before[0], /panel=time.*event=.*time=/);
  const again = await open(file, before[0]);
  assert.deepEqual(await shown(again.page), before);
  await again.page.evaluate(axe);
  const result = await again.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = result.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 160)}`), []);
  await again.close();
  await close();
}

// The panel Rewrite shows the changes of each step; a step is part of the address.
async function rewritesEqualData({ page: file }) {
  const { page, close } = await open(file);
  const report = await data(page);
  await tab(page, "Rewrite");
  const steps = report.passes.flatMap((pass) => pass.steps);
  assert.ok(steps.length > 0);
  for (const [number, step] of steps.entries()) {
    await page.getByLabel("Step", { exact: true }).selectOption(String(number));
    const shown = await page.$$eval(".rewrites article", (all) =>
      all.map((article) => {
        const side = (kind) =>
          [...article.querySelectorAll(`.${kind} .listed`)].map((item) => [item.dataset.operation, item.textContent]);
        return { before: side("before"), after: side("after") };
      }),
    );
    const trimmed = (list) => list.map(([operation, text]) => [operation, text.trimEnd()]);
    assert.deepEqual(
      shown,
      step.changes.map(({ before, after }) => ({ before: trimmed(before), after: trimmed(after) })),
    );
    const again = await open(file, await page.evaluate(() => location.hash));
    assert.equal(await again.page.getByLabel("Step", { exact: true }).inputValue(), String(number));
    await again.close();
  }
  await page.getByRole("button", { name: "Step before" }).focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.getByLabel("Step", { exact: true }).inputValue(), String(Math.max(0, steps.length - 2)));
  await close();
}

// The panel Why shows each value and mesh axis of the data.
async function whyEqualsData({ page: file, kinds }) {
  const { page, close } = await open(file);
  const report = await data(page);
  await tab(page, "Why");
  const shown = await page.$$eval("table.why tbody", (all) =>
    all.map((part) => ({
      value: part.dataset.value,
      axes: [...part.rows].map((row) => {
        const cells = [...row.cells].slice(-4);
        const texts = (kind) => [...cells[3].querySelectorAll("." + kind)].map((c) => [c.dataset.kind, c.firstChild.textContent]);
        return [cells[0].textContent, cells[1].className, texts("cause"), texts("lost")];
      }),
    })),
  );
  const texts = (causes) => causes.map((cause) => [cause.kind, cause.text]);
  assert.deepEqual(
    shown,
    report.reasons.map(({ value, axes }) => ({
      value,
      axes: axes.map((a) => [`${a.mesh}.${a.axis}`, "state-" + a.state, texts(a.causes), texts(a.lost)]),
    })),
  );
  assert.deepEqual(sorted(new Set(report.reasons.flatMap((r) => r.axes.flatMap((a) => a.causes.map((c) => c.kind))))), sorted(kinds));
  // A cause leads to its line.
  await page.locator(".cause .link").first().click();
  assert.equal(await page.getByRole("tab", { selected: true }).textContent(), "Source");
  await close();
}

// What is shown comes back from the address alone.
async function stateRoundTrips({ page: file }) {
  const { page, close } = await open(file);
  const canvas = page.locator("canvas").first();
  await canvas.focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "+", "+"]) await page.keyboard.press(key);
  await page.waitForTimeout(300);
  await page.keyboard.press("t");
  await page.locator(".main g.part").first().focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("Colours").selectOption("dark");
  await page
    .getByLabel("Find an operation")
    .evaluate((input) => ((input.value = "Y"), input.dispatchEvent(new Event("input"))));
  const shown = (p) =>
    p.evaluate(() => [location.hash, document.documentElement.dataset.theme, document.querySelector("main").innerText]);
  const before = await shown(page);
  assert.match(before[0], /panel=tensor.*shard=.*view=.*find=Y.*theme=dark/);
  const again = await open(file, before[0]);
  assert.deepEqual(await shown(again.page), before);
  for (const panel of ["graph", "source", "pipeline", "rewrite", "why", "proof", "table"]) {
    await again.page.evaluate((p) => (location.hash = location.hash.replace(/panel=\w+/, "panel=" + p)), panel);
    await again.page.locator(`#panel-${panel}`).waitFor({ state: "visible" });
  }
  // A link to something that does not exist opens the report all the same.
  for (const hash of [
    "#panel=nothing&stage=99&graph=7&op=999999&value=12345&axes=9,9&at=x&view=NaN",
    "#%%%",
    "#stage=-1&shard=1e9",
  ])
    await (await open(file, hash)).close();
  await again.close();
  await close();
}

// The keyboard alone leads from the graph to a shard, to its source, and into inner graphs.
async function keyboardOnly({ page: file }) {
  const { page, close } = await open(file);
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.getByRole("tab", { selected: true }).textContent(), "Tensor");
  await page.keyboard.press("ArrowLeft");
  let focused = "";
  for (let i = 0; i < 20 && focused !== "CANVAS"; ++i) {
    await page.keyboard.press("Tab");
    focused = await page.evaluate(() => document.activeElement.tagName);
  }
  assert.equal(focused, "CANVAS");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await page.locator("#selection h2").textContent(), "");
  await close();
}

async function accessible({ page: file }) {
  for (const colorScheme of ["light", "dark"]) {
    const { page, close } = await open(file, "", { colorScheme, reducedMotion: "reduce" });
    await page.evaluate(axe);
    const titles = await page.getByRole("tab").allTextContents();
    const canvas = page.locator("canvas").first();
    await canvas.focus();
    for (let i = 0; i < 3; ++i) await page.keyboard.press("ArrowDown");
    for (const title of titles) {
      await tab(page, title);
      if (title === "Tensor") await page.locator(".main g.part").first().focus();
      if (title === "Pipeline")
        await page
          .locator("details")
          .first()
          .evaluate((element) => (element.open = true));
      const result = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      const serious = result.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(
        serious.map(({ id, nodes }) => `${title}: ${id}: ${nodes[0].html.slice(0, 160)} ${nodes[0].failureSummary}`),
        [],
      );
    }
    await close();
  }
}

// Every panel of a hostile report: nothing runs, nothing is loaded, the texts are there as they are.
async function harmless({ page: file, texts }) {
  const { page, close } = await open(file);
  assert.equal(await page.evaluate(() => globalThis.hostile), undefined);
  for (const title of await page.getByRole("tab").allTextContents()) await tab(page, title);
  await tab(page, "Source");
  const shown = await page.locator(".source").textContent();
  for (const text of texts) assert.ok(shown.includes(text), text);
  assert.equal(await page.locator("main img, main script, main iframe").count(), 0);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${wide} pixels beyond the window`);
  await close();
}

// Bounds with room for a busy machine; the numbers themselves are printed.
async function fast({ page: file, limits }) {
  const { page, close } = await open(file);
  const painted = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
  const frames = await page.evaluate(async () => {
    const canvas = document.querySelector("canvas");
    const times = [];
    for (let i = 0; i < 60; ++i) {
      canvas.dispatchEvent(
        new WheelEvent("wheel", { deltaY: i < 30 ? -40 : 40, clientX: 400, clientY: 400, cancelable: true }),
      );
      const begin = performance.now();
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      times.push(performance.now() - begin);
    }
    return times.sort((a, b) => a - b);
  });
  const p95 = frames[Math.floor(frames.length * 0.95)];
  console.log(`  first paint ${painted.toFixed(0)} ms, a frame at p95 ${p95.toFixed(0)} ms`);
  assert.ok(painted < limits.paint && p95 < limits.frame);
  await close();
}

const checks = { boxesLight, tableEqualsData, whyEqualsData, rewritesEqualData, plansLoad, codeIsLinked, stagesAnimate, picturesAreSaved, timesEqualData, proofsEqualData, stateRoundTrips, keyboardOnly, accessible, harmless, fast };
let failed = 0;
for (const test of cases) {
  const begin = Date.now();
  try {
    await checks[test.check](test);
    console.log(`ok ${test.check} ${test.name} (${Date.now() - begin} ms)`);
  } catch (error) {
    ++failed;
    console.log(`not ok ${test.check} ${test.name}\n${error.stack ?? error}`);
  }
}
await browser.close();
process.exit(failed === 0 ? 0 : 1);
