import { readFileSync } from 'node:fs';
import path from 'node:path';
import { IntlMessageFormat } from 'intl-messageformat';
import { drawChart } from '../../../reports/kernel/charts/charts.draw.ts';
import {
  formatCount,
  formatDate,
  formatShare,
  formatValue,
  numberWriter,
  tickWriter,
} from '../../../reports/kernel/charts/charts.numbers.ts';
import { wrap } from '../../../reports/kernel/charts/charts.text.ts';
import { chartText } from '../../../reports/kernel/charts/charts.texts.ts';
import { reportText } from '../../../reports/kernel/report.texts.ts';
import { readPicture } from './charts/boxes.ts';
import { samples } from './charts/samples.ts';

const folders = ['reports/kernel/charts/messages', 'reports/messages'];
const read = (folder: string, language: string): Record<string, string> =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, '../../..', folder, `${language}.json`), 'utf8'));
interface Part {
  value?: unknown;
  type: number;
  options?: Record<string, { value: Part[] }>;
}

/** The names of the values in a parsed message; type 0 is plain text, 7 the number of a plural. */
const namesIn = (parts: Part[]): string[] =>
  parts.flatMap(({ type, value, options = {} }) => [
    ...(type === 0 || type === 7 ? [] : [String(value)]),
    ...Object.values(options).flatMap((option) => namesIn(option.value)),
  ]);
const argumentsOf = (message: string) =>
  new Set(namesIn(new IntlMessageFormat(message, 'en', undefined, { ignoreTag: true }).getAst() as Part[]));

describe.each(folders)('the messages in %s', (folder) => {
  const [english, german] = [read(folder, 'en'), read(folder, 'de')];

  it('are the same in both languages, in the order of their keys', () => {
    expect(Object.keys(german)).toEqual(Object.keys(english));
    expect(Object.keys(english)).toEqual(Object.keys(english).toSorted());
  });

  it('contain nothing in German that the English ones do not', () => {
    for (const [key, message] of Object.entries(german)) {
      const known = argumentsOf(english[key]!);
      expect(
        [...argumentsOf(message)].filter((name) => !known.has(name)),
        key,
      ).toEqual([]);
    }
  });
});

it('numbers, amounts and dates are written as the language writes them', () => {
  const workspace = { currency: 'EUR', dateFormat: 'DD. MMMM YYYY', language: 'de' } as const;
  expect(formatCount(-1_234_567, workspace)).toBe('−1.234.567');
  expect(formatShare(0.0042, workspace)).toBe('0,4 %');
  expect(formatValue(3_184_000, 'currency', workspace)).toMatch(/^3,18\sMio\.\s€$/);
  expect(formatValue(-1_250, 'currency', workspace)).toMatch(/^−1,25\sTsd\.\s€$/);
  expect(formatValue(120_000, 'count', workspace)).toMatch(/^120,0\sTsd\.$|^120\sTsd\.$/);
  expect(numberWriter([12.5, 3], 'number', workspace)(12.5)).toBe('12,5');
  expect([0, 500_000, 1_000_000].map(tickWriter([0, 500_000, 1_000_000], 'currency', workspace))).toEqual([
    expect.stringMatching(/^0\s€$/),
    expect.stringMatching(/^0,5\sMio\.\s€$/),
    expect.stringMatching(/^1,0\sMio\.\s€$/),
  ]);
  expect(formatDate(Date.UTC(2026, 2, 9), workspace)).toBe('09. März 2026');
  for (const [dateFormat, written] of [
    ['DD MMM YYYY', '9. März 2026'],
    ['MMM D, YYYY', '9. März 2026'],
    ['DD.MM.YYYY', '09.03.2026'],
  ] as const)
    expect(formatDate(Date.UTC(2026, 2, 9), { ...workspace, dateFormat })).toBe(written);
});

it('texts have no forms of the other language', () => {
  expect(chartText({}, 'cards.count', { count: 1 })).toBe('1 card');
  expect(chartText({ language: 'de' }, 'cards.count', { count: 1_200 })).toBe('1.200 Karten');
  expect(reportText({ language: 'de' }, 'eol.title')).toBe('Lebensende');
});

it.each(Object.keys(samples(1)) as (keyof ReturnType<typeof samples>)[])(
  'a picture of kind %s in German has no English words of its own',
  (kind) => {
    const workspace = { currency: 'EUR', dateFormat: 'DD.MM.YYYY', language: 'de' } as const;
    const { texts } = readPicture(drawChart(samples(40)[kind], workspace, { width: 600 }));
    const own = /\b(Today|Other|Others|Share of|Running sum|Nothing to show|Shade|Area:|without|drawn)\b/;
    expect(texts.map(({ text }) => text).filter((text) => own.test(text))).toEqual([]);
  },
);

it('long German words are divided between syllables, and those of other languages are not', () => {
  const german = { language: 'de' } as const;
  expect(wrap('Geschäftsfähigkeit', 72, 12, 3, 400, german)).toEqual(['Geschäfts-', 'fähigkeit']);
  expect(wrap('IT-Komponentenverwaltung', 110, 12, 3, 400, german).join('|')).toMatch(/^IT-Kompo[a-z]*-\|/);
  expect(wrap('Geschäftsfähigkeit', 72, 12, 3)).toEqual([expect.stringMatching(/…$/)]);
});
