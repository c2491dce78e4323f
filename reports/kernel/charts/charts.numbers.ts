import { lazily } from './charts.lazily.ts';
import { plain } from './charts.text.ts';
import type { ChartLanguage, InLanguage } from './charts.texts.ts';
import type { ChartUnit, ChartWorkspace } from './charts.types.ts';

const formats = new Map<string, Intl.NumberFormat>();
/** Maximum number of cached formats; currencies are few. */
const MOST_FORMATS = 200;

function numberFormat(
  digits: number,
  currency: string | undefined,
  fixed: boolean,
  language: ChartLanguage,
): Intl.NumberFormat {
  const key = `${digits} ${currency} ${fixed} ${language}`;
  let format = formats.get(key);
  if (!format) {
    if (formats.size >= MOST_FORMATS) formats.clear();
    format = new Intl.NumberFormat(language, {
      ...(currency === undefined ? {} : { style: 'currency', currency }),
      minimumFractionDigits: fixed ? digits : 0,
      maximumFractionDigits: digits,
    });
    formats.set(key, format);
  }
  return format;
}

/** Abbreviations by their factor, and the number from which each is used: counts are exact for longer. */
const scales = [
  { factor: 1e12, en: 'T', de: ' Bio.', from: 1e12 },
  { factor: 1e9, en: 'B', de: ' Mrd.', from: 1e9 },
  { factor: 1e6, en: 'M', de: ' Mio.', from: 1e6 },
  { factor: 1e3, en: 'K', de: ' Tsd.', from: 1e3, count: 1e5 },
];

/** Digits of a number before the decimal point. */
const wholeDigits = (value: number): number => (value < 1 ? 0 : Math.floor(Math.log10(value) + 1e-9) + 1);

/**
 * Formats the numbers of one axis or column alike: the largest one decides the abbreviation and the decimals, so that it has
 * three significant digits.
 * @param fewer number of decimals to leave out. @param largest decides the abbreviation, if others do so elsewhere in the picture.
 */
export function numberWriter(
  values: Iterable<number | null | undefined>,
  unit: ChartUnit,
  { currency, language = 'en' }: ChartWorkspace,
  fewer = 0,
  largest?: number,
): (value: number) => string {
  let most = 0;
  let whole = true;
  for (const value of values) {
    if (typeof value !== 'number' || !Number.isFinite(value)) continue;
    most = Math.max(most, Math.abs(value));
    whole &&= Number.isInteger(value);
  }
  const scale =
    unit === 'percent'
      ? undefined
      : scales.find(({ from, count }) => (largest ?? most) >= (unit === 'currency' ? from : (count ?? from)));
  const factor = scale?.factor ?? 1;
  const digits = Math.max(0, decimalsOf(most / factor, unit, scale !== undefined, whole) - fewer);
  const format = numberFormat(digits, unit === 'currency' ? currency : undefined, digits > 0, language);
  const suffix = `${scale?.[language] ?? ''}${unit === 'percent' ? ' %' : ''}`;
  const least = 0.5 * 10 ** -digits;
  const zero = unit === 'currency' ? numberFormat(0, currency, false, language).format(0) : '0';
  return (value) => {
    if (value === 0) return unit === 'percent' ? '0 %' : zero;
    const size = Math.abs(value) / factor;
    const sign = value < 0 ? '−' : '';
    if (scale && size < least) return `<${withSuffix(format.format(10 ** -digits), suffix)}`;
    return `${sign}${withSuffix(format.format(size), suffix)}`;
  };
}

function decimalsOf(most: number, unit: ChartUnit, scaled: boolean, whole: boolean): number {
  if (unit === 'percent') return most >= 10 || whole ? 0 : 1;
  if (!scaled && (whole || unit === 'count' || (unit === 'currency' && most >= 10))) return 0;
  return Math.min(6, Math.max(scaled ? 1 : 0, 3 - wholeDigits(most)));
}

/** The abbreviation stands behind the number, before a unit that follows it: `3,18 Mio. €`. */
const withSuffix = (written: string, suffix: string): string =>
  suffix === '' ? written : written.replace(/\d(?!.*\d)/, (digit) => digit + suffix);

