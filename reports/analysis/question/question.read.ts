import type { QueryDimension, QueryMeasure } from '../../../domain/exchange/exports/report-query.job.ts';
import { type Condition, inPhase, readDateTest, readTextTest } from './question.conditions.ts';
import { QuestionCursor } from './question.cursor.ts';
import { readSpan } from './question.dates.ts';
import { QuestionDraft, type ReadQuestion, type UnreadQuestion } from './question.draft.ts';
import { fromGerman } from './question.german.ts';
import { type FieldMeaning, QuestionNames } from './question.names.ts';
import {
  counting,
  doing,
  eachOf,
  functions,
  grouping,
  having,
  lacking,
  listing,
  negating,
  skipped,
} from './question.phrases.ts';
import { findSubject, isNeutral } from './question.subject.ts';
import { QuestionTests } from './question.tests.ts';
import type { Vocabulary } from './question.vocabulary.ts';
import { type Word, wordsOf } from './question.words.ts';

/** More than any question needs; a longer one is a text. */
const MOST_WORDS = 120;

/**
 * Reads a question in English or German about the cards of the inventory: what the metamodel names, and the words of counting,
 * summing, grouping, dates and comparisons. It never guesses: a question of which a single word is not understood is not answered.
 * @param today YYYY-MM-DD.
 */
export function readQuestion(
  vocabulary: Vocabulary,
  question: string,
  today: string,
): ReadQuestion | UnreadQuestion {
  const words = wordsOf(question);
  if (words.length > MOST_WORDS)
    return { unknown: words.slice(MOST_WORDS).map(({ text }) => text), ambiguous: [] };
  const read = (of: readonly Word[]) => new QuestionReader(vocabulary, new QuestionCursor(of, today)).read();
  const found = read(words);
  if ('query' in found) return found;
  const english = fromGerman(question);
  const again = english ? read(english) : found;
  return 'query' in again || again.unknown.length < found.unknown.length ? again : found;
}

/** What is computed of a field that is only named: shares are no amounts. */
const amountOf = ({ path }: FieldMeaning): QueryMeasure => ({ fn: path === 'data_quality' ? 'avg' : 'sum' });

class QuestionReader {
  readonly #draft = new QuestionDraft();
  readonly #vocabulary: Vocabulary;
  readonly #cursor: QuestionCursor;
  readonly #names: QuestionNames;
  readonly #tests: QuestionTests;
  #subjectAt: { start: number; end: number } | undefined;
  /** Whether "and" or "or" stood between the last condition and this place. */
  #alternative = false;
  /** Whether "how much" was asked. */
  #wantsAmount = false;
  /** Whether the last condition was none, but a field that is asked for. */
  #bareField = false;

  constructor(vocabulary: Vocabulary, cursor: QuestionCursor) {
    this.#vocabulary = vocabulary;
    this.#cursor = cursor;
    this.#names = new QuestionNames(vocabulary, cursor, this.#draft);
    this.#tests = new QuestionTests(cursor, this.#names);
  }

