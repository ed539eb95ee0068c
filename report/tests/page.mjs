// Opens a report in a real browser, for the checks of browser_test.mjs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { launch } from "../browser.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const browser = await launch();

// A page that fails the test on any request, error or warning.
export async function open(file, hash = "", options = {}) {
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
  await page.waitForSelector("#app:not([inert]) [role=tab]");
  return { page, problems, close: async () => (assert.deepEqual(problems, []), page.close()) };
}

// axe-core finds no serious violation; `where` says of what.
export async function isAccessible(page, where = "") {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  const result = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = result.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const texts = serious.map(({ id, nodes }) => `${where} ${id}: ${nodes[0].html.slice(0, 160)} ${nodes[0].failureSummary}`);
  assert.deepEqual(texts, []);
}

export const tab = (page, title) => page.getByRole("tab", { name: title }).click();
export const sorted = (list) => [...list].sort();
// As the compiler made them: the layout of the last stage's graph stands before the rest.
export const data = (page) =>
  page.evaluate(() => {
    const [picture, report] = ["picture", "data"].map((id) => JSON.parse(document.getElementById(id).textContent));
    report.stages.at(-1).graphs[0].layout = picture.layout;
    return report;
  });
// The nodes of a layout of the data.
export const nodesOf = ({ boxes, titles }) =>
  titles.map((title, i) => {
    const [kind, number, x, y, w, h] = boxes.slice(6 * i, 6 * i + 6);
    return { kind: ["input", "const", "operation", "output", "operation", "operation"][kind], number, x, y, w, h, title };
  });
