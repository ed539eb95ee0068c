// Each panel by the keyboard alone: no mouse, no script moves the focus.
import assert from "node:assert/strict";
import { data, open } from "./page.mjs";

const selectedTab = (page) => page.getByRole("tab", { selected: true }).textContent();
const hashOf = (page, name) => page.evaluate((n) => new URLSearchParams(location.hash.slice(1)).get(n), name);
const heading = (page) => page.locator("#selection h2").textContent();
const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};

// By Tab, or Shift+Tab, from where the focus is; fails if it comes round without finding it.
async function tabTo(page, selector, key = "Tab") {
  for (let i = 0; i < 400; ++i) {
    await page.keyboard.press(key);
    if (await page.evaluate((s) => document.activeElement.matches(s), selector)) return;
  }
  assert.fail(`${key} does not lead to ${selector}`);
}
async function toPanel(page, title) {
  await tabTo(page, "[role=tab]", "Shift+Tab");
  for (let i = 0; i < 20 && (await selectedTab(page)) !== title; ++i) await page.keyboard.press("ArrowRight");
  assert.equal(await selectedTab(page), title);
}

// What a click would act on, and Tab does not reach: controls, and whatever shows the hand. Lines of loop nests, boxes of a grid and
// tabs are led to by arrow keys within the element that Tab reaches.
async function reachesAll(page, title) {
  const mark = () =>
    page.evaluate(() => {
      const at = document.activeElement;
      const again = at.dataset.reached !== undefined;
      at.dataset.reached = "";
      return again;
    });
  await page.evaluate(() => document.querySelectorAll("[data-reached]").forEach((one) => delete one.dataset.reached));
  for (let i = 0; i < 1500 && !(await mark()); ++i) await page.keyboard.press("Tab");
  const missing = await page.evaluate(() => {
    const byArrows = "[data-statement], .main g.part, [role=tab], option";
    const shows = (element) => element.checkVisibility() && element.getClientRects().length > 0;
    const hand = (element) => ["pointer", "grab"].includes(getComputedStyle(element).cursor);
    return [...document.querySelectorAll("body *")]
      .filter((one) => shows(one) && (one.matches("button, select, input, summary, canvas:first-child, [tabindex='0']") || hand(one)))
      .filter((one) => !one.closest("[data-reached]") && !one.closest(byArrows) && !one.closest("label"))
      .map((one) => one.outerHTML.slice(0, 120));
  });
  assert.deepEqual(missing, [], `not reached in ${title}`);
}

