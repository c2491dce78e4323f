import type { Scheme } from './charts.tokens.ts';

type Rgb = readonly [red: number, green: number, blue: number];

/** Smallest contrast of text and of marks with their surface, WCAG 2.2. */
export const LEAST = { text: 4.5, mark: 3 } as const;
/** Smallest distance of two colours of a palette, see {@link distance}. */
export const LEAST_DISTANCE = 6;

/** CSS names that a metamodel may contain instead of `#rrggbb`. */
const named: Record<string, string> = {
  black: '#000000',
  blue: '#0000ff',
  gray: '#808080',
  green: '#008000',
  grey: '#808080',
  orange: '#ffa500',
  purple: '#800080',
  red: '#ff0000',
  teal: '#008080',
  white: '#ffffff',
  yellow: '#ffff00',
};

/** A stored colour as `#rrggbb`; unknown names and missing colours give undefined. */
export function normalised(color: string | undefined): string | undefined {
  if (color === undefined) return undefined;
  const hex = (named[color.toLowerCase()] ?? color).toLowerCase();
  if (/^#[0-9a-f]{6}([0-9a-f]{2})?$/.test(hex)) return hex.slice(0, 7);
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])[0-9a-f]?$/.exec(hex);
  return short ? `#${short[1]!.repeat(2)}${short[2]!.repeat(2)}${short[3]!.repeat(2)}` : undefined;
}

const rgbOf = (hex: string): Rgb =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as unknown as Rgb;

const hexOf = (rgb: Rgb): string =>
  `#${rgb
    .map((part) =>
      Math.round(Math.min(1, Math.max(0, part)) * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;

const linear = (part: number): number => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);

/** Relative luminance of `#rrggbb`, WCAG 2.2. */
function luminance(hex: string): number {
  const [red, green, blue] = rgbOf(hex).map(linear) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast of two colours `#rrggbb` by WCAG 2.2, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

/** A colour with a share of another one, mixed as browsers do. */
export function mix(color: string, other: string, share: number): string {
  const [from, to] = [rgbOf(color), rgbOf(other)];
  return hexOf(from.map((part, at) => part + (to[at]! - part) * share) as unknown as Rgb);
}

/** Colour in OKLab. */
function oklab(linearRgb: Rgb): Rgb {
  const [r, g, b] = linearRgb;
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** Full colour blindness by Machado, Oliveira and Fernandes (2009), as matrices over linear RGB. */
const blindness = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
} as const;

export type Blindness = keyof typeof blindness;
export const kindsOfBlindness = Object.keys(blindness) as Blindness[];

function seenBy(hex: string, kind: Blindness | undefined): Rgb {
  const rgb = rgbOf(hex).map(linear) as unknown as Rgb;
  if (kind === undefined) return oklab(rgb);
  const seen = blindness[kind].map((row) =>
    Math.min(
      1,
      Math.max(
        0,
        row.reduce((sum, part, at) => sum + part * rgb[at]!, 0),
      ),
    ),
  );
  return oklab(seen as unknown as Rgb);
}

/** Distance of two colours: Euclidean in OKLab times 100, as people with that colour blindness see them. */
export function distance(one: string, other: string, kind?: Blindness): number {
  const [a, b] = [seenBy(one, kind), seenBy(other, kind)];
  return 100 * Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/** The smallest distance of any two of the colours, for the worst kind of colour blindness. */
export function smallestDistance(colors: readonly string[]): number {
  let least = Infinity;
  for (const [at, one] of colors.entries()) {
    for (const other of colors.slice(at + 1)) {
      for (const kind of kindsOfBlindness) least = Math.min(least, distance(one, other, kind));
    }
  }
  return least;
}

/** Moves a colour towards black or white until it has a contrast with its surface. */
function readable(color: string, surface: string, least: number): string {
  const target = luminance(surface) > 0.18 ? '#000000' : '#ffffff';
  for (let share = 0; share < 1; share += 0.02) {
    const moved = mix(color, target, share);
    if (contrast(moved, surface) >= least) return moved;
  }
  return target;
}

/** A card type as a mark: a tint of its colour, and the same hue for glyph and text. */
export function typeColours(color: string | undefined, scheme: Scheme): { tint: string; ink: string } {
  const own = normalised(color) ?? scheme.others;
  const tint = mix(scheme.panel, own, scheme.typeTint);
  return { tint, ink: readable(own, tint, LEAST.text) };
}

/** A stored colour as the fill of a mark on the panel. */
export const markColour = (color: string, scheme: Scheme): string =>
  readable(normalised(color) ?? scheme.others, scheme.panel, LEAST.mark);

/** The text colour on a fill, with a contrast of at least 4.5. */
export function textOn(fill: string, scheme: Scheme): string {
  const dark = luminance(scheme.text) < luminance(scheme.panel) ? scheme.text : scheme.onAccent;
  const better = contrast(dark, fill) >= contrast('#ffffff', fill) ? dark : '#ffffff';
  return contrast(better, fill) >= LEAST.text ? better : '#000000';
}

/** Whether a colour stands for something good (1), bad (-1) or neither (0), by its hue. */
export function judgement(color: string | undefined): -1 | 0 | 1 {
  const own = normalised(color);
  if (own === undefined) return 0;
  const [, a, b] = oklab(rgbOf(own).map(linear) as unknown as Rgb);
  if (Math.hypot(a, b) < 0.04) return 0;
  const hue = (Math.atan2(b, a) * 180) / Math.PI;
  if (hue > -20 && hue < 62) return -1;
  return hue > 125 || hue < -160 ? 1 : 0;
}
