import { createLru } from '../../../platform/lru.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import type { QuestionTexts } from './question.says.ts';
import { asWritten, normalised, type Word } from './question.words.ts';

const numberWords: Readonly<Record<string, number>> = grammar.numbers;

const scales: Readonly<Record<string, number>> = { thousand: 1e3, million: 1e6, billion: 1e9 };

/** A cursor over the words of a question. */
export class QuestionCursor {
  at = 0;
  readonly words: readonly Word[];
  readonly norms: readonly string[];
  /** YYYY-MM-DD. */
  readonly today: string;
  readonly texts: QuestionTexts;

  constructor(words: readonly Word[], today: string, texts: QuestionTexts) {
    this.words = words;
    this.texts = texts;
    // quoted text does not match phrases
    this.norms = words.map(({ kind, norm }) => (kind === 'quoted' ? '"' : norm));
    this.today = today;
  }

  get ended(): boolean {
    return this.at >= this.words.length;
  }

  /** Returns a function that undoes what was read since; set by the reader. */
  mark: () => () => void = () => () => {};

  /** Calls `read`, and restores the position if it returns undefined or false. */
  attempt<T>(read: () => T): T {
    const start = this.at;
    const undo = this.mark();
    const found = read();
    if (found === undefined || found === false) {
      this.at = start;
      undo();
    }
    return found;
  }

  /** Whether the phrase is at the position, or `further` words after it. */
  sees(phrase: string, further = 0): boolean {
    return partsOf(phrase).every((word, offset) => this.norms[this.at + further + offset] === word);
  }

  /** Consumes the phrase if it is at the position. */
  takePhrase(phrase: string): boolean {
    if (!this.sees(phrase)) return false;
    this.at += partsOf(phrase).length;
    return true;
  }

  /** Consumes the first matching phrase. */
  takeAny(phrases: readonly string[]): boolean {
    return phrases.some((phrase) => this.takePhrase(phrase));
  }

  takeNumber(): number | undefined {
    const word = this.words[this.at];
    const number = word?.kind === 'number' ? Number(word.norm) : numberWords[word?.norm ?? ''];
    if (number === undefined) return undefined;
    this.at += 1;
    const scale = scales[this.words[this.at]?.norm ?? ''];
    if (scale !== undefined) this.at += 1;
    return (word!.isNegative ? -number : number) * (scale ?? 1);
  }

  /** Whether a number, in digits or words, is at the position. */
  get seesNumber(): boolean {
    const word = this.words[this.at];
    return word !== undefined && (word.kind === 'number' || numberWords[word.norm] !== undefined);
  }

  /** A year of four digits. */
  takeYear(): number | undefined {
    const year = yearOf(this.words[this.at]);
    this.at += year === undefined ? 0 : 1;
    return year;
  }

  /** A span of time, such as `next year`; see readSpan. */
  takeSpan(): Span | undefined {
    const found = readSpan(this.words, this.at, this.today);
    this.at += found?.length ?? 0;
    return found?.span;
  }

  /** A duration, such as `6 months` or `a year`, as the span until today, or from today. */
  takeDuration(isPast: boolean): Span | undefined {
    return this.attempt(() => {
      const count = this.takeAny(['a', 'an']) ? 1 : this.takeNumber();
      const unit = units.find((name) => this.takePhrase(name));
      if (!unit || count === undefined || !Number.isInteger(count) || count < 1 || count > 1_000)
        return undefined;
      const edge = moved(this.today, unit, isPast ? -count : count);
      return isPast ? { from: edge, until: nextDay(this.today) } : { from: this.today, until: nextDay(edge) };
    });
  }

  takeQuoted(): string | undefined {
    const word = this.words[this.at];
    if (word?.kind !== 'quoted' || word.norm.trim() === '') return undefined;
    this.at += 1;
    return word.norm;
  }

  /** The words from a position to the current one, as written. */
  textFrom(start: number): string {
    return asWritten(this.words.slice(start, this.at));
  }
}

/** Names of types, fields and tags, split into words. */
const split = createLru<string[]>(1024 * 1024, (parts) =>
  parts.reduce((sum, part) => sum + 2 * part.length + 50, 0),
);

function partsOf(phrase: string): string[] {
  const known = split.get(phrase);
  if (known) return known;
  const parts = phrase.split(' ').map((word) => (/^\p{L}/u.test(word) ? normalised(word) : word));
  split.set(phrase, parts);
  return parts;
}

/** A span of days: `from` is the first, `until` the day after the last, both YYYY-MM-DD. */
interface Span {
  from: string;
  until: string;
}

const { months, ordinals } = grammar;
const offsets: Readonly<Record<string, number>> = grammar.relativeTimes;
const units = ['day', 'week', 'month', 'quarter', 'year'] as const;
type Unit = (typeof units)[number];

const day = (year: number, month: number, date: number): string =>
  new Date(Date.UTC(year, month, date)).toISOString().slice(0, 10);

const span = (year: number, month: number, count: number): Span => ({
  from: day(year, month, 1),
  until: day(year, month + count, 1),
});

