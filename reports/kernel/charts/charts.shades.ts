import { OTHERS, SHADES } from './charts.theme.ts';

/** A mapping of values to shades. */
export interface Shades {
  of(value: number | undefined): string;
  legend: { name: string; color: string }[];
}

/** A scale over the values: zero is grey, the rest in at most five steps of equal width. */
export function shadeScale(values: number[], write: (value: number) => string, whole: boolean): Shades {
  const most = values.reduce((max, value) => Math.max(max, value), 0);
  const steps = whole ? Math.min(SHADES.length, Math.max(1, most)) : SHADES.length;
  const width = whole ? Math.ceil(most / steps) || 1 : most / steps || 1;
  const step = (value: number) => Math.min(steps - 1, Math.max(0, Math.ceil(value / width) - 1));
  const shade = (index: number) =>
    SHADES[steps === 1 ? 2 : Math.round((index * (SHADES.length - 1)) / (steps - 1))]!;
  const used = new Set(values.map((value) => (value > 0 ? step(value) : -1)));
  return {
    of: (value) => (value !== undefined && value > 0 ? shade(step(value)) : OTHERS),
    legend: [
      ...(used.has(-1) ? [{ name: 'none', color: OTHERS }] : []),
      ...Array.from({ length: steps }, (_, index) => {
        const from = whole ? index * width + 1 : index * width;
        const to = Math.min(most, (index + 1) * width);
        const name = from === to ? write(to) : `${write(from)} – ${write(to)}`;
        return { name, color: shade(index), index };
      }).filter(({ index }) => most > 0 && (whole ? index * width < most : true)),
    ].map(({ name, color }) => ({ name, color })),
  };
}
