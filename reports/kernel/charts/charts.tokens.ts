/** Names of colours that texts, lines and surfaces use. */
export type ToneName = 'ok' | 'warn' | 'bad' | 'info';

/** All colours of one scheme, as `#rrggbb`. */
export interface Scheme {
  panel: string;
  canvas: string;
  /** Below the panel in the light scheme, above it in the dark one. */
  sunken: string;
  text: string;
  text2: string;
  /** The smallest contrast allowed for text. */
  text3: string;
  /** Border of controls; also of marks without a colour. */
  border: string;
  hairline: string;
  hairlineStrong: string;
  accent: string;
  onAccent: string;
  tones: Record<ToneName, { ink: string; tint: string }>;
  /** In this order, then grey. */
  categorical: readonly string[];
  /** Low to high. */
  sequential: readonly string[];
  /** Bad to good; the centre is neutral. */
  diverging: readonly string[];
  lifecycle: Record<PhaseKey, string>;
  /** Four steps, bad to good. */
  quality: readonly string[];
  /** Combined or unknown values. */
  others: string;
  /** Share of a type's colour in its tint over the panel. */
  typeTint: number;
}

export type PhaseKey = 'plan' | 'phaseIn' | 'active' | 'phaseOut' | 'endOfLife';
export type ThemeName = 'light' | 'dark';

/** The colours of the interface and of charts by scheme. */
export const schemes: Record<ThemeName, Scheme> = {
  light: {
    panel: '#ffffff',
    canvas: '#f7f7f5',
    sunken: '#f2f2ef',
    text: '#1a1b1f',
    text2: '#54575f',
    text3: '#696c75',
    border: '#868992',
    hairline: '#e7e6e2',
    hairlineStrong: '#d6d5d0',
    accent: '#4150c4',
    onAccent: '#ffffff',
    tones: {
      ok: { ink: '#12725b', tint: '#e3f3ee' },
      warn: { ink: '#8a5500', tint: '#fbf0dc' },
      bad: { ink: '#b3261e', tint: '#fcebe9' },
      info: { ink: '#1f62bd', tint: '#e7f0fb' },
    },
    categorical: ['#3557b8', '#b44003', '#0e8a7c', '#8b2874', '#a98c1a', '#8f89c9', '#5b3407'],
    sequential: ['#e7effc', '#c1d5f9', '#93b5f1', '#6591e1', '#3e6dc8', '#224da1', '#13316d'],
    diverging: ['#8f331c', '#be6438', '#deac83', '#eae8e0', '#8cc4bc', '#339284', '#0a5d51'],
    lifecycle: {
      plan: '#7c8aa5',
      phaseIn: '#2f86e0',
      active: '#177061',
      phaseOut: '#c08411',
      endOfLife: '#8c1d18',
    },
    quality: ['#ad3f2b', '#c38423', '#4f9d94', '#16776a'],
    others: '#868992',
    typeTint: 0.13,
  },
  dark: {
    panel: '#17181b',
    canvas: '#101113',
    sunken: '#202226',
    text: '#ecedf0',
    text2: '#abaeb7',
    text3: '#8f929b',
    border: '#6f727b',
    hairline: '#25272c',
    hairlineStrong: '#35383f',
    accent: '#98a4ff',
    onAccent: '#11131f',
    tones: {
      ok: { ink: '#4cc3a0', tint: '#14302a' },
      warn: { ink: '#eeb252', tint: '#352a15' },
      bad: { ink: '#ff8a80', tint: '#3b1d1c' },
      info: { ink: '#7db6ff', tint: '#172a44' },
    },
    categorical: ['#6f9bff', '#f0794f', '#35c3ae', '#cf5fa6', '#e2d66b', '#b9b0f2', '#8f6a45'],
    sequential: ['#1b2942', '#263e6c', '#34589d', '#4a75c6', '#6894e5', '#94b8f8', '#c7dcff'],
    diverging: ['#ee8361', '#b36139', '#6c4625', '#2e3034', '#285a54', '#3b9184', '#71cbb9'],
    lifecycle: {
      plan: '#8b97aa',
      phaseIn: '#4793ea',
      active: '#86d69a',
      phaseOut: '#e8a53a',
      endOfLife: '#d8605c',
    },
    quality: ['#d4614b', '#e0a552', '#57a69c', '#93d8cc'],
    others: '#6f727b',
    typeTint: 0.2,
  },
};

/** The font of every text. */
export const FONT = 'Inter, Helvetica Neue, Arial, sans-serif';

/** Sizes and line heights of texts in pixels, with their weights. */
export const type = {
  note: { size: 11, line: 16 },
  secondary: { size: 12, line: 16 },
  base: { size: 13, line: 20 },
  panel: { size: 14, line: 20 },
  reading: { size: 16, line: 24 },
  title: { size: 22, line: 28 },
  greeting: { size: 26, line: 34 },
} as const;

export const weight = { regular: 400, navigation: 450, emphasis: 550, title: 600 } as const;

/** Distances in pixels. */
export const space = { xs: 4, s: 8, m: 12, l: 16, xl: 24, xxl: 32, xxxl: 48 } as const;

/** Radii of corners in pixels. */
export const radius = { chip: 4, control: 6, panel: 8, dialog: 12 } as const;
