// Colours of devices. For up to 8 devices, a search has found these: any two differ by a CIE Lab distance of 26 or more as people
// see them who lack one kind of cones, and as all others do (tests/colour_checks.mjs). For more devices, a scale from dark blue to
// yellow (cividis). All are lighter than dark backgrounds; what is filled with one has an outline, for light backgrounds. Every
// coloured box also has its device's number.

const few = ["#FFB256", "#1973C0", "#47E2A2", "#CF4523", "#FFE71D", "#A2B4FF", "#AF6062", "#A091AE"];
const scale = [
  [0, 32, 77],
  [66, 78, 108],
  [124, 123, 120],
  [188, 175, 111],
  [255, 234, 70],
];

export function colourOf(device: number, devices: number): string {
  if (devices <= few.length) return few[device % few.length];
  const at = ((device % devices) / (devices - 1)) * (scale.length - 1);
  const low = Math.min(Math.floor(at), scale.length - 2);
  const channel = (i: number): number => Math.round(scale[low][i] + (scale[low + 1][i] - scale[low][i]) * (at - low));
  return "#" + [0, 1, 2].map((i) => channel(i).toString(16).padStart(2, "0")).join("");
}

// Black or white, whichever is easier to read on the colour.
export function inkOn(colour: string): string {
  const channels = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  const [r, g, b] = channels.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
}

export const everyDevice = "#d5d9e0"; // not placed: every device has it

export function devicesText(devices: number[] | null): string {
  if (devices === null) return "every device";
  if (devices.length > 8) return `${devices.length} devices, ${devices[0]} … ${devices[devices.length - 1]}`;
  return (devices.length === 1 ? "device " : "devices ") + devices.join(", ");
}
export function shortDevices(devices: number[] | null): string {
  if (devices === null) return "all";
  if (devices.length > 4) return `${devices[0]},…,${devices[devices.length - 1]}`;
  return devices.join(",");
}