  read(): ReadQuestion | UnreadQuestion {
    const draft = this.#draft;
    const subject = findSubject(this.#vocabulary, this.#cursor.norms);
    if (subject) {
      draft.subject = subject.types;
      draft.reading.push(`cards: ${subject.label}`);
      if (subject.filter !== undefined) draft.conditions.push(subject.filter);
      this.#subjectAt = subject;
    }
    while (!this.#cursor.ended) {
      if (!this.#step()) this.#passOver();
    }
    const { unknown, ambiguous } = draft;
    if (unknown.length + ambiguous.length > 0) return { unknown, ambiguous };
    return draft.finished() ?? { unknown: this.#cursor.words.map(({ text }) => text), ambiguous: [] };
  }

  /** Takes one part of the question. */
  #step(): boolean {
    const cursor = this.#cursor;
    if (this.#subjectAt && cursor.at === this.#subjectAt.start) {
      cursor.at = this.#subjectAt.end;
      return true;
    }
    return (
      this.#order() ||
      this.#opening() ||
      this.#moment() ||
      this.#groups() ||
      this.#measure() ||
      this.#absence() ||
      this.#presence() ||
      this.#condition()
    );
  }

  /** Lets a word pass that says nothing by itself; notes any other as not understood. */
  #passOver(): void {
    const cursor = this.#cursor;
    const word = cursor.words[cursor.at]!;
    if (word.norm === 'or') this.#alternative = true;
    if (word.kind !== 'comma' && !skipped.includes(word.norm) && !isNeutral(word.norm)) {
      this.#draft.unknown.push(word.text);
    }
    cursor.at += 1;
  }

  #opening(): boolean {
    const cursor = this.#cursor;
    const draft = this.#draft;
    // "number of users" may be a field
    if (!((this.#names.see('field')?.length ?? 0) > 1) && cursor.takeAny(counting)) {
      draft.intent ??= 'count';
      return true;
    }
    if (cursor.takeAny(listing)) {
      draft.intent ??= 'list';
      return true;
    }
    if (cursor.takePhrase('how much')) {
      this.#wantsAmount = true;
      return true;
    }
    return false;
  }

  /** "top 5", "the 10 most expensive". */
  #order(): boolean {
    const cursor = this.#cursor;
    const start = cursor.at;
    const { top } = this.#draft;
    if (top) return false;
    const leads = cursor.takePhrase('top');
    const given = leads || cursor.seesNumber ? cursor.takeNumber() : undefined;
    const dear = cursor.takePhrase('most expensive');
    const cheap = !dear && cursor.takeAny(['cheapest', 'least expensive']);
    const limit = given ?? 10;
    if ((!leads && !dear && !cheap) || !Number.isInteger(limit) || limit < 1 || limit > 10_000) {
      cursor.at = start;
      return false;
    }
    this.#draft.top = { limit, dir: cheap ? 'asc' : 'desc' };
    this.#draft.reading.push(`the first ${limit}`);
    if (dear || cheap) {
      const costs = [...(this.#vocabulary.phrases.get('cost') ?? [])].filter(
        (meaning) =>
          meaning.kind === 'field' && meaning.types.some((type) => this.#draft.subject.includes(type)),
      ) as FieldMeaning[];
      if (costs.length === 1) this.#measureOf({ fn: 'sum' }, costs[0]!);
      else {
        const meanings = costs.map(({ label, path }) => `${label} (${path})`);
        this.#draft.ambiguous.push({ text: cursor.textFrom(start), meanings });
      }
    }
    return true;
  }

  /** "as of 2026-01-01". */
  #moment(): boolean {
    const start = this.#cursor.at;
    if (!this.#cursor.takePhrase('as of')) return false;
    const read = readSpan(this.#cursor.words, this.#cursor.at, this.#cursor.today);
    if (!read) {
      this.#cursor.at = start;
      return false;
    }
    this.#cursor.at += read.length;
    this.#draft.as_of = `${read.span.from}T00:00:00.000Z`;
    this.#draft.reading.push(`as of ${read.span.from}`);
    return true;
  }

  /** "by provider and year of end of life"; after "top 5" it says what by. */
  #groups(): boolean {
    const cursor = this.#cursor;
    const start = cursor.at;
    const ofEach = cursor.takeAny(eachOf);
    if (!ofEach && !cursor.takeAny(grouping)) return false;
    if (this.#draft.top && this.#draft.measures.length === 0) {
      if (this.#orderMeasure()) return true;
      cursor.at = start;
      return false;
    }
    let taken = false;
    for (;;) {
      const before = cursor.at;
      if (taken && !cursor.takeAny([', and', 'and by', 'and', ',', 'by'])) break;
      const dimension = this.#dimension();
      if (!dimension) {
        cursor.at = before;
        break;
      }
      this.#draft.dimensions.push(dimension.value);
      this.#draft.reading.push(`by ${dimension.says}`);
      taken = true;
    }
    if (!taken) cursor.at = start;
    else if (ofEach) cursor.takeAny(doing);
    return taken;
  }

  #orderMeasure(): boolean {
    const cursor = this.#cursor;
    cursor.takePhrase('the');
    // "total annual cost" may be a field
    const named = (this.#names.see('field')?.length ?? 0) > 1;
    const fn = named ? undefined : this.#function();
    const field = this.#names.takeField(({ holds }) => holds === 'number');
    if (field) {
      this.#measureOf(fn ?? amountOf(field), field);
      return true;
    }
    cursor.takeAny(counting);
    const way = this.#names.takeRelated();
    if (!way) return false;
    this.#draft.measures.push({ fn: 'count', field: `${way.path}.name` });
    this.#draft.reading.push(`number of ${way.label}`);
    return true;
  }

  #dimension(): { value: QueryDimension; says: string } | undefined {
    const cursor = this.#cursor;
    const start = cursor.at;
    cursor.takePhrase('the');
    const bucket = (['year', 'quarter', 'month', 'day'] as const).find((unit) => cursor.takePhrase(unit));
    if (bucket) cursor.takeAny(['of the', 'of']);
    const day = this.#names.takeDay();
    if (day && !readDateTest(cursor, day)) {
      const value = { field: day.path, bucket: bucket ?? ('year' as const) };
      return { value, says: `${value.bucket} of ${day.label}` };
    }
    if (bucket === undefined && !day) {
      const field = this.#names.takeField();
      if (field) return { value: { field: field.path }, says: field.label };
      const way = this.#names.takeRelated();
      if (way) return { value: { field: `${way.path}.name` }, says: way.label };
    }
    cursor.at = start;
    return undefined;
  }

  #function(): QueryMeasure | undefined {
    const found = functions.find(([, ...words]) => this.#cursor.takeAny(words));
    return found && { ...found[0] };
  }

  /** "average total annual cost"; "total number of" only counts. */
  #measure(): boolean {
    const cursor = this.#cursor;
    const start = cursor.at;
    // "total annual cost" may be a field
    const named = this.#names.see('field')?.length ?? 0;
    const fn = named > 1 ? undefined : this.#function();
    if (!fn) return false;
    cursor.takeAny(['of the', 'of', 'the']);
    const field = this.#names.takeField(
      ({ holds }) => holds === 'number' || (holds === 'date' && (fn.fn === 'min' || fn.fn === 'max')),
    );
    if (field) {
      this.#measureOf(fn, field);
      return true;
    }
    if (fn.fn === 'sum' && cursor.takeAny(counting)) {
      this.#draft.intent = 'count';
      return true;
    }
    cursor.at = start;
    return false;
  }

  #measureOf(fn: QueryMeasure, { path, label }: FieldMeaning): void {
    this.#draft.measures.push({ ...fn, field: path });
    this.#draft.reading.push(`${fn.fn === 'percentile' ? 'median' : fn.fn} of ${label}`);
  }

