// Pictures of a whole graph: the small map, and what a large graph shows while it moves.
import { drawScene, type Palette, type Scene, type View } from "./graph_draw";

const mostPixels = 3000; // on the longer side

export interface CoarsePicture {
  canvas: HTMLCanvasElement;
  scale: number;
}

export function pictureOf(scene: Scene, palette: Palette, scale: number, width: number, height: number): HTMLCanvasElement {
  const picture = document.createElement("canvas");
  picture.width = width;
  picture.height = height;
  drawScene(picture.getContext("2d")!, scene, palette, { x: 0, y: 0, scale }, width, height);
  return picture;
}

export function coarsePicture(scene: Scene, palette: Palette): CoarsePicture {
  const { width, height } = scene.layout;
  const scale = Math.min(1, mostPixels / width, mostPixels / height);
  return { canvas: pictureOf(scene, palette, scale, Math.ceil(width * scale), Math.ceil(height * scale)), scale };
}

// A large graph moves as a picture, and is drawn again where it stops.
export function drawCoarse(
  context: CanvasRenderingContext2D,
  { canvas, scale }: CoarsePicture,
  palette: Palette,
  { x, y, scale: shown }: View,
  width: number,
  height: number,
): void {
  context.fillStyle = palette.background;
  context.fillRect(0, 0, width, height);
  context.imageSmoothingEnabled = false;
  context.drawImage(canvas, -x * shown, -y * shown, (canvas.width / scale) * shown, (canvas.height / scale) * shown);
}
