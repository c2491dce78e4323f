import type { Scheme } from './charts.tokens.ts';
import type { ChartWorkspace } from './charts.types.ts';

interface Common {
  /** What the mark stands for, in words. */
  title?: string | undefined;
  /** The id of the card that it stands for, in charts that have them. */
  ref?: string | undefined;
  /** The name of the entry of the legend to which it belongs. */
  legend?: string | undefined;
}

/** A rectangle; `hatch` is the colour of diagonal lines over its fill. */
export interface RectMark extends Common {
  kind: 'rect';
  x: number;
  y: number;
  width: number;
  height: number;
  fill: string;
  stroke?: string;
  radius?: number;
  hatch?: string;
  dashed?: boolean;
}

interface CircleMark extends Common {
  kind: 'circle';
  x: number;
  y: number;
  radius: number;
  fill: string;
  stroke?: string;
}

/** A line or area by the `d` of an SVG path. */
export interface PathMark extends Common {
  kind: 'path';
  d: string;
  fill?: string;
  stroke?: string;
  width?: number;
  dashed?: boolean;
}

/** One line of text; `y` is its baseline. */
export interface TextMark extends Pick<Common, 'ref' | 'legend'> {
  kind: 'text';
  x: number;
  y: number;
  text: string;
  size: number;
  fill: string;
  weight?: number;
  anchor?: 'start' | 'middle' | 'end';
  /** Rotated to read from bottom to top. */
  turned?: boolean;
  /** The complete text, if it was truncated. */
  whole?: string;
  /** The colour around the letters, on marks of other colours. */
  halo?: string;
}

/** One mark of a picture, in pixels. */
export type Mark = RectMark | CircleMark | PathMark | TextMark;

/** A chart as marks. */
export interface Picture {
  width: number;
  height: number;
  marks: Mark[];
  /** A sentence that says the content. */
  description: string;
}

/** How a chart is drawn. */
export interface Look {
  scheme: Scheme;
  width: number;
  /** Space around the chart. */
  margin: number;
  /** Whether it is a part of a larger picture, with a smaller title. */
  isPanel?: boolean;
  /** The height that drawing areas keep to, in pixels; default: each has its usual one. */
  height?: number;
  workspace: ChartWorkspace;
}

/** A straight line. */
export const line = (
  [x1, y1]: [number, number],
  [x2, y2]: [number, number],
  stroke: string,
  extra: Partial<PathMark> = {},
): PathMark => ({ kind: 'path', d: `M${px(x1)} ${px(y1)}L${px(x2)} ${px(y2)}`, stroke, width: 1, ...extra });

/** Rounds to tenths of a pixel, which halves the size of a picture. */
export const px = (pixels: number): number => Math.round(pixels * 10) / 10;

/** The baseline at which text of a size is centred around `y`. */
export const middle = (y: number, size: number): number => y + size * 0.36;

/** Marks that stand for a card. */
export const standingFor = (ref: string | undefined, marks: Mark[]): Mark[] =>
  ref === undefined ? marks : marks.map((mark) => ({ ...mark, ref }));

/** A mark moved by an offset. */
export function moved(mark: Mark, dx: number, dy: number): Mark {
  if (mark.kind !== 'path') return { ...mark, x: mark.x + dx, y: mark.y + dy };
  return { ...mark, d: movedPath(mark.d, dx, dy) };
}

/** Paths have absolute coordinates in pairs only. */
const movedPath = (d: string, dx: number, dy: number): string =>
  d.replace(
    /(-?[\d.]+) (-?[\d.]+)/g,
    (_, x: string, y: string) => `${px(Number(x) + dx)} ${px(Number(y) + dy)}`,
  );