/** One number with its unit, with three significant digits. */
export const formatValue = (value: number, unit: ChartUnit, workspace: ChartWorkspace): string =>
  numberWriter([value], unit, workspace)(value);

/** Numbers that have decimals, and those whose decimals say something. */
const DECIMALS = {
  point: { any: /\.\d/, needed: /\.\d*[1-9]\D*$|</ },
  comma: { any: /,\d/, needed: /,\d*[1-9]\D*$|</ },
};

/** The ticks of an axis with as few decimals as they need. @param largest see {@link numberWriter}. */
export function tickWriter(
  ticks: readonly number[],
  unit: ChartUnit,
  workspace: ChartWorkspace,
  largest?: number,
): (value: number) => string {
  const decimals = workspace.language === 'de' ? DECIMALS.comma : DECIMALS.point;
  let write = numberWriter(ticks, unit, workspace, 0, largest);
  for (let fewer = 1; fewer <= 6; fewer += 1) {
    const written = ticks.map(write);
    if (
      written.some((text) => decimals.needed.test(text)) ||
      !written.some((text) => decimals.any.test(text))
    ) {
      return write;
    }
    write = numberWriter(ticks, unit, workspace, fewer, largest);
  }
  return write;
}

/** A share from 0 to 1 as a percentage: without decimals from 10 % on. */
export function formatShare(share: number, { language = 'en' }: InLanguage = {}): string {
  const percent = share * 100;
  const written =
    percent > 0 && percent < 0.1 ? '<0.1' : percent.toFixed(percent >= 9.95 || percent === 0 ? 0 : 1);
  return `${language === 'de' ? written.replace('.', ',') : written} %`;
}

/** The name of an axis with its unit. */
export function axisTitle(name: string, unit: ChartUnit, { currency }: ChartWorkspace): string {
  const written = plain(name);
  if (unit === 'currency') return `${written} (${currency})`;
  return unit === 'percent' ? `${written} (%)` : written;
}

const longMonth = (language: ChartLanguage) =>
  lazily(() => new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' }));
const longMonths = { en: longMonth('en'), de: longMonth('de') };
/** Short names of months as German writes them within dates: `Jan.`, `März`, `Sept.`. */
const germanMonth = lazily(
  () => new Intl.DateTimeFormat('de', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
);
const shortMonths = {
  en: (date: Date) => longMonths.en().format(date).slice(0, 3),
  de: (date: Date) =>
    germanMonth()
      .formatToParts(date)
      .find(({ type }) => type === 'month')!.value,
};

/** A format with named months in the order and with the point of German: `D. MMM YYYY`. */
const germanFormat = (dateFormat: string): string =>
  dateFormat.replace(/^(M{3,4}) D{1,2},? (Y+)$/, 'D. $1 $2').replace(/D{1,2} (?=MMM)/, 'D. ');

/** A day in UTC as the workspace writes dates. */
export function formatDate(time: number, { dateFormat, language = 'en' }: ChartWorkspace): string {
  const date = new Date(time);
  const day = date.getUTCDate();
  const month = date.getUTCMonth();
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  const order = language === 'de' ? germanFormat(dateFormat) : dateFormat;
  return order.replace(/D{1,2}|M{1,4}|YYYY|YY/g, (part) => {
    if (part[0] === 'D') return part === 'D' ? String(day) : String(day).padStart(2, '0');
    if (part[0] === 'Y') return part === 'YY' ? year.slice(-2) : year;
    if (part === 'MMM') return shortMonths[language](date);
    if (part === 'MMMM') return longMonths[language]().format(date);
    return part === 'M' ? String(month + 1) : String(month + 1).padStart(2, '0');
  });
}

/** A month in UTC, written like the days of the workspace. */
export const formatMonth = (time: number, { dateFormat, ...workspace }: ChartWorkspace): string =>
  formatDate(time, { ...workspace, dateFormat: dateFormat.replace(/D+[^A-Za-z]*|[^A-Za-z]*D+$/, '') });

/** An integer with separators. */
export const formatCount = (count: number, { language = 'en' }: InLanguage = {}): string =>
  count.toLocaleString(language).replace('-', '−');
