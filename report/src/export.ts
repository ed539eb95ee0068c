// Saves a picture: the browser writes a file that the page makes; nothing leaves the computer.

function save(blob: Blob, file: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export interface Picture {
  text: string; // SVG
  width: number;
  height: number;
  file: string; // its name, without an ending
}

export const saveSvg = ({ text, file }: Picture): void => save(new Blob([text], { type: "image/svg+xml" }), file + ".svg");

function savePng(canvas: HTMLCanvasElement, file: string): void {
  canvas.toBlob((blob) => blob && save(blob, file), "image/png");
}

const drawn = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight"];

// A picture of the page with the colours that its style gives it, and its size.
export function svgTextOf(picture: SVGSVGElement): [text: string, width: number, height: number] {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const [from, to] = [picture, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const property of drawn) to[i].setAttribute(property, style.getPropertyValue(property));
  });
  const { width, height } = picture.viewBox.baseVal;
  for (const [name, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height })) copy.setAttribute(name, String(value));
  return [new XMLSerializer().serializeToString(copy), width, height];
}

// Draws an SVG on a canvas, at twice its size where a canvas can be that large.
export function saveSvgAsPng({ text, width, height, file }: Picture): void {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.onload = () => {
    const canvas = document.createElement("canvas");
    const scale = Math.min(2, 8192 / Math.max(width, height));
    canvas.width = Math.max(1, Math.round(width * scale));
    canvas.height = Math.max(1, Math.round(height * scale));
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(url);
    savePng(canvas, file + ".png");
  };
  image.src = url;
}
