// What each rewrite did: the operations before and after, side by side, with the rules and source lines of the step.
import { el, name, plural } from "./dom";
import { sourceLink } from "./lists";
import type { Listed, Pass, Rewrite, Step } from "./model";
import type { Store } from "./store";

interface Numbered {
  pass: Pass;
  step: Step;
}

export const stepsOf = (passes: Pass[]): Numbered[] =>
  passes.flatMap((pass) => pass.steps.map((step) => ({ pass, step })));

export class RewriteView {
  readonly element = el("section", { class: "list rewrites", "aria-label": "Rewrite" });
  private steps: Numbered[];
  private choice = el("select", {
    "aria-label": "Step",
    change: () => this.store.set({ step: Number(this.choice.value) }),
  });
  private body = el("div", {});

  constructor(private store: Store) {
    this.steps = stepsOf(store.report.passes);
    this.steps.forEach(({ pass, step }, i) =>
      this.choice.append(el("option", { value: i }, `${i + 1} ${pass.name}: ${plural(step.change_count, "change")}`)),
    );
    this.element.append(
      el(
        "div",
        { class: "bar" },
        el("button", { type: "button", click: () => this.move(-1) }, "Previous step"),
        el("button", { type: "button", click: () => this.move(1) }, "Next step"),
        el("label", {}, "step ", this.choice),
      ),
      this.body,
    );
    store.onChange((changed) => (changed.has("panel") || changed.has("step")) && this.draw());
    this.draw();
  }

  private move(by: number): void {
    const step = this.store.state.step + by;
    if (step >= 0 && step < this.steps.length) this.store.set({ step });
  }

  private draw(): void {
    if (this.store.state.panel !== "rewrite") return;
    const shown = this.steps[this.store.state.step];
    if (!shown) {
      this.body.replaceChildren(el("p", {}, "No pass changed anything."));
      return;
    }
    const { pass, step } = shown;
    this.choice.value = String(this.store.state.step);
    const left = step.change_count - step.changes.length;
    this.body.replaceChildren(
      el("p", { class: "faint" }, pass.reason),
      ...step.changes.map((change, i) => this.change(step, change, i)),
      ...(left > 0 ? [el("p", { class: "faint" }, `${plural(left, "more change")} not part of this report`)] : []),
    );
  }

  private change(step: Step, { before, after }: Step["changes"][number], number: number): HTMLElement {
    const names = new Set(after.map(([operation]) => operation));
    const rewrites = step.rewrites.filter((rewrite) => names.has(rewrite.operation));
    return el(
      "article",
      { "aria-label": `Change ${number + 1}` },
      el("ul", { class: "why-changed" }, ...rewrites.slice(0, 8).map((rewrite) => this.reason(rewrite))),
      el(
        "div",
        { class: "sides" },
        this.side("before", "Before", before),
        this.side("after", "After", after),
      ),
    );
  }

  private reason({ operation, what, rules, source }: Rewrite): HTMLElement {
    return el(
      "li",
      {},
      name(operation),
      ` ${what} `,
      ...[...new Set(rules)].flatMap((rule) => [el("code", {}, rule), " "]),
      sourceLink(this.store, source),
    );
  }

  private side(kind: string, title: string, list: Listed[]): HTMLElement {
    return sideOf(kind, title, list);
  }
}

// One side of a change.
export const sideOf = (kind: string, title: string, list: Listed[]): HTMLElement =>
  el(
    "div",
    { class: "side " + kind },
    el("h3", {}, list.length === 0 ? title + ": nothing" : title),
    ...list.map(([operation, text]) =>
      el("div", { class: "listed", "data-operation": operation }, el("pre", { class: "equation" }, text.trimEnd())),
    ),
  );