/** The day some units later; negative counts lead back. */
function moved(today: string, unit: Unit, count: number): string {
  const [year, month, date] = today.split('-').map(Number) as [number, number, number];
  if (unit === 'day' || unit === 'week')
    return day(year, month - 1, date + count * (unit === 'week' ? 7 : 1));
  const total = count * (unit === 'year' ? 12 : unit === 'quarter' ? 3 : 1);
  // the last day of a shorter month, not the first of the next
  const last = new Date(Date.UTC(year, month + total, 0)).getUTCDate();
  return day(year, month - 1 + total, Math.min(date, last));
}

const nextDay = (of: string): string => moved(of, 'day', 1);

/** The week, month, quarter or year of today, or `offset` units later. */
function around(today: string, unit: Unit, offset: number): Span {
  const [year, month] = today.split('-').map(Number) as [number, number];
  if (unit === 'year') return span(year + offset, 0, 12);
  if (unit === 'quarter') return span(year, 3 * (Math.floor((month - 1) / 3) + offset), 3);
  if (unit === 'month') return span(year, month - 1 + offset, 1);
  if (unit === 'day') return { from: moved(today, 'day', offset), until: moved(today, 'day', offset + 1) };
  const weekday = (new Date(`${today}T00:00:00Z`).getUTCDay() + 6) % 7;
  const monday = moved(today, 'day', 7 * offset - weekday);
  return { from: monday, until: moved(monday, 'day', 7) };
}

/** The year, if the word is a plausible one. */
const yearOf = (word: Word | undefined): number | undefined =>
  word?.kind === 'number' && /^(19|20|21)\d\d$/.test(word.text) ? Number(word.text) : undefined;

/**
 * The span of time that begins at a word, such as `2027`, `end of 2026`, `March 2027`, `Q1 2027`, `next year`, `the next
 * 12 months`, `today`, `2027-06-30`; with how many words it takes.
 */
function readSpan(
  words: readonly Word[],
  at: number,
  today: string,
): { span: Span; length: number } | undefined {
  const word = words[at];
  if (!word) return undefined;
  const norm = word.norm;
  const found = (of: Span, length: number) => ({ span: of, length });
  if (norm === 'the') {
    const after = readSpan(words, at + 1, today);
    return after && found(after.span, after.length + 1);
  }
  if (word.kind === 'day') {
    // ignore dates that do not exist
    if (Number.isNaN(Date.parse(norm)) || new Date(norm).toISOString().slice(0, 10) !== norm)
      return undefined;
    return found({ from: norm, until: nextDay(norm) }, 1);
  }
  const year = yearOf(word);
  if (year !== undefined) return found(span(year, 0, 12), 1);
  if (norm === 'today' || norm === 'now') return found({ from: today, until: nextDay(today) }, 1);
  if (norm === 'yesterday' || norm === 'tomorrow')
    return found(around(today, 'day', norm === 'tomorrow' ? 1 : -1), 1);
  if ((norm === 'end' || norm === 'beginning' || norm === 'start') && words[at + 1]?.norm === 'of') {
    const of = readSpan(words, at + 2, today);
    if (!of) return undefined;
    const { from, until } = of.span;
    const edge = norm === 'end' ? moved(until, 'day', -1) : from;
    return found({ from: edge, until: nextDay(edge) }, of.length + 2);
  }
  const quarter = /^q[1-4]$/.test(norm) ? Number(norm[1]) : ordinals.indexOf(norm) + 1;
  if (quarter > 0) return readQuarter(words, at, quarter, today);
  const month = months.findIndex((name) => name === norm || (norm.length === 3 && name.startsWith(norm)));
  const monthYear = yearOf(words[at + 1]);
  if (month >= 0 && monthYear !== undefined) return found(span(monthYear, month, 1), 2);
  return readRelative(words, at, today);
}

function readQuarter(words: readonly Word[], at: number, quarter: number, today: string) {
  let next = at + 1;
  if (words[at]!.norm.length > 2) {
    if (words[next]?.norm !== 'quarter') return undefined;
    next += 1;
  }
  if (words[next]?.norm === 'of') next += 1;
  const given = yearOf(words[next]);
  const year = given ?? Number(today.slice(0, 4));
  return { span: span(year, 3 * (quarter - 1), 3), length: next - at + (given === undefined ? 0 : 1) };
}

function readRelative(words: readonly Word[], at: number, today: string) {
  const offset = offsets[words[at]!.norm];
  if (offset === undefined) return undefined;
  const second = words[at + 1];
  const unitAt = (word: Word | undefined) => units.find((unit) => unit === word?.norm);
  const unit = unitAt(second);
  if (unit) return { span: around(today, unit, offset), length: 2 };
  const many = unitAt(words[at + 2]);
  const count =
    second?.kind === 'number'
      ? second.isNegative
        ? Number.NaN
        : Number(second.norm)
      : (numberWords[second?.norm ?? ''] ?? Number.NaN);
  if (!many || offset === 0 || !Number.isInteger(count) || count < 1 || count > 1_000) return undefined;
  const edge = moved(today, many, offset * count);
  const between = offset > 0 ? { from: today, until: nextDay(edge) } : { from: edge, until: nextDay(today) };
  return { span: between, length: 3 };
}
