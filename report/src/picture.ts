// A panel of texts and tables as SVG: each text, box and line where the page has it, in the page's colours. The whole panel, whatever
// is scrolled out of sight, up to a limit; parts that scroll by themselves are cut as on the screen.
import { svgTextOf, type Picture } from "./export";

const tallest = 8000; // pixels

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!).replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, "\ufffd");
const isSeen = (colour: string): boolean => !/^transparent$|, 0\)$/.test(colour);
const round = (x: number): number => Math.round(x * 10) / 10;

function withoutTabs(text: string): string {
  let out = "";
  for (const c of text) out += c === "\t" ? " ".repeat(8 - (out.length % 8)) : c;
  return out;
}

class PanelPicture {
  private out: string[] = [];
  private readonly pen = document.createElement("canvas").getContext("2d")!;
  private readonly ascents = new Map<string, [ascent: number, height: number]>(); // by font
  private readonly left: number;
  private readonly top: number;
  private readonly height: number;
  private underlined = false; // what is drawn now: by its element or one around it

  constructor(private root: HTMLElement) {
    const { left, top } = root.getBoundingClientRect();
    this.left = left - root.scrollLeft;
    this.top = top - root.scrollTop;
    this.height = Math.min(tallest, root.scrollHeight);
  }

  picture(file: string): Picture {
    this.element(this.root);
    const [width, height] = [this.root.scrollWidth, this.height];
    const background = getComputedStyle(document.body).backgroundColor;
    const text =
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
      `<rect width="100%" height="100%" fill="${background}"/>${this.out.join("")}</svg>`;
    return { text, width, height, file };
  }

  private x = (at: number): number => round(at - this.left);
  private y = (at: number): number => round(at - this.top);

  private element(element: Element, underlined = false): void {
    const style = getComputedStyle(element);
    this.underlined = underlined || style.textDecorationLine.includes("underline");
    const rect = element.getBoundingClientRect();
    if (!element.checkVisibility({ visibilityProperty: true }) || this.y(rect.top) > this.height) return;
    if (element instanceof SVGSVGElement) return this.inner(element, rect);
    if (element instanceof HTMLCanvasElement) return;
    this.box(style, rect);
    if (style.display === "list-item") this.marker(element, style, rect);
    if (element instanceof HTMLSelectElement) return this.line(element.selectedOptions[0]?.text ?? "", style, rect.left + 10, rect);
    if (element instanceof HTMLInputElement) return this.line(element.value, style, rect.left + 10, rect);
    const cuts = element !== this.root && style.overflow !== "visible" && (element.scrollHeight > element.clientHeight + 1 || element.scrollWidth > element.clientWidth + 1);
    if (cuts) {
      const [x, y, w, h] = [this.x(rect.left), this.y(rect.top), round(rect.width), round(rect.height)];
      this.out.push(`<svg x="${x}" y="${y}" width="${w}" height="${h}" viewBox="${x} ${y} ${w} ${h}">`);
    }
    const own = this.underlined;
    for (const child of element.childNodes) {
      this.underlined = own;
      if (child instanceof Text) this.text(child, style);
      else if (child instanceof Element) this.element(child, own);
    }
    if (cuts) this.out.push("</svg>");
  }

  private inner(picture: SVGSVGElement, rect: DOMRect): void {
    const [text, width] = svgTextOf(picture);
    const scale = width > 0 ? rect.width / width : 1;
    this.out.push(`<g transform="translate(${this.x(rect.left)} ${this.y(rect.top)}) scale(${scale})">${text}</g>`);
  }

  private box(style: CSSStyleDeclaration, rect: DOMRect): void {
    const [x, y, w, h] = [this.x(rect.left), this.y(rect.top), round(rect.width), round(rect.height)];
    const sides = (["Top", "Right", "Bottom", "Left"] as const).map((side): [number, string] => {
      const drawn = style[`border${side}Style`] !== "none" && isSeen(style[`border${side}Color`]);
      return [drawn ? parseFloat(style[`border${side}Width`]) : 0, style[`border${side}Color`]];
    });
    const around = sides.every(([width]) => width > 0);
    const fill = isSeen(style.backgroundColor) ? style.backgroundColor : "none";
    if (fill !== "none" || around)
      this.out.push(`<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="${parseFloat(style.borderTopLeftRadius) || 0}" fill="${fill}"${around ? ` stroke="${sides[0][1]}"` : ""}/>`);
    if (around) return;
    const lines = [`M${x} ${y}h${w}`, `M${x + w} ${y}v${h}`, `M${x} ${y + h}h${w}`, `M${x} ${y}v${h}`];
    sides.forEach(([width, colour], i) => width > 0 && this.out.push(`<path d="${lines[i]}" stroke="${colour}" stroke-width="${width}"/>`));
  }

