// The front of `tapc plan`: a point for each plan. A chosen plan's graph is the last stage of every panel, if the report has it;
// two pinned plans are compared.
import { bytesText, el, name, plural, redraw, svg } from "./dom";
import { svgTextOf, type Picture } from "./export";
import type { PlanPoint, Plans } from "./model";
import type { Store } from "./store";
import { timeText } from "./units";

const size = { width: 560, height: 320, left: 92, right: 20, top: 22, bottom: 44 };

export const planName = (store: Store): string => {
  const { plan } = store.state;
  return plan !== null && store.report.plans?.points[plan]?.stage ? `, plan ${plan + 1}` : "";
};
const summary = ({ time, memory, traffic, mesh }: PlanPoint): string =>
  `${timeText(time)}, ${bytesText(memory)} per device, ${bytesText(traffic)} received, on ${mesh}`;

// Made when it is first shown.
export function planView(store: Store): HTMLElement {
  const section = el("section", { class: "list plans", "aria-label": "Plan" });
  const plans = store.report.plans;
  const show = (): void => {
    if (!plans || store.state.panel !== "plan") return;
    redraw(section, picture(store, plans), about(plans), chosen(store, plans), pinned(store, plans), table(store, plans));
  };
  store.onChange((changed) => ["panel", "plan", "pins"].some((key) => changed.has(key as never)) && show());
  show();
  return section;
}

// The front alone.
export function frontPicture(panel: HTMLElement): Picture | null {
  const front = panel.querySelector<SVGSVGElement>("svg.front");
  if (!front) return null;
  const [text, width, height] = svgTextOf(front);
  return { text, width, height, file: "front" };
}

const scale = (values: number[], from: number, to: number): ((value: number) => number) => {
  const [lo, hi] = [Math.min(...values), Math.max(...values)];
  return (value) => (hi > lo ? from + ((value - lo) / (hi - lo)) * (to - from) : (from + to) / 2);
};

