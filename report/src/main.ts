// The page of a report: reads the data inside it, and shows one panel at a time beside the selection. A panel is made when it is
// first shown.
import { Details } from "./details";
import { el, name } from "./dom";
import { saveSvg, saveSvgAsPng, type Picture } from "./export";
import { afterPaint, comesFirst, firstPicture, reportOf, wholeReport } from "./first";
import { GraphView } from "./graph_view";
import { pipelineView, TableView } from "./lists";
import type { Report } from "./model";
import { pictureOfPanel } from "./picture";
import { frontPicture, planName, planView } from "./plan_view";
import { proofView } from "./proof_view";
import { RewriteView } from "./rewrite_view";
import { SourceView } from "./source_view";
import { panels, type Panel, type State } from "./state";
import { expand, Store } from "./store";
import { TensorView } from "./tensor_view";
import { TimeView } from "./time_view";
import { whyView } from "./why_view";

const titles: Record<Panel, string> = {
  graph: "Graph",
  tensor: "Tensor",
  source: "Source",
  pipeline: "Pipeline",
  rewrite: "Rewrite",
  why: "Why",
  plan: "Plan",
  time: "Time line",
  proof: "Proof",
  table: "Table",
};

function setTheme(theme: State["theme"]): void {
  if (theme === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", theme);
}

interface Body {
  element: HTMLElement;
  savedPicture?: () => Picture | null; // of the others, what they show
}
const makers: Record<Panel, (store: Store) => Body> = {
  graph: (store) => new GraphView(store),
  tensor: (store) => new TensorView(store),
  source: (store) => ({ element: new SourceView(store).element }),
  pipeline: (store) => ({ element: pipelineView(store) }),
  rewrite: (store) => ({ element: new RewriteView(store).element }),
  why: (store) => ({ element: whyView(store) }),
  plan: (store) => {
    const element = planView(store);
    return { element, savedPicture: () => frontPicture(element) };
  },
  time: (store) => new TimeView(store),
  proof: (store) => ({ element: proofView(store) }),
  table: (store) => ({ element: new TableView(store).element }),
};

// `isWhole`: not the first picture alone (first.ts), beside which nothing is selected and with which nothing can be done.
function show(report: Report, absent: Panel[], isWhole: boolean): void {
  const store = new Store(expand(report));
  if (isWhole) store.followAddress();
  setTheme(store.state.theme);
  store.onChange((changed) => changed.has("theme") && setTheme(store.state.theme));

  const shown = panels.filter((panel) => !absent.includes(panel));
  const bodies: Partial<Record<Panel, Body>> = {};
  const picture = (): Picture => {
    const { panel } = store.state;
    const body = bodies[panel]!;
    return body.savedPicture?.() ?? pictureOfPanel(body.element, panel);
  };
  const tabs = shown.map((panel) =>
    el(
      "button",
      {
        type: "button",
        role: "tab",
        id: "tab-" + panel,
        "aria-controls": "panel-" + panel,
        click: () => store.set({ panel }),
      },
      titles[panel],
    ),
  );
  const holders = shown.map((panel) =>
    el("div", { role: "tabpanel", id: "panel-" + panel, "aria-labelledby": "tab-" + panel, tabindex: -1, class: "panel" }),
  );
  const stages = el("select", {
    "aria-label": "Stage",
    change: (event) => store.showStage(Number((event.target as HTMLSelectElement).value)),
  });
  const listStages = (): void =>
    stages.replaceChildren(
      ...store.report.stages.map((stage, i) =>
        el("option", { value: i, title: stage.about }, `${i + 1} ${stage.name}${i + 1 === store.report.stages.length ? planName(store) : ""}`),
      ),
    );
  listStages();
  store.onChange((changed) => changed.has("plan") && listStages());
  // Graphs inside others; the panel Graph shows all of them in place.
  const graphs = el("select", {
    "aria-label": "Graph",
    change: (event) =>
      store.set({ graph: Number((event.target as HTMLSelectElement).value), op: null, value: null, shard: null, axes: [], at: [] }),
  });
  const graphLabel = el("label", { class: "within", title: "Graph" }, graphs);
  const listGraphs = (): void => {
    graphs.replaceChildren(
      ...store.stage.graphs.map(({ path }, i) => el("option", { value: i }, path === "" ? "main" : path.replace(/\/$/, ""))),
    );
  };
  listGraphs();
  store.onChange((changed) => (changed.has("plan") || changed.has("stage")) && listGraphs());
  const themes = el("select", {
    "aria-label": "Colours",
    title: "Colours",
    change: (event) => store.set({ theme: (event.target as HTMLSelectElement).value as State["theme"] }),
  });
  for (const theme of ["auto", "light", "dark"]) themes.append(el("option", { value: theme }, "◐ " + theme));

  const saving = (["SVG", "PNG"] as const).map((kind) =>
    el("button", { type: "button", click: () => (kind === "SVG" ? saveSvg : saveSvgAsPng)(picture()) }, kind),
  );

  const update = (): void => {
    shown.forEach((panel, i) => {
      const isShown = panel === store.state.panel;
      if (isShown && !bodies[panel]) holders[i].append((bodies[panel] = makers[panel](store)).element);
      tabs[i].setAttribute("aria-selected", String(isShown));
      tabs[i].tabIndex = isShown ? 0 : -1;
      holders[i].hidden = !isShown;
    });
    saving.forEach((button) => {
      const what = `Save the panel ${titles[store.state.panel]} as ${button.textContent}`;
      button.setAttribute("aria-label", what);
      button.title = what;
    });
    stages.value = String(store.state.stage);
    graphs.value = String(store.state.graph);
    graphLabel.hidden = store.stage.graphs.length < 2 || !["tensor", "table"].includes(store.state.panel);
    themes.value = store.state.theme;
    // A link in one panel leads to another: so does the focus.
    if (document.activeElement?.closest("[hidden]")) holders[shown.indexOf(store.state.panel)].focus();
  };
  const tablist = el("div", { role: "tablist", "aria-label": "Panels" }, ...tabs);
  tablist.addEventListener("keydown", (event) => {
    const step = ({ ArrowRight: 1, ArrowLeft: -1 } as Record<string, number>)[event.key];
    if (!step) return;
    const next = (shown.indexOf(store.state.panel) + step + shown.length) % shown.length;
    store.set({ panel: shown[next] });
    tabs[next].focus();
  });
  store.onChange(update);
  const stepStage = (event: KeyboardEvent): void => {
    const step = ({ "[": -1, "]": 1 } as Record<string, number>)[event.key];
    if (!step || event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey) return;
    const stage = store.state.stage + step;
    if (stage >= 0 && stage < store.report.stages.length) store.showStage(stage);
  };
  if (isWhole) document.addEventListener("keydown", stepStage);
  document.title = `${report.program} · tapc report`;
  const app = document.getElementById("app")!;
  app.inert = !isWhole;
  app.replaceChildren(
    el(
      "header",
      {},
      el("h1", {}, name(report.program)),
      tablist,
      el("label", { class: "stage" }, "stage ", stages),
      graphLabel,
      themes,
      el("span", { class: "saving", role: "group", "aria-label": "Save a picture" }, ...saving),
    ),
    el("main", {}, el("div", { class: "panels" }, ...holders), isWhole ? new Details(store).element : el("aside")),
  );
  update();
}

function start(): void {
  const first = firstPicture();
  const showAll = (): void => show(wholeReport(first), first.absent, true);
  const isEarly = comesFirst(first);
  if (isEarly) show(reportOf(first), first.absent, false);
  document.addEventListener("DOMContentLoaded", () => (isEarly ? afterPaint(showAll) : showAll()));
}

start();
