/** An axis of numbers from one round value to another. */
export interface Scale {
  min: number;
  max: number;
  /** Between two of its values. */
  interval: number;
}

/** What is smaller is nothing to be drawn. */
const LEAST = 1e-99;
/** Steps that an axis has about. */
const STEPS = 6;

/**
 * The axis that shows all values with some room at its ends, in steps of 1, 2 or 5 times a power of ten. It begins at
 * zero where the values are not far from there.
 */
export function scaleOf(values: readonly number[]): Scale {
  const known = values.filter(Number.isFinite);
  const least = known.reduce((min, value) => Math.min(min, value), Infinity);
  const most = known.reduce((max, value) => Math.max(max, value), -Infinity);
  if (known.length === 0) return { min: 0, max: 1, interval: 1 };
  const low = least > 0 && least < most / 2 ? 0 : least;
  const high = most < 0 && most > least / 2 ? 0 : most;
  const size = Math.max(Math.abs(low), Math.abs(high));
  // values that are as good as the same stand in the middle
  const span = size < LEAST ? 1 : high - low > size * 1e-9 ? high - low : size;
  const interval = roundStep(span / STEPS);
  const room = span / 25;
  const from = low === 0 ? 0 : low - room;
  const to = high === 0 && low < 0 ? 0 : high + room;
  return {
    min: exact(Math.floor(from / interval) * interval),
    max: exact(Math.ceil(to / interval) * interval),
    interval,
  };
}

/** The next of 1, 2 and 5 times a power of ten. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const times = [1, 2, 5, 10].find((factor) => factor * power >= step * 0.999) ?? 10;
  return exact(times * power);
}

/** Without what reckoning by powers of ten leaves behind. */
const exact = (value: number): number => Number(value.toPrecision(12));
