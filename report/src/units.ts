// Quantities with three digits.

export const timeText = (seconds: number): string => {
  if (seconds === 0) return "0";
  const units: [number, string][] = [
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
    [1e-9, "ns"],
  ];
  const [unit, letters] = units.find(([one]) => Math.abs(seconds) >= one) ?? units[units.length - 1];
  return `${Number((seconds / unit).toPrecision(3))} ${letters}`;
};
