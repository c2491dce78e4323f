import { markColour } from './charts.colours.ts';
import type { Look } from './charts.marks.ts';
import { schemes } from './charts.tokens.ts';
import type { ChartOptions, ChartWorkspace, Paint } from './charts.types.ts';

/** Width of a chart in pixels, if none is asked for. */
const DEFAULT_WIDTH = 1_200;

/** Below this width there is one column, and names are shorter. */
const NARROW = 800;

/** In a lower drawing area nothing can be told apart. */
const LEAST_AREA = 140;

/** How a chart is drawn for some options. */
export const lookOf = (workspace: ChartWorkspace, { theme, width }: ChartOptions = {}): Look => ({
  scheme: schemes[theme ?? 'light'],
  width: width ?? DEFAULT_WIDTH,
  margin: (width ?? DEFAULT_WIDTH) < NARROW ? 16 : 24,
  workspace,
});

/** Whether there is little room. */
export const isNarrow = ({ width }: Look): boolean => width < NARROW;

/** The height of a drawing area: its usual one, or what the height of the picture leaves. @param below what lies below it. */
export const areaHeight = ({ height }: Look, top: number, below: number, usual: number): number =>
  height === undefined ? usual : Math.min(usual, Math.max(LEAST_AREA, height - top - below));

/** The fill of a mark. */
export function fillOf(paint: Paint, { scheme }: Look): string {
  if (paint === 'accent') return scheme.categorical[0]!;
  if (paint === 'others') return scheme.others;
  if (paint === 'none') return scheme.panel;
  if ('phase' in paint) return scheme.lifecycle[paint.phase];
  if ('option' in paint) return themed(paint.option, scheme);
  if ('type' in paint) return markColour(paint.type, scheme);
  if ('quality' in paint) return scheme.quality[paint.quality]!;
  if ('tone' in paint) return scheme.tones[paint.tone].ink;
  if ('step' in paint) return scheme.sequential[Math.min(6, Math.max(0, paint.step))]!;
  return scheme.categorical[paint.category] ?? scheme.others;
}

/** A stored colour that is a token of the light scheme has its counterpart in the other scheme. */
function themed(color: string, scheme: Look['scheme']): string {
  const stored = color.toLowerCase();
  const { quality, lifecycle } = schemes.light;
  const step = quality.indexOf(stored);
  if (step >= 0) return scheme.quality[step]!;
  const phase = Object.entries(lifecycle).find(([, one]) => one === stored)?.[0];
  if (phase) return scheme.lifecycle[phase as keyof typeof lifecycle];
  return markColour(color, scheme);
}
