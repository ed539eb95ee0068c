// Why each mesh axis shards a value, or does not: a row for each value and axis, with causes and source lines.
import { el, name } from "./dom";
import { mostRows, sourceLink } from "./lists";
import type { AxisReason, Cause, Lines, Report } from "./model";
import type { Store } from "./store";

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
    if (section.childElementCount === 0) section.append(whyTable(store));
    const selected = store.state.value === null ? null : store.graph.path + store.graph.values[store.state.value].name;
    for (const part of section.querySelectorAll<HTMLElement>("tbody"))
      part.classList.toggle("selected", part.dataset.value === selected);
    section.querySelector(".selected")?.scrollIntoView({ block: "nearest" });
  };
  store.onChange(show);
  show();
  return section;
}

function whyTable(store: Store): HTMLElement {
  const head = ["Value", "Sharding", "Mesh axis", "State", "From", "Because"];
  return el(
    "table",
    { class: "why" },
    el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col" }, h)))),
    ...store.report.reasons.slice(0, mostRows).map((reason) => valueRows(store, reason)),
  );
}

function valueRows(store: Store, reason: Report["reasons"][number]): HTMLElement {
  const span = Math.max(1, reason.axes.length);
  const first = [
    el("th", { scope: "rowgroup", rowspan: span }, name(reason.value)),
    el("td", { rowspan: span }, el("code", {}, reason.sharding)),
  ];
  const rows = reason.axes.map((axis, k) => el("tr", {}, ...(k === 0 ? first : []), ...axisCells(store, axis)));
  return el("tbody", { "data-value": reason.value }, ...(rows.length > 0 ? rows : [el("tr", {}, ...first)]));
}

const stateText = ({ state, dim }: AxisReason): string =>
  state === "unrelated" ? "no related value has it" : dim === null ? state : `${state}, axis ${dim}`;

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
