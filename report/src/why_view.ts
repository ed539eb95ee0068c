// Why each mesh axis shards a value, or does not: a row for each value and axis, with causes and source lines; what other shardings
// would cost; and what the cost model considers where the plan leaves something open.
import { bytesText, el, name, whenShown } from "./dom";
import { sourceLink } from "./lists";
import type { AxisReason, Cause, Lines, Price, PricedSharding, Reason } from "./model";
import type { Store } from "./store";
import { timeText } from "./units";

// The lines of `tapc explain`; a place at the end of one is a link.
export function reasonText(store: Store, lines: string[]): HTMLElement {
  const text = el("pre", {});
  for (const line of lines) {
    const [, before, path, number] = /^ {0,2}(.* at )(.*):(\d+):\d+$/.exec(line) ?? [];
    const file = store.report.files.findIndex((known) => known.path === path);
    if (file < 0) text.append(line.replace(/^ {2}/, ""));
    else text.append(before, sourceLink(store, [[file, Number(number), Number(number)]]));
    text.append("\n");
  }
  return text;
}

// Made when it is first shown.
export function whyView(store: Store): HTMLElement {
  const section = el("section", { class: "list", "aria-label": "Why" });
  const show = (): void => {
    if (store.state.panel !== "why") return;
    if (section.childElementCount === 0) section.append(...reasons(store), ...decisions(store));
    const selected = store.state.value === null ? null : store.graph.path + store.graph.values[store.state.value].name;
    for (const part of section.querySelectorAll<HTMLElement>("tbody"))
      part.classList.toggle("selected", part.dataset.value === selected);
    whenShown(() => section.querySelector(".selected")?.scrollIntoView({ block: "nearest" }));
  };
  store.onChange(show);
  show();
  return section;
}

function reasons(store: Store): HTMLElement[] {
  if (store.report.reasons.length === 0) return [];
  const { unpriced } = store.report;
  return [...(unpriced === null ? [] : [el("p", { class: "move unpriced" }, `Left out: ${unpriced}`)]), whyTable(store)];
}

function whyTable(store: Store): HTMLElement {
  const head = ["Value", "Sharding", "Mesh axis", "State", "From", "Because"];
  return el(
    "table",
    { class: "why" },
    el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col" }, h)))),
    ...store.report.reasons.map((reason) => valueRows(store, reason)),
  );
}

// A column for each term that some row has.
function priceTable(title: string, rows: { label: string[]; remark: string; price: Partial<Price> }[]): HTMLElement {
  const terms = [...new Set(rows.flatMap(({ price }) => Object.keys(price.terms ?? {})))];
  const seconds = (value: number | undefined): string => (value === undefined ? "-" : value === 0 ? "0" : timeText(value));
  const bytes = (value: number | undefined): string => (value === undefined ? "-" : bytesText(value));
  const numbers = ({ seconds: time, memory, received, terms: own }: Partial<Price>): string[] => [
    seconds(time),
    bytes(memory),
    bytes(received),
    ...terms.map((term) => (own?.[term] === undefined ? "-" : timeText(own[term]))),
  ];
  const head = ["", "Time", "Memory", "Received", ...terms];
  const table = el(
    "table",
    { class: "prices" },
    el(
      "thead",
      {},
      el("tr", {}, el("th", { scope: "col" }, title), ...head.map((h) => (h ? el("th", { scope: "col", class: "number" }, h) : el("td", {})))),
    ),
    el(
      "tbody",
      {},
      ...rows.map(({ label, remark, price }) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, ...label.map((line) => el("code", { class: "rule" }, name(line)))),
          el("td", { class: "remark" }, remark),
          ...numbers(price).map((text) => el("td", { class: "number" }, text)),
        ),
      ),
    ),
  );
  return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Prices by ${title.toLowerCase()}` }, table);
}

function shardingPrices(alternatives: PricedSharding[]): HTMLElement {
  const [now, ...others] = alternatives;
  const rank = ({ seconds }: PricedSharding): number => seconds ?? Infinity;
  const rows = [now, ...others.sort((a, b) => rank(a) - rank(b))].map((one) => ({
    label: [one.sharding],
    remark: one.as_it_is
      ? "as it is"
      : one.seconds === undefined
        ? "contradicts another sharding"
        : `${(one.seconds / Math.max(now.seconds!, 1e-12)).toFixed(2)} × the time`,
    price: one,
  }));
  return priceTable("Sharding", rows);
}

function decisions(store: Store): HTMLElement[] {
  const { decisions: all } = store.report;
  if (all.length === 0) return [];
  return [
    el("h2", {}, "Decisions of the cost model"),
    el("p", { class: "faint" }, "Where the plan leaves something open, ", el("code", {}, "tapc run"), " takes the first of these."),
    ...all.map(({ operations, alternatives }) =>
      el(
        "div",
        { class: "decision" },
        el("h3", {}, name(operations.join(", "))),
        priceTable(
          "Lines of the plan",
          alternatives.map(({ lines, remark, ...price }) => ({ label: lines.length > 0 ? lines : ["as they are"], remark, price })),
        ),
      ),
    ),
  ];
}

function valueRows(store: Store, reason: Reason): HTMLElement {
  const priced = reason.alternatives && reason.alternatives.length > 1 ? reason.alternatives : null;
  const span = Math.max(1, reason.axes.length);
  const first = [
    el("th", { scope: "rowgroup", rowspan: span }, name(reason.value)),
    el("td", { rowspan: span }, el("code", {}, reason.sharding)),
  ];
  const rows = reason.axes.map((axis, k) => el("tr", {}, ...(k === 0 ? first : []), ...axisCells(store, axis)));
  if (rows.length === 0) rows.push(el("tr", {}, ...first));
  if (priced) {
    const details = el("details", {}, el("summary", {}, "predicted costs of this sharding and others, for one device"));
    // Made when it is first opened.
    details.addEventListener("toggle", () => details.childElementCount === 1 && details.append(shardingPrices(priced)));
    rows.push(el("tr", {}, el("td", { colspan: 6 }, details)));
  }
  return el("tbody", { "data-value": reason.value }, ...rows);
}

const stateText = ({ state, dim }: AxisReason): string =>
  state === "unrelated" ? "no related value is sharded by it" : dim === null ? state : `${state}, axis ${dim}`;

function axisCells(store: Store, axis: AxisReason): HTMLElement[] {
  const from: (Node | string)[] = [];
  if (axis.from) from.push(name(axis.from));
  if (axis.operation) from.push(" by ", name(axis.operation));
  return [
    el("td", {}, `${axis.mesh}.${axis.axis}`),
    el("td", { class: "state-" + axis.state }, stateText(axis)),
    el("td", {}, ...from, " ", sourceLink(store, axis.source)),
    el(
      "td",
      {},
      ...axis.causes.map((cause) => causeItem(store, cause, "cause")),
      ...axis.lost.map((cause) => causeItem(store, cause, "lost")),
    ),
  ];
}

const causeItem = (store: Store, { kind, text, source }: Cause, what: string): HTMLElement =>
  el("div", { class: what, "data-kind": kind }, el("span", {}, text), " ", sourceLink(store, source as Lines[]));
