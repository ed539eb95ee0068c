// Opens reports in a real browser and compares what they show with what the test expects. tests/process/report_test.py
// writes the pages and the expectations, and runs this:
//
//   node browser_test.mjs CASES.json [CHECK…]       [{name, page, program, stage, values: {NAME: [{box, reads, lit, readers}]}}]
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { browser, data, isAccessible, open, sorted, tab } from "./page.mjs";
import * as graphChecks from "./graph_checks.mjs";
import * as colourChecks from "./colour_checks.mjs";
import * as keyboardChecks from "./keyboard_checks.mjs";
import * as panelChecks from "./panel_checks.mjs";

const only = process.argv.slice(3);
const cases = JSON.parse(readFileSync(process.argv[2], "utf8")).filter(({ check }) => only.length === 0 || only.includes(check));

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

// The table shows each graph of the data: the main one, and those of calls, iterates and groups inside it.
async function tableEqualsData({ page: file, kinds }) {
  const { page, close } = await open(file);
  const report = await data(page);
  await tab(page, "Table");
  const cells = (table) => page.$$eval(`table.${table} tbody tr`, (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const inside = page.locator(".within select");
  const seen = new Set();
  for (const [number, stage] of report.stages.entries()) {
    await page.getByLabel("Stage").selectOption(String(number));
    assert.equal(await inside.isVisible(), stage.graphs.length > 1);
    const paths = stage.graphs.map(({ path }) => (path === "" ? "main" : path.replace(/\/$/, "")));
    assert.deepEqual(await inside.locator("option").allTextContents(), paths);
    for (const [at, graph] of stage.graphs.entries()) {
      if (stage.graphs.length > 1) await inside.selectOption(String(at));
      const operations = await cells("operations");
      assert.deepEqual(
        operations.map((row) => row.slice(0, 3)),
        graph.operations.map(({ name, operands, placements }) => [
          name,
          operands.map((value) => graph.values[value].name).join(", "),
          (placements ?? []).map((placement) => placement.over).join(", "),
        ]),
        `${stage.name}: ${paths[at]}`,
      );
      graph.operations.forEach(({ move, source, region }, i) => {
        if (region) seen.add(region.kind);
        const text = operations[i][3];
        assert.ok(move ? text.startsWith(move.kind + ", ") && text.endsWith(move.axes.join(", ")) : text === "", text);
        const lines = [...operations[i][4].matchAll(/:(\d+) /g)].map(([, line]) => Number(line));
        assert.deepEqual(lines, (source ?? []).map(([, first]) => first));
      });
      const values = await cells("values");
      assert.deepEqual(
        values.map((row) => row.slice(0, 3)),
        graph.values.map((value) => [value.name, value.type, value.sharding?.text ?? ""]),
      );
      const units = { bytes: 1, KiB: 1 << 10, MiB: 1 << 20 };
      graph.values.forEach(({ bytes }, i) => {
        const [amount, unit] = values[i][3].split(" ");
        assert.ok(Math.abs(Number(amount) * units[unit] - bytes) <= 0.001 * bytes, values[i][3]);
      });
    }
  }
  assert.deepEqual(sorted(seen), sorted(kinds ?? []));
  await close();
}

// A large graph's table is shown in parts, which together have every row; the selected operation's part comes first.
async function tableHasAllRows({ page: file }) {
  const { page, close } = await open(file);
  const { operations } = (await data(page)).stages.at(-1).graphs[0];
  const op = operations.length - 1;
  await page.evaluate((hash) => (location.hash = hash), `#panel=table&op=${op}&value=${operations[op].results[0]}`);
  assert.equal(await page.locator("table.operations tr.selected th").textContent(), operations[op].name);
  assert.ok(await page.locator(".pager button").nth(1).isDisabled());
  const seen = await page.evaluate(() => {
    const button = (number) => document.querySelectorAll(".pager button")[number]; // drawn anew after each click
    const found = [];
    const note = () => found.push(...[...document.querySelectorAll("table.operations tbody th")].map((cell) => cell.textContent));
    while (!button(0).disabled) button(0).click();
    note();
    while (!button(1).disabled) button(1).click(), note();
    return found;
  });
  assert.deepEqual(seen, operations.map(({ name }) => name));
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
      await isAccessible(page, title);
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

const checks = { boxesLight, tableEqualsData, tableHasAllRows, stateRoundTrips, keyboardOnly, accessible, harmless, ...colourChecks, ...graphChecks, ...keyboardChecks, ...panelChecks };
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
