// What the checker proved and what it assumed: a row for each obligation; an open one lists its claims, each with both sides.
import { el, name, plural, redraw } from "./dom";
import { pager } from "./lists";
import type { Finding } from "./model";
import { sideOf, stepsOf } from "./rewrite_view";
import type { Store } from "./store";

const mostClaims = 200; // shown together

// Made when it is first shown.
export function proofView(store: Store): HTMLElement {
  const section = el("section", { class: "list proofs rewrites", "aria-label": "Proof" });
  let from = 0; // the first claim shown
  const show = (): void => {
    if (store.state.panel !== "proof") return;
    const { findings, count } = store.report.proofs;
    const assumed = findings.filter(([, standing]) => standing !== "proved");
    const open = findings.filter(([obligation]) => obligation === store.state.obligation);
    redraw(
      section,
      el("p", {}, `${plural(count - assumed.length, "claim")} proved, ${assumed.length} assumed, up to the sharded graph.`),
      ...assumed.map(([obligation, , , , detail]) => el("p", { class: "move assumed" }, `assumed, ${obligation}: ${detail}`)),
      obligations(store),
      ...(open.length > 0 ? [el("h2", {}, store.state.obligation), el("p", { class: "faint" }, store.report.proofs.meanings[store.state.obligation])] : []),
      pager(open.length, from, (first) => ((from = first), show()), mostClaims),
      ...open.slice(from, from + mostClaims).map((finding) => claim(store, finding)),
    );
  };
  store.onChange((changed) => {
    if (changed.has("obligation")) from = 0;
    if (changed.has("panel") || changed.has("obligation")) show();
  });
  show();
  return section;
}

function obligations(store: Store): HTMLElement {
  const { meanings, findings } = store.report.proofs;
  const rows = Object.entries(meanings).map(([obligation, meaning]) => {
    const own = findings.filter(([of]) => of === obligation);
    const proved = own.filter(([, standing]) => standing === "proved").length;
    const open = store.state.obligation === obligation;
    return el(
      "tr",
      { class: open ? "selected" : null },
      el(
        "th",
        { scope: "row" },
        el(
          "button",
          { type: "button", class: "link", "aria-expanded": String(open), click: () => store.set({ obligation: open ? "" : obligation }) },
          obligation,
        ),
      ),
      el("td", { class: "number" }, String(proved)),
      el("td", { class: "number" }, String(own.length - proved)),
      el("td", {}, meaning),
    );
  });
  const head = ["Obligation", "Proved", "Assumed", "Meaning"];
  return el(
    "table",
    { class: "obligations" },
    el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", {}, ...rows),
  );
}

function claim(store: Store, [, standing, step, operation, detail]: Finding): HTMLElement {
  const shown = step === null ? undefined : stepsOf(store.report.passes)[step];
  const change = shown?.step.changes.find(({ after }) => after.some(([of]) => of === operation));
  const where = shown ? `step ${step! + 1}, ${shown.pass.name}` : "the whole chain";
  return el(
    "article",
    { class: "claim" },
    el("p", {}, `${standing}: `, operation ? name(operation) : "all of it", ` in ${where}`, detail && `: ${detail}`),
    change
      ? el("div", { class: "sides" }, sideOf("before", "Before", change.before), sideOf("after", "After", change.after))
      : el("p", { class: "faint" }, operation ? "Both sides are the same." : "It is about all operations of the step."),
  );
}
