// Colours of devices, distinguishable with every kind of colour blindness: for up to 8 devices those of Okabe and Ito,
// for more a scale from dark blue to yellow (cividis). Every coloured box also has its device's number.

const few = ["#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#BBBBBB"];
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
