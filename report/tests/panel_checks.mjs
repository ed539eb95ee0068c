// The panels of a report: what each shows is what the data say.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { data, isAccessible, open, sorted, tab } from "./page.mjs";

// The panel Plan has a point and a row for each plan; a click loads its graph, with as many shards as brute force gives.
export async function plansLoad({ page: file, shards }) {
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
  await isAccessible(again.page);
  await again.close();
  await close();
}

// The panel Proof counts the claims of the data; an open obligation shows them, with both sides of what changed.
export async function proofsEqualData({ page: file, counts }) {
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
export async function codeIsLinked({ page: file, loops }) {
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
  // Each statement of a loop nest marks its lines and the instructions that it became, by keys and by pointer; the address holds it.
  const marked = (p) => p.$$eval(".code pre", (all) => all.map((pre) => [pre.dataset.kernel, [...pre.children].flatMap((line, i) => (line.classList.contains("marked") ? [i] : []))]));
  const shownKernels = await page.$$eval(".code .loops pre", (all) => all.map((pre) => Number(pre.dataset.kernel)));
  for (const number of shownKernels) {
    const { loop_statements: loopLines, assembly_statements: instructions } = kernels[number];
    const linesOf = (list, statement) => list.flatMap((own, i) => (own === statement ? [i] : []));
    const expected = (statement) => [[String(number), linesOf(loopLines, statement)], [String(number), linesOf(instructions, statement)]];
    const last = Math.max(...loopLines);
    assert.ok(instructions.some((statement) => statement > 0)); // how many depends on the processor
    assert.ok(instructions.every((statement) => statement <= last));
    await page.locator(`.code .loops pre[data-kernel="${number}"]`).focus();
    for (let statement = 1; statement <= last; ++statement) {
      await page.keyboard.press("ArrowDown");
      assert.deepEqual((await marked(page)).filter(([of]) => of === String(number)), expected(statement));
    }
    const again = await open(file, await page.evaluate(() => location.hash));
    assert.deepEqual((await marked(again.page)).filter(([of]) => of === String(number)), expected(last));
    await again.close();
    // From a link, and from another panel: the first of its lines is in sight, though the window is small.
    const small = { viewport: { width: 1000, height: 300 } };
    const linked = await page.evaluate(() => location.hash);
    for (const panel of ["source", "pipeline"]) {
      const one = await open(file, linked.replace("panel=source", "panel=" + panel), small);
      await tab(one.page, "Source");
      await one.page.waitForFunction((kernel) =>
        [...document.querySelectorAll(`.code pre[data-kernel="${kernel}"]`)].every((pre) => {
          const [line, box] = [pre.querySelector(".marked").getBoundingClientRect(), pre.getBoundingClientRect()];
          return pre.scrollHeight > pre.clientHeight && box.top <= line.top && line.bottom <= box.bottom;
        }), number, { timeout: 5000 });
      await one.close();
    }
    await page.keyboard.press("Escape");
    await page.locator(`.code .assembly pre[data-kernel="${number}"] [data-statement="${last}"]`).first().hover();
    assert.deepEqual((await marked(page)).filter(([of]) => of === String(number)), expected(last));
  }
  await isAccessible(page);
  await close();
}

// Stepping to the next stage moves boxes, except for readers who prefer less motion.
export async function stagesAnimate({ page: file, value }) {
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

// In the page: what is wrong with a saved picture; of a panel of texts, whether each of its texts is there.
const judgePicture = ([text, panel, isOfTexts]) => {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml");
  if (svg.querySelector("parsererror")) return ["no SVG: " + svg.querySelector("parsererror").textContent];
  const root = svg.documentElement;
  const [width, height] = ["width", "height"].map((name) => Number(root.getAttribute(name)));
  const problems = width > 0 && height > 0 ? [] : [`${width} by ${height} pixels`];
  if (!isOfTexts) return problems;
  const texts = [...root.querySelectorAll("text")];
  for (const one of texts) {
    const [x, y] = ["x", "y"].map((name) => Number(one.getAttribute(name)));
    if (!(x >= 0 && x <= width && y >= 0 && y <= height) && !one.closest("svg svg")) problems.push(`${one.textContent} is outside`);
  }
  const packed = (words) => words.replace(/\s+/g, "");
  const all = packed(texts.map((one) => one.textContent).join(""));
  const shown = document.querySelector(`#panel-${panel} > section`);
  const walker = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const [first] = range.getClientRects();
    if (node.parentElement.closest("option, svg") || !node.parentElement.checkVisibility() || !first) continue;
    const scroller = node.parentElement.closest("pre")?.getBoundingClientRect();
    if (scroller && (first.top > scroller.bottom || first.bottom < scroller.top)) continue;
    if (first.top - shown.getBoundingClientRect().top + shown.scrollTop > height) continue;
    if (!all.includes(packed(node.data))) problems.push(`without ${node.data}`);
  }
  return problems;
};

// Every panel can be saved, as SVG that needs no style of the page, and as PNG.
export async function picturesAreSaved({ page: file, panel, title, texts }) {
  const { page, close } = await open(file);
  const { stages } = await data(page);
  const stage = stages.length - 1;
  const { operations } = stages[stage].graphs[0];
  await page.evaluate((hash) => (location.hash = hash), `#panel=${panel}&op=${operations.length - 1}&value=${operations.at(-1).results[0]}&obligation=cover`);
  await page.waitForFunction(() => document.getAnimations().length === 0);
  for (const kind of ["SVG", "PNG"]) {
    const button = page.getByRole("button", { name: `Save the panel ${title} as ${kind}`, exact: true });
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    assert.ok(download.suggestedFilename().endsWith("." + kind.toLowerCase()));
    const bytes = readFileSync(await download.path());
    if (kind === "SVG") {
      assert.match(bytes.toString(), /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
      assert.doesNotMatch(bytes.toString(), /var\(--/);
      assert.deepEqual(await page.evaluate(judgePicture, [bytes.toString(), panel, texts]), []);
    } else assert.equal(bytes.toString("latin1", 1, 4), "PNG");
  }
  await close();
}

// The panel Time line lists the events of the data; keys and clicks select them, and the address holds what is shown.
export async function timesEqualData({ page: file }) {
  const { page, close } = await open(file);
  const { time_line: line } = await data(page);
  await tab(page, "Time line");
  const units = { s: 1e6, ms: 1e3, "µs": 1, ns: 1e-3 };
  const isNear = (text, us) => {
    const [number, unit] = text.split(" ");
    assert.ok(Math.abs(Number(number) * (units[unit] ?? 0) - us) <= 0.006 * us, `${text} for ${us} µs`); // three digits
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
      [...found.slice(0, 5), found[9]],
      [name, kind === "wait" ? "" : what, box, String(process), device === null ? "" : String(device),
        ["measured", "predicted"].filter((_, i) => critical[i]).join(", ")],
    );
    isNear(found[5], Math.min(...measured.map((piece) => piece[2])));
    if (predicted === null) assert.equal(found[7], "");
    else isNear(found[7], predicted);
  }
  // A click on the middle of each device's longest piece selects it. The times around it are shown, since on a busy machine one
  // device that waits leaves little room to the others.
  const canvas = page.locator(".times canvas");
  const selected = () => page.evaluate(() => Number(new URLSearchParams(location.hash.slice(1)).get("event")));
  const { width } = await canvas.boundingBox();
  let top = 26;
  for (const [row] of line.rows.entries()) {
    const of = (pieces) => pieces.filter(([event]) => line.events[event][0] === row);
    const [measured, predicted] = [of(line.measured), of(line.predicted)];
    const lanes = (pieces) => Math.max(0, ...pieces.map((piece) => piece[1] + 1));
    const longest = measured.reduce((best, piece) => (piece[3] - piece[2] > best[3] - best[2] ? piece : best));
    const length = Math.max(longest[3] - longest[2], 0.001);
    const [from, to] = [Math.max(longest[2] - 5 * length, 0), longest[3] + 5 * length];
    await page.evaluate((time) => {
      const state = new URLSearchParams(location.hash.slice(1));
      state.set("time", time.join(","));
      location.hash = state.toString();
    }, [from, to]);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const x = 104 + (((longest[2] + longest[3]) / 2 - from) * (width - 116)) / (to - from);
    await canvas.click({ position: { x, y: top + 4.5 + longest[1] * 15 + 6 } });
    assert.equal(await selected(), longest[0], `row ${row}`);
    top += lanes(measured) * 15 + lanes(predicted) * 9 + 9;
  }
  await page.getByRole("button", { name: "Show all times" }).click();
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
  await isAccessible(again.page);
  await again.close();
  await close();
}

// The panel Rewrite shows the changes of each step; a step is part of the address.
export async function rewritesEqualData({ page: file }) {
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
  await page.getByRole("button", { name: "Previous step" }).focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.getByLabel("Step", { exact: true }).inputValue(), String(Math.max(0, steps.length - 2)));
  await close();
}

// The panel Why says which prices are left out, and why.
export async function unpricedIsSaid({ page: file, text }) {
  const { page, close } = await open(file);
  await tab(page, "Why");
  assert.equal(await page.locator("#panel-why .unpriced").textContent(), text);
  await close();
}

// The panel Why shows each value and mesh axis of the data.
export async function whyEqualsData({ page: file, kinds }) {
  const { page, close } = await open(file);
  const report = await data(page);
  await tab(page, "Why");
  const shown = await page.$$eval("table.why tbody", (all) =>
    all.map((part) => ({
      value: part.dataset.value,
      axes: [...part.rows].filter((row) => !row.querySelector("details")).map((row) => {
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
  // Each price is the one of the data, and so is each term.
  await page.$$eval("table.why details", (all) => all.forEach((one) => (one.open = true)));
  await page.waitForFunction(() => [...document.querySelectorAll("table.why details")].every((one) => one.querySelector("table")));
  const tables = await page.$$eval("table.prices", (all) =>
    all.map((one) => [...one.rows].map((row) => [...row.cells].map((cell) => cell.textContent))),
  );
  const units = { s: 1, ms: 1e-3, "µs": 1e-6, ns: 1e-9, bytes: 1, KiB: 1 << 10, MiB: 1 << 20, GiB: 1 << 30 };
  const quantity = (text) => (text === "-" || text === "0" ? 0 : Number(text.split(" ")[0]) * units[text.split(" ")[1]]);
  const near = (text, value) => Math.abs(quantity(text) - value) <= 0.006 * Math.abs(value) + 1e-12;
  const priced = [
    ...report.reasons.filter(({ alternatives }) => alternatives?.length > 1).map(({ alternatives }) => alternatives.map((one) => [one.sharding, one])),
    ...report.decisions.map(({ alternatives }) => alternatives.map((one) => [one.lines.join("") || "as they are", one])),
  ];
  assert.ok(priced.length > 1);
  assert.equal(tables.length, priced.length);
  for (const [k, [head, ...rows]] of tables.entries()) {
    assert.deepEqual(sorted(rows.map(([label]) => label)), sorted(priced[k].map(([label]) => label)));
    for (const [label, , time, memory, received, ...terms] of rows) {
      const [, price] = priced[k].find(([own]) => own === label);
      assert.deepEqual(new Set(Object.keys(price.terms ?? {})), new Set(head.slice(5).filter((_, i) => terms[i] !== "-")));
      assert.ok(near(time, price.seconds ?? 0) && near(memory, price.memory ?? 0) && near(received, price.received ?? 0), `${label}: ${time}, ${memory}, ${received}`);
      for (const [i, term] of terms.entries()) assert.ok(near(term, price.terms?.[head[5 + i]] ?? 0), `${label}: ${head[5 + i]} ${term}`);
    }
  }
  await isAccessible(page);
  // A cause leads to its line.
  await page.locator(".cause .link").first().click();
  assert.equal(await page.getByRole("tab", { selected: true }).textContent(), "Source");
  await close();
}