function picture(store: Store, { points, picked }: Plans): SVGSVGElement {
  const { width, height, left, right, top, bottom } = size;
  const times = points.map((p) => p.time);
  const memories = points.map((p) => p.memory);
  const x = scale(times, left + 20, width - right - 20);
  const y = scale(memories, height - bottom - 20, top + 20);
  const most = Math.max(...points.map((p) => p.traffic));
  const text = (at: [number, number], anchor: string, words: string): SVGElement =>
    svg("text", { x: at[0], y: at[1], "text-anchor": anchor }, words);
  const step = (from: number, by: number): void => {
    const order = points.map((_, i) => i).sort((a, b) => points[a].time - points[b].time);
    const next = order[(order.indexOf(from) + by + order.length) % order.length];
    store.showPlan(next);
    document.querySelector<SVGElement>(`.point[data-plan="${next}"]`)?.focus();
  };
  const marks = points.map((point, i) => {
    const mark = svg(
      "circle",
      {
        class: `point${i === picked ? " picked" : ""}${point.stage ? "" : " lines-only"}`,
        "data-plan": i,
        cx: x(point.time),
        cy: y(point.memory),
        r: 5 + (most > 0 ? 10 * Math.sqrt(point.traffic / most) : 0),
        tabindex: 0,
        role: "button",
        "aria-pressed": String(store.state.plan === i),
        "aria-label": `plan ${i + 1}: ${summary(point)}`,
        click: () => store.showPlan(i),
      },
      svg("title", {}, `plan ${i + 1}: ${summary(point)}`),
    );
    mark.addEventListener("keydown", (event) => {
      const by = ({ ArrowRight: 1, ArrowLeft: -1 } as Record<string, number>)[event.key];
      if (by) step(i, by);
      if (event.key === "Enter" || event.key === " ") store.showPlan(i);
      if (by || event.key === " ") event.preventDefault();
    });
    return mark;
  });
  const ends = (values: number[]): number[] => [...new Set([Math.min(...values), Math.max(...values)])];
  return svg(
    "svg",
    { class: "front", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Plans by time and memory" },
    svg("path", { class: "frame", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
    ...ends(times).map((value) => text([x(value), height - bottom + 16], "middle", timeText(value))),
    ...ends(memories).map((value) => text([left - 6, y(value) + 4], "end", bytesText(value))),
    text([(left + width) / 2, height - 8], "middle", "predicted time; the area is what the busiest device receives"),
    text([left, top - 8], "middle", "memory per device"),
    ...marks,
  );
}

function about({ command, points, picked, strategies, exhaustive }: Plans): HTMLElement {
  const left = points.filter((point) => !point.stage).length;
  return el(
    "div",
    {},
    el("p", {}, el("code", {}, command), ` compared ${plural(strategies, "strategy", "strategies")}${exhaustive ? ", exhaustively" : ""}.`),
    el(
      "p",
      { class: "faint" },
      `No plan is worse than another in all of time, memory and traffic. Pipeline, Rewrite and Why show plan ${picked + 1}.`,
    ),
    left > 0 && el("p", { class: "move" }, `Left out: the graphs of ${plural(left, "plan")}, shown as rings; their lines are here.`),
  );
}

function chosen(store: Store, { points, picked }: Plans): HTMLElement {
  const number = store.state.plan ?? picked;
  const point = points[number];
  const is = store.state.pins.includes(number);
  const pins = is ? store.state.pins.filter((pin) => pin !== number) : [...store.state.pins, number].slice(-2);
  return el(
    "div",
    { class: "chosen" },
    el("h2", {}, `Plan ${number + 1}`),
    el("p", {}, summary(point)),
    el("button", { type: "button", "data-key": "pin", "aria-pressed": String(is), click: () => store.set({ pins }) }, is ? "Unpin" : "Pin to compare"),
    " ",
    point.stage
      ? el("button", { type: "button", click: () => (store.showPlan(number), store.set({ panel: "graph" })) }, "Show its graph")
      : el("p", {}, "Its graph is not part of this report. Save the lines as ", el("code", {}, "P"), " and run ", el("code", {}, "tapc inspect FILE --plan P -o report.html"), "."),
    el("pre", { class: "plan-text" }, point.text),
  );
}

// Lines that only one of them has are marked.
function pinned(store: Store, { points }: Plans): HTMLElement | string {
  const [a, b] = store.state.pins;
  if (a === undefined || b === undefined) return "";
  const lines = (i: number): string[] => points[i].text.split("\n").filter((line) => line && !line.startsWith("//"));
  const side = (own: number, other: number): HTMLElement =>
    el(
      "div",
      { class: "side", "data-pin": own },
      el("h3", {}, `Plan ${own + 1}`),
      el("p", {}, summary(points[own])),
      el("ul", { class: "boxes" }, ...lines(own).map((line) => el("li", { class: lines(other).includes(line) ? "same" : "own" }, name(line)))),
    );
  return el("div", {}, el("h2", {}, "Compared"), el("div", { class: "sides compared" }, side(a, b), side(b, a)));
}

function table(store: Store, { points }: Plans): HTMLElement {
  const head = ["Plan", "Time", "Memory per device", "Received", "Mesh"];
  return el(
    "table",
    { class: "plan-table" },
    el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col" }, h)))),
    el(
      "tbody",
      {},
      ...points.map((point, i) =>
        el(
          "tr",
          { class: store.state.plan === i ? "selected" : null },
          el("th", { scope: "row" }, el("button", { type: "button", class: "link", click: () => store.showPlan(i) }, `plan ${i + 1}`)),
          el("td", {}, timeText(point.time)),
          el("td", {}, bytesText(point.memory)),
          el("td", {}, bytesText(point.traffic)),
          el("td", {}, name(point.mesh)),
        ),
      ),
    ),
  );
}
