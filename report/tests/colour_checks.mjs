// The colours of devices: people who lack one kind of cones tell them apart, and all see them on light and dark backgrounds.
import assert from "node:assert/strict";
import { data, open, tab } from "./page.mjs";

// What people without one kind of cones see, on linear RGB: Machado, Oliveira and Fernandes, "A physiologically-based model for
// simulation of color vision deficiency", 2009, severity 1.
const seenBy = {
  everyone: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
// sRGB with the white D65, to XYZ.
const toXyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]];
const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, factor, i) => sum + factor * vector[i], 0));
const linear = ([...channels]) => channels.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
function lab(rgb) {
  const white = times(toXyz, [1, 1, 1]);
  const [x, y, z] = times(toXyz, rgb).map((one, i) => {
    const t = one / white[i];
    return t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const seen = (rgb, matrix) => times(matrix, linear(rgb)).map((c) => Math.min(1, Math.max(0, c)));
const distance = (a, b, matrix) => Math.hypot(...lab(seen(a, matrix)).map((c, i) => c - lab(seen(b, matrix))[i]));
const luminance = (rgb) => times(toXyz, linear(rgb))[1];
function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}
const leastDistance = 20;
const leastContrast = 3; // WCAG 1.4.11, for what is no text

const channels = (colour) =>
  colour.startsWith("#") ? [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)) : colour.match(/[\d.]+/g).slice(0, 3).map(Number);

// In the page: each mark with a device's colour, its outline, and what it stands on.
const marksInPage = () => {
  const behind = (element) => {
    for (let at = element.parentElement; at; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (!/, 0\)$|transparent/.test(backgroundColor)) return backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const legend = [...document.querySelectorAll("#panel-graph .legend li")].find((item) => item.textContent === "its devices");
  return [
    ...[...document.querySelectorAll(".main g.part")].map((part) => ["box", part.dataset.devices, part.querySelector("rect")]),
    ...[...(legend?.querySelectorAll("rect") ?? [])].map((rect, device) => ["legend", String(device), rect]),
  ].map(([where, devices, rect]) => [where, devices, getComputedStyle(rect).fill, getComputedStyle(rect).stroke, behind(rect)]);
};

export async function coloursAreDistinct({ page: file, devices, value }) {
  const found = new Map(); // device → colour
  for (const theme of ["light", "dark"]) {
    const { page, close } = await open(file, `#panel=graph&theme=${theme}`);
    const number = (await data(page)).stages.at(-1).graphs[0].values.findIndex(({ name }) => name === value);
    const marks = (await page.evaluate(marksInPage)).filter(([where]) => where === "legend");
    assert.ok(marks.length > 1);
    await tab(page, "Tensor");
    await page.getByLabel("Value", { exact: true }).selectOption(String(number));
    const boxes = (await page.evaluate(marksInPage)).filter(([where]) => where === "box");
    assert.equal(boxes.length, devices);
    for (const [where, device, fill, stroke, behind] of [...marks, ...boxes]) {
      const colour = channels(fill);
      assert.deepEqual(colour, found.get(device) ?? colour, `device ${device} has one colour`);
      found.set(device, colour);
      const own = stroke === "none" ? [colour] : [colour, channels(stroke)];
      const best = Math.max(...own.map((one) => contrast(one, channels(behind))));
      assert.ok(best >= leastContrast, `${where} of device ${device}, ${theme}: ${fill} in ${stroke} on ${behind} has a contrast of ${best.toFixed(2)}`);
    }
    await close();
  }
  assert.equal(found.size, devices);
  for (const [kind, matrix] of Object.entries(seenBy))
    for (const [a, colour] of found)
      for (const [b, other] of found) {
        if (Number(a) >= Number(b)) continue;
        const between = distance(colour, other, matrix);
        assert.ok(between >= leastDistance, `devices ${a} and ${b} are ${between.toFixed(1)} apart as seen with ${kind}`);
      }
  // The measure itself: black and white are 100 apart; red and green of one lightness are nearly alike without M cones.
  assert.ok(Math.abs(distance([0, 0, 0], [255, 255, 255], seenBy.everyone) - 100) < 0.1);
  assert.ok(Math.abs(contrast([0, 0, 0], [255, 255, 255]) - 21) < 0.01);
  assert.ok(distance([190, 100, 60], [120, 135, 60], seenBy.deuteranopia) < 12 && distance([190, 100, 60], [120, 135, 60], seenBy.everyone) > 40);
}