  /** "without an end of life", "with no provider". */
  #absence(): boolean {
    const cursor = this.#cursor;
    const start = cursor.at;
    if (!cursor.takeAny(lacking)) return this.#negated();
    cursor.takeAny(['a', 'an', 'any', 'the']);
    const found = this.#tests.takeExistence();
    if (!found) {
      cursor.at = start;
      return false;
    }
    this.#add({ filter: `not (${found.filter})`, says: `without ${found.says}` });
    return true;
  }

  /** "with an end of life", "using IT components"; with a test it is one. */
  #presence(): boolean {
    const cursor = this.#cursor;
    const start = cursor.at;
    if (!cursor.takeAny(having)) return false;
    cursor.takeAny(['a', 'an', 'any', 'the', 'at least one']);
    if (this.#condition(false)) return true;
    const found = this.#tests.takeExistence();
    if (found) this.#add({ filter: found.filter, says: `with ${found.says}` });
    else cursor.at = start;
    return found !== undefined;
  }

  #negated(): boolean {
    const cursor = this.#cursor;
    const start = cursor.at;
    if (!cursor.takeAny(negating)) return false;
    const condition = this.#readCondition(false);
    if (!condition) {
      cursor.at = start;
      return false;
    }
    this.#add({ filter: `not ${condition.filter}`, says: `not ${condition.says}` });
    return true;
  }

  #condition(bare = true): boolean {
    const condition = this.#readCondition(bare);
    if (condition) this.#add(condition);
    return condition !== undefined || this.#bareField;
  }

  #add({ filter, says }: Condition): void {
    // only values of one field are joined by "or"; what is meant otherwise is not clear
    if (this.#alternative && this.#draft.conditions.length > 0) this.#draft.unknown.push('or');
    this.#alternative = false;
    this.#draft.conditions.push(filter);
    this.#draft.reading.push(says);
  }

  /** @param bare whether a field that is only named may be what is asked for. */
  #readCondition(bare: boolean): Condition | undefined {
    const cursor = this.#cursor;
    this.#bareField = false;
    if (cursor.takeAny(['called', 'named'])) {
      const text = readTextTest(cursor, { path: 'name', holds: 'text', label: 'name' });
      if (text) return text;
    }
    const options = this.#tests.takeOptions();
    if (options) return options;
    const phase = this.#names.see('phase');
    if (phase) {
      cursor.at += phase.length;
      const { phase: key, label } = phase.meanings[0]!;
      const tested = readDateTest(cursor, { path: `lifecycle.${key}`, label });
      if (tested) this.#draft.shown.push({ field: `lifecycle.${key}` });
      return tested ?? inPhase(key, cursor.today);
    }
    const start = cursor.at;
    const field = this.#names.takeField();
    if (!field) return undefined;
    const tested = this.#tests.takeTest(field);
    if (tested) {
      if (field.holds !== 'boolean') this.#draft.shown.push({ field: field.path });
      return tested;
    }
    if (bare && this.#asksFor(field)) {
      this.#bareField = true;
      return undefined;
    }
    cursor.at = start;
    return undefined;
  }

  /** A field that is only named: an amount to be summed, or what a list shows. */
  #asksFor(field: FieldMeaning): boolean {
    const { intent, top } = this.#draft;
    if (field.holds === 'number' && intent !== 'list' && !top) {
      if (intent === 'count' && !this.#wantsAmount) return false;
      this.#measureOf(amountOf(field), field);
      return true;
    }
    if (intent !== 'list') return false;
    this.#draft.shown.push({ field: field.path });
    this.#draft.reading.push(`shows ${field.label}`);
    return true;
  }
}
