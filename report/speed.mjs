// Times of reports in Chromium, for scripts/report_speed.py: node speed.mjs ROUNDS FILE…
//
// Milliseconds, medians of the rounds: the first paint; the graph shown; everything there; the 95th percentile of a frame during a drag of the mouse
// over 60 steps, of the whole graph and then of a part of it, and during 60 turns of the wheel.
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const rounds = Number(process.argv[2]);
const files = process.argv.slice(3);
const p95 = (times) => times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)];

const browser = await launch();
const measures = {
  first_paint: (page) => page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime),
  graph_shown: (page) => page.evaluate(() => globalThis.shownAt),
  all_there: (page) => page.evaluate(() => globalThis.thereAt),
  drag: (page) => frames(page, () => drag(page)),
  drag_near: async (page) => {
    for (let i = 0; i < 6; ++i) await page.mouse.wheel(0, -250);
    await page.waitForTimeout(400);
    return frames(page, () => drag(page));
  },
  wheel: (page) =>
    frames(page, async () => {
      for (let i = 0; i < 60; ++i) await page.mouse.wheel(0, i < 30 ? -40 : 40);
    }),
};

async function frames(page, move) {
  await page.evaluate(() => {
    globalThis.frames = [];
    let last = performance.now();
    const next = () => {
      const now = performance.now();
      globalThis.frames.push(now - last);
      last = now;
      globalThis.going = requestAnimationFrame(next);
    };
    globalThis.going = requestAnimationFrame(next);
  });
  await move();
  return p95(await page.evaluate(() => (cancelAnimationFrame(globalThis.going), globalThis.frames)));
}

async function drag(page) {
  const { x, y } = await page.locator("canvas").first().boundingBox();
  await page.mouse.move(x + 300, y + 300);
  await page.mouse.down();
  for (let i = 0; i < 60; ++i) await page.mouse.move(x + 300 + 4 * i, y + 300 + 2 * i);
  await page.mouse.up();
}

const found = files.map(() => ({}));
for (let round = 0; round < rounds; ++round)
  for (const [k, file] of files.entries()) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    // In the frame after the one in which the graph, or all, is there.
    await page.addInitScript(() => {
      const notes = { shownAt: "canvas", thereAt: "#app:not([inert]) [role=tab]" };
      const note = (name) => requestAnimationFrame(() => requestAnimationFrame(() => (globalThis[name] = performance.now())));
      new MutationObserver((_, watch) => {
        for (const [name, selector] of Object.entries(notes)) if (document.querySelector(selector)) delete notes[name], note(name);
        if (Object.keys(notes).length === 0) watch.disconnect();
      }).observe(document, { childList: true, subtree: true, attributeFilter: ["inert"] });
    });
    await page.goto(pathToFileURL(file).href);
    await page.waitForFunction(() => globalThis.thereAt);
    for (const [name, measure] of Object.entries(measures)) (found[k][name] ??= []).push(await measure(page));
    await page.close();
  }
await browser.close();
const median = (list) => Math.round(list.sort((a, b) => a - b)[list.length >> 1]);
console.log(JSON.stringify(found.map((of) => Object.fromEntries(Object.entries(of).map(([name, list]) => [name, median(list)])))));
