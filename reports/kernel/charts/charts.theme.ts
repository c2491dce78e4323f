/** Width of every chart in pixels, unless its columns need more. */
export const WIDTH = 960;
/** Font size of labels, in pixels. */
export const FONT_SIZE = 12;
export const TITLE_SIZE = 18;
/** Margin of the chart, in pixels. */
export const MARGIN = 24;

export const BACKGROUND_COLOR = '#ffffff';
/** Text; contrast 12.6:1 to the background. */
export const TEXT_COLOR = '#333333';
/** Grid lines and empty areas, which convey no information. */
export const FAINT = '#d5d9df';
export const AXIS = '#6b7280';

/**
 * Colours of categories. They can be distinguished with common kinds of colour blindness, in part by lightness, and have a
 * contrast of 4.5:1 to the background and to white text.
 */
export const PALETTE = [
  '#0067a5',
  '#b14a00',
  '#00735c',
  '#93357c',
  '#7a6200',
  '#4b54c4',
  '#a01f3c',
  '#3d3d4a',
  '#006f83',
  '#6c4a2f',
];
/** Colour of combined items. */
export const OTHERS = '#6b7280';
/** In ascending order, with a contrast of at least 3:1 to the background. */
export const SHADES = ['#5c95c9', '#3f7dbb', '#2a65a4', '#164b86', '#08306b'];

/** The colour of the n-th category. */
export const colour = (index: number): string => PALETTE[index % PALETTE.length]!;

const channel = (value: number): number => {
  const part = value / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
};

/** Relative luminance of `#rrggbb`, WCAG 2.2. */
function luminance(hex: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => channel(Number.parseInt(hex.slice(at, at + 2), 16)));
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** Contrast of two colours `#rrggbb` by WCAG 2.2, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

/** The text colour with the highest contrast on a background. */
export const textColorOn = (ground: string): string =>
  contrast(BACKGROUND_COLOR, ground) >= contrast('#000000', ground) ? BACKGROUND_COLOR : '#000000';