export async function everyPanelByKeys({ page: file, planned, shards }) {
  const { page, close } = await open(file);
  const report = await data(page);
  const titles = await page.getByRole("tab").allTextContents();

  // Graph: arrows select, Enter opens, Escape lets go.
  await tabTo(page, "canvas");
  await press(page, "ArrowDown", "ArrowDown");
  assert.ok(await hashOf(page, "value"));
  await press(page, "Escape");
  assert.equal(await hashOf(page, "value"), null);
  await press(page, "/");
  await page.keyboard.type(shards.operation);
  await press(page, "Enter");
  assert.equal(await heading(page), shards.operation);
  await tabTo(page, "canvas");
  await press(page, "Enter");
  assert.equal(await hashOf(page, "open"), await hashOf(page, "op"));
  await reachesAll(page, "Graph");

  // Tensor: the value by its list, a box by arrows; Enter keeps it, and the focus stays.
  await toPanel(page, "Tensor");
  await tabTo(page, "[aria-label=Value]");
  const value = await hashOf(page, "value");
  await press(page, "ArrowUp");
  assert.notEqual(await hashOf(page, "value"), value);
  assert.ok(await page.evaluate(() => document.activeElement.matches("[aria-label=Value]")), "the list keeps the focus");
  await press(page, "ArrowDown");
  assert.equal(await hashOf(page, "value"), value);
  await tabTo(page, ".main g.part");
  await press(page, "ArrowRight", "Enter");
  assert.equal(await hashOf(page, "shard"), "1");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.part), "1");
  assert.ok((await page.locator(".related").innerText()).includes("Reads"));
  await press(page, "ArrowRight");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.part), "2");
  await reachesAll(page, "Tensor");

  // Source: a line selects its operation, arrows the statements of its kernel.
  await toPanel(page, "Source");
  await tabTo(page, "button.line");
  const line = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  await press(page, "Enter");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), line, "the line keeps the focus");
  await tabTo(page, ".code pre");
  await press(page, "ArrowDown");
  assert.match(await hashOf(page, "code"), /^\d+,1$/);
  assert.ok((await page.locator(".statement.marked").count()) > 1);
  await press(page, "Escape");
  assert.equal(await hashOf(page, "code"), null);
  await reachesAll(page, "Source");

  // Pipeline: a pass opens; a rewrite leads to its operation and to its line.
  await toPanel(page, "Pipeline");
  await tabTo(page, "summary");
  await press(page, "Enter");
  assert.equal(await page.locator("#panel-pipeline details[open]").count(), 1);
  await reachesAll(page, "Pipeline");
  await tabTo(page, "#panel-pipeline td .link");
  const named = await page.evaluate(() => document.activeElement.textContent);
  await press(page, "Enter");
  assert.equal(await selectedTab(page), "Graph");
  assert.equal(await heading(page), named);
  assert.equal(await page.evaluate(() => document.activeElement.id), "panel-graph", "the focus follows a link");

  // Rewrite: steps by buttons and by the list.
  await toPanel(page, "Rewrite");
  await tabTo(page, "[aria-label=Step]");
  const step = Number(await hashOf(page, "step"));
  await press(page, "ArrowDown");
  assert.equal(Number(await hashOf(page, "step")), step + 1);
  await tabTo(page, "#panel-rewrite button", "Shift+Tab");
  await tabTo(page, "#panel-rewrite button", "Shift+Tab");
  await press(page, "Enter");
  assert.equal(Number(await hashOf(page, "step")), step);
  await reachesAll(page, "Rewrite");

  // Why: prices open; a place leads to its line.
  await toPanel(page, "Why");
  await tabTo(page, "#panel-why summary");
  await press(page, "Enter");
  await page.locator("#panel-why details[open] table").waitFor();
  await reachesAll(page, "Why");
  await tabTo(page, "#panel-why .places .link");
  await press(page, "Enter");
  assert.equal(await selectedTab(page), "Source");
  assert.ok(await hashOf(page, "line"));

  // Time line: arrows walk along a device, plus shows less of the time, Escape lets go.
  await toPanel(page, "Time line");
  await tabTo(page, ".times canvas");
  await press(page, "ArrowRight", "ArrowRight", "+");
  assert.ok((await hashOf(page, "event")) && (await hashOf(page, "time")));
  await press(page, "Escape");
  assert.equal(await hashOf(page, "event"), null);
  await tabTo(page, ".timed .link");
  await press(page, "Enter");
  assert.ok(await hashOf(page, "event"));
  await reachesAll(page, "Time line");

  // Proof: an obligation opens and closes in place.
  await toPanel(page, "Proof");
  await tabTo(page, ".obligations button");
  for (const count of [1, 0, 1]) {
    await press(page, "Enter");
    assert.equal(await page.locator(".obligations [aria-expanded=true]").count(), count);
  }
  await reachesAll(page, "Proof");

  // Table: a row selects its operation.
  await toPanel(page, "Table");
  await tabTo(page, ".operations .link");
  await press(page, "Enter");
  assert.equal(await heading(page), report.stages.at(-1).graphs[Number((await hashOf(page, "graph")) ?? 0)].operations[0].name);
  await reachesAll(page, "Table");
  assert.deepEqual(titles, ["Graph", "Tensor", "Source", "Pipeline", "Rewrite", "Why", "Time line", "Proof", "Table"]);
  await close();

  // Plan: points by arrows, two are pinned, the graph of one is shown.
  const front = await open(planned);
  await toPanel(front.page, "Plan");
  await tabTo(front.page, ".point");
  await press(front.page, "Enter");
  const first = await hashOf(front.page, "plan");
  await tabTo(front.page, "[data-key=pin]");
  await press(front.page, "Enter");
  assert.ok(await front.page.evaluate(() => document.activeElement.matches("[data-key=pin]")), "the button keeps the focus");
  await tabTo(front.page, ".point", "Shift+Tab");
  await press(front.page, "ArrowLeft");
  if ((await hashOf(front.page, "plan")) === first) await press(front.page, "ArrowRight");  // it was the leftmost one
  assert.notEqual(await hashOf(front.page, "plan"), first);
  await tabTo(front.page, "[data-key=pin]");
  await press(front.page, "Enter");
  assert.equal(await front.page.locator(".compared .side").count(), 2);
  await reachesAll(front.page, "Plan");
  await tabTo(front.page, ".plan-table .link");
  await press(front.page, "Enter");
  await tabTo(front.page, ".chosen button:last-of-type", "Shift+Tab");
  await press(front.page, "Enter");
  assert.equal(await selectedTab(front.page), "Graph");
  await front.close();
}
