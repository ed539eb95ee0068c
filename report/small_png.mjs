// Small pictures of pages: at most 256 colours, the rare ones replaced by the nearest of the frequent ones.
import { deflateSync, inflateSync } from "node:zlib";

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

// Of 8-bit RGB or RGBA, as Chromium writes it.
function pixelsOf(png) {
  let [at, width, height, channels] = [8, 0, 0, 0];
  const data = [];
  while (at < png.length) {
    const length = png.readUInt32BE(at);
    const kind = png.toString("latin1", at + 4, at + 8);
    if (kind === "IHDR") {
      [width, height] = [png.readUInt32BE(at + 8), png.readUInt32BE(at + 12)];
      channels = { 2: 3, 6: 4 }[png[at + 17]];
    }
    if (kind === "IDAT") data.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const bytes = inflateSync(Buffer.concat(data));
  const stride = width * channels;
  const rows = Buffer.alloc(stride * height);
  for (let y = 0; y < height; ++y) {
    const filter = bytes[y * (stride + 1)];
    for (let x = 0; x < stride; ++x) {
      const left = x >= channels ? rows[y * stride + x - channels] : 0;
      const above = y > 0 ? rows[(y - 1) * stride + x] : 0;
      const corner = y > 0 && x >= channels ? rows[(y - 1) * stride + x - channels] : 0;
      const [p, q, r] = [Math.abs(above - corner), Math.abs(left - corner), Math.abs(left + above - 2 * corner)];
      const nearest = p <= q && p <= r ? left : q <= r ? above : corner;
      rows[y * stride + x] = bytes[y * (stride + 1) + 1 + x] + [0, left, above, (left + above) >> 1, nearest][filter];
    }
  }
  const pixels = new Uint32Array(width * height);
  for (let i = 0; i < pixels.length; ++i)
    pixels[i] = (rows[i * channels] << 16) | (rows[i * channels + 1] << 8) | rows[i * channels + 2];
  return { width, height, pixels };
}

const table = new Uint32Array(256).map((_, n) => {
  for (let k = 0; k < 8; ++k) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});
const crc = (bytes) => ~bytes.reduce((sum, byte) => table[(sum ^ byte) & 255] ^ (sum >>> 8), ~0) >>> 0;
function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length);
  body.copy(out, 4);
  out.writeUInt32BE(crc(body), body.length + 4);
  return out;
}

export function smallPng(png) {
  const { width, height, pixels } = pixelsOf(png);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const kept = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 256).map(([colour]) => colour);
  const distance = (a, b) =>
    [16, 8, 0].reduce((sum, shift) => sum + (((a >> shift) & 255) - ((b >> shift) & 255)) ** 2, 0);
  const number = new Map(kept.map((colour, i) => [colour, i]));
  for (const colour of counts.keys())
    if (!number.has(colour))
      number.set(colour, kept.reduce((best, other, i) => (distance(other, colour) < distance(kept[best], colour) ? i : best), 0));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x) rows[y * (width + 1) + 1 + x] = number.get(pixels[y * width + x]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const palette = Buffer.from(kept.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const parts = [["IHDR", header], ["PLTE", palette], ["IDAT", deflateSync(rows, { level: 9, memLevel: 9 })], ["IEND", Buffer.alloc(0)]];
  return Buffer.concat([signature, ...parts.map(([kind, data]) => chunk(kind, data))]);
}
