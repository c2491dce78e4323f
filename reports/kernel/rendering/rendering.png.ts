import { fileURLToPath } from 'node:url';
import { Resvg } from '@resvg/resvg-js';

/** The font of charts in the weights that they use. */
export const fontFiles = [
  import.meta.resolve('@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf'),
  import.meta.resolve('@expo-google-fonts/inter/500Medium/Inter_500Medium.ttf'),
  import.meta.resolve('@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf'),
].map((url) => fileURLToPath(url));
/** Pixels of a PNG for each CSS pixel, so that it can be printed. */
const DENSITY = 2;
/** Maximum number of pixels, each of which takes 4 bytes; larger pictures have a lower density. */
const MOST_PIXELS = 24_000_000;
/** Scripts that the font does not contain: beyond Latin, Greek and Cyrillic. */
const OTHER_SCRIPTS = /[\u0530-\u1dff\u2c00-\uffff]/;

/** Whether a chart has texts that the font does not contain. */
export const hasOtherScripts = (svg: string): boolean => OTHER_SCRIPTS.test(svg);

/** A chart as PNG. Fonts of the system are only read for texts that the font of charts does not contain. */
export function pngOf(svg: string): Buffer {
  const [, width, height] = /^<svg [^>]*?width="([\d.]+)" height="([\d.]+)"/.exec(svg)!.map(Number) as [
    number,
    number,
    number,
  ];
  const density = Math.min(DENSITY, Math.sqrt(MOST_PIXELS / (width * height)));
  const font = { loadSystemFonts: hasOtherScripts(svg), fontFiles, defaultFontFamily: 'Inter' };
  const image = new Resvg(svg, { font, fitTo: { mode: 'zoom', value: density } }).render();
  // memory of the library cannot be transferred to another thread
  return Buffer.from(image.asPng());
}