  // The number of an item, or the triangle of what opens.
  private marker(element: Element, style: CSSStyleDeclaration, rect: DOMRect): void {
    const kind = style.listStyleType;
    const isOpen = element.parentElement instanceof HTMLDetailsElement && element.parentElement.open;
    const text = kind === "decimal" ? `${[...element.parentElement!.children].indexOf(element) + 1}.` : kind.startsWith("disclosure") ? (isOpen ? "▾" : "▸") : "";
    if (!text) return;
    const size = parseFloat(style.fontSize);
    const inside = kind.startsWith("disclosure");
    const first = new DOMRect(rect.left, rect.top, rect.width, parseFloat(style.lineHeight) || size * 1.45);
    this.line(text, style, inside ? rect.left : rect.left - 0.4 * size - text.length * 0.55 * size, first);
  }

  // Each line of a text that the page breaks.
  private text(node: Text, style: CSSStyleDeclaration): void {
    if (!node.data.trim()) return;
    const range = document.createRange();
    const rectOf = (from: number, to: number): DOMRect[] => {
      range.setStart(node, from);
      range.setEnd(node, to);
      return [...range.getClientRects()].filter(({ width }) => width > 0);
    };
    const keeps = /^pre/.test(style.whiteSpace);
    const start = keeps ? 0 : node.data.search(/\S/); // a space before it has a place, too
    const whole = rectOf(start, node.length);
    if (whole.length === 0) return;
    if (whole.length === 1) return this.line(node.data.slice(start), style, whole[0].left, whole[0]);
    let [begin, at] = [0, null as DOMRect | null];
    const flush = (end: number): void => {
      if (at) this.line(node.data.slice(begin, end), style, at.left, at);
    };
    const step = (from: number, to: number): void => {
      const rects = rectOf(from, to);
      if (rects.length > 1 && to - from > 1) {
        const middle = (from + to) >> 1;
        step(from, middle);
        return step(middle, to);
      }
      if (rects.length === 0) return;
      if (at && Math.abs(rects[0].top - at.top) < 2) return;
      flush(from);
      [begin, at] = [from, rects[0]];
    };
    for (const { index, 0: word } of node.data.matchAll(keeps ? /\s+|\S+/g : /\S+/g)) step(index, index + word.length);
    flush(node.length);
  }

  private line(text: string, style: CSSStyleDeclaration, left: number, rect: DOMRect): void {
    const keeps = /^pre/.test(style.whiteSpace);
    const shown = keeps ? withoutTabs(text.replace(/\n$/, "")) : text.replace(/\s+/g, " ").replace(/^ /, "");
    if (!shown.trim() || this.y(rect.top) > this.height) return;
    const [ascent, height] = this.ascentOf(style);
    const baseline = rect.top + (rect.height - height) / 2 + ascent;
    const underlined = this.underlined ? ' text-decoration="underline"' : "";
    this.out.push(
      `<text x="${this.x(left)}" y="${this.y(baseline)}" fill="${style.color}" font-family="${escape(style.fontFamily)}" font-size="${parseFloat(style.fontSize)}"` +
        `${style.fontWeight === "400" ? "" : ` font-weight="${style.fontWeight}"`}${underlined}${keeps ? ' xml:space="preserve"' : ""}>${escape(shown)}</text>`,
    );
  }

  private ascentOf({ fontWeight, fontSize, fontFamily }: CSSStyleDeclaration): [number, number] {
    const font = `${fontWeight} ${fontSize} ${fontFamily}`;
    const known = this.ascents.get(font);
    if (known) return known;
    this.pen.font = font;
    const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = this.pen.measureText("x");
    this.ascents.set(font, [ascent, ascent + descent]);
    return [ascent, ascent + descent];
  }
}

export const pictureOfPanel = (root: HTMLElement, file: string): Picture => new PanelPicture(root).picture(file);
