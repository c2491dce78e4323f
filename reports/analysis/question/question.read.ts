import type { QueryDimension, QueryMeasure } from '../../../domain/inventory/reports/report-query.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import {
  type Condition,
  inPhase,
  readDateTest,
  readExistence,
  readOptions,
  readTest,
  readTextTest,
} from './question.conditions.ts';
import { QuestionCursor } from './question.cursor.ts';
import { QuestionDraft, type ReadQuestion, type UnreadQuestion } from './question.draft.ts';
import { fromGerman } from './question.german.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import { type FieldMeaning, findSubject, isNeutral, QuestionNames } from './question.names.ts';
import { createVocabulary, type NamedTag, readTagNames, type Vocabulary } from './question.vocabulary.ts';
import { type Word, wordsOf } from './question.words.ts';

/** Maximum number of words of a question. */
const MOST_WORDS = 120;

/**
 * Interprets a question in English or German about cards of the inventory: names of the metamodel, and words for counting,
 * summing, grouping, dates and comparisons. It never guesses: a question with an unknown word is not answered.
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

/** The default function of a field: percentages are averaged, others summed. */
const amountOf = ({ path }: FieldMeaning): QueryMeasure => ({ fn: path === 'data_quality' ? 'avg' : 'sum' });

const functions = grammar.functions as (QueryMeasure & { words: string[] })[];

class QuestionReader {
  readonly #draft = new QuestionDraft();
  readonly #vocabulary: Vocabulary;
  readonly #cursor: QuestionCursor;
  readonly #names: QuestionNames;
  #subjectAt: { start: number; end: number } | undefined;
  /** Whether "and" or "or" was between the last condition and this position. */
  #alternative = false;
  /** Whether "how much" was asked. */
  #wantsAmount = false;
  /** Whether the last condition was only a field, which may be the requested value. */
  #bareField = false;

  constructor(vocabulary: Vocabulary, cursor: QuestionCursor) {
    this.#vocabulary = vocabulary;
    this.#cursor = cursor;
    this.#names = new QuestionNames(vocabulary, cursor, this.#draft);
  }

  read(): ReadQuestion | UnreadQuestion {
    const draft = this.#draft;
    const cursor = this.#cursor;
    const subject = findSubject(this.#vocabulary, cursor.norms);
    if (subject) {
      draft.subject = subject.types;
      draft.reading.push(`cards: ${subject.label}`);
      if (subject.filter !== undefined) draft.conditions.push(subject.filter);
      this.#subjectAt = subject;
    }
    /** Parsers of the parts of a question; each consumes words or does not change the position. */
    const parts = [
      () => this.#order(),
      () => this.#opening(),
      () => this.#asOf(),
      () => this.#groups(),
      () => this.#measure(),
      () => this.#absence(),
      () => this.#presence(),
      () => this.#condition(),
    ];
    while (!cursor.ended) {
      if (cursor.at === this.#subjectAt?.start) cursor.at = this.#subjectAt.end;
      else if (!parts.some((part) => part())) this.#skipWord();
    }
    const { unknown, ambiguous } = draft;
    if (unknown.length + ambiguous.length > 0) return { unknown, ambiguous };
    return draft.finished() ?? { unknown: cursor.words.map(({ text }) => text), ambiguous: [] };
  }

  /** Skips a stop word; records any other word as unknown. */
  #skipWord(): void {
    const cursor = this.#cursor;
    const word = cursor.words[cursor.at]!;
    if (word.norm === 'or') this.#alternative = true;
    if (word.kind !== 'comma' && !grammar.ignored.includes(word.norm) && !isNeutral(word.norm)) {
      this.#draft.unknown.push(word.text);
    }
    cursor.at += 1;
  }

  /** Whether a field of several words begins here: "number of users" and "total annual cost" can be fields. */
  #seesLongField(): boolean {
    return (this.#names.see('field')?.length ?? 0) > 1;
  }

  #opening(): boolean {
    const cursor = this.#cursor;
    if (!this.#seesLongField() && cursor.takeAny(grammar.counting)) this.#draft.intent ??= 'count';
    else if (cursor.takeAny(grammar.listing)) this.#draft.intent ??= 'list';
    else if (cursor.takePhrase('how much')) this.#wantsAmount = true;
    else return false;
    return true;
  }

  /** "top 5", "the 10 most expensive". */
  #order(): boolean {
    const cursor = this.#cursor;
    const draft = this.#draft;
    if (draft.top) return false;
    return cursor.attempt(() => {
      const start = cursor.at;
      const leads = cursor.takePhrase('top');
      const limit = (leads || cursor.seesNumber ? cursor.takeNumber() : undefined) ?? 10;
      const dear = cursor.takePhrase('most expensive');
      const cheap = !dear && cursor.takeAny(['cheapest', 'least expensive']);
      if ((!leads && !dear && !cheap) || !Number.isInteger(limit) || limit < 1 || limit > 10_000)
        return false;
      draft.top = { limit, dir: cheap ? 'asc' : 'desc' };
      draft.reading.push(`the first ${limit}`);
      if (dear || cheap) this.#orderByCost(cursor.textFrom(start));
      return true;
    });
  }

  #orderByCost(text: string): void {
    const draft = this.#draft;
    const costs = (this.#vocabulary.phrases.get('cost') ?? []).filter(
      (meaning) => meaning.kind === 'field' && meaning.types.some((type) => draft.subject.includes(type)),
    ) as FieldMeaning[];
    if (costs.length === 1) this.#measureOf({ fn: 'sum' }, costs[0]!);
    else draft.ambiguous.push({ text, meanings: costs.map(({ label, path }) => `${label} (${path})`) });
  }

  /** "as of 2026-01-01". */
  #asOf(): boolean {
    const cursor = this.#cursor;
    const span = cursor.attempt(() => (cursor.takePhrase('as of') ? cursor.takeSpan() : undefined));
    if (!span) return false;
    this.#draft.as_of = `${span.from}T00:00:00.000Z`;
    this.#draft.reading.push(`as of ${span.from}`);
    return true;
  }

  /** "by provider and year of end of life"; after "top 5" it is the measure. */
  #groups(): boolean {
    const cursor = this.#cursor;
    const draft = this.#draft;
    return cursor.attempt(() => {
      const ofEach = cursor.takeAny(grammar.eachOf);
      if (!ofEach && !cursor.takeAny(grammar.grouping)) return false;
      if (draft.top && draft.measures.length === 0) return this.#orderMeasure();
      let count = 0;
      const next = () =>
        count === 0 || cursor.takeAny([', and', 'and by', 'and', ',', 'by']) ? this.#dimension() : undefined;
      for (let found = cursor.attempt(next); found; found = cursor.attempt(next)) {
        draft.dimensions.push(found.value);
        draft.reading.push(`by ${found.says}`);
        count += 1;
      }
      if (count > 0 && ofEach) cursor.takeAny(grammar.actionsOfEach);
      return count > 0;
    });
  }

  #orderMeasure(): boolean {
    const cursor = this.#cursor;
    cursor.takePhrase('the');
    const fn = this.#seesLongField() ? undefined : this.#function();
    const field = this.#names.takeField(({ valueType }) => valueType === 'number');
    if (field) {
      this.#measureOf(fn ?? amountOf(field), field);
      return true;
    }
    cursor.takeAny(grammar.counting);
    const way = this.#names.takeRelated();
    if (!way) return false;
    this.#draft.measures.push({ fn: 'count', field: `${way.path}.name` });
    this.#draft.reading.push(`number of ${way.label}`);
    return true;
  }

  #dimension(): { value: QueryDimension; says: string } | undefined {
    const cursor = this.#cursor;
    return cursor.attempt(() => {
      cursor.takePhrase('the');
      const bucket = (['year', 'quarter', 'month', 'day'] as const).find((unit) => cursor.takePhrase(unit));
      if (bucket) cursor.takeAny(['of the', 'of']);
      const day = this.#names.takeDay();
      if (day && !readDateTest(cursor, day)) {
        const value = { field: day.path, bucket: bucket ?? ('year' as const) };
        return { value, says: `${value.bucket} of ${day.label}` };
      }
      if (bucket !== undefined || day) return undefined;
      const field = this.#names.takeField();
      if (field) return { value: { field: field.path }, says: field.label };
      const way = this.#names.takeRelated();
      return way && { value: { field: `${way.path}.name` }, says: way.label };
    });
  }

  #function(): QueryMeasure | undefined {
    const found = functions.find(({ words }) => this.#cursor.takeAny(words));
    return found && { fn: found.fn, ...(found.p === undefined ? {} : { p: found.p }) };
  }

  /** "average total annual cost"; "total number of" only counts. */
  #measure(): boolean {
    const cursor = this.#cursor;
    return cursor.attempt(() => {
      const fn = this.#seesLongField() ? undefined : this.#function();
      if (!fn) return false;
      cursor.takeAny(['of the', 'of', 'the']);
      const field = this.#names.takeField(
        ({ valueType }) =>
          valueType === 'number' || (valueType === 'date' && (fn.fn === 'min' || fn.fn === 'max')),
      );
      if (field) this.#measureOf(fn, field);
      else if (fn.fn === 'sum' && cursor.takeAny(grammar.counting)) this.#draft.intent = 'count';
      else return false;
      return true;
    });
  }

  #measureOf(fn: QueryMeasure, { path, label }: FieldMeaning): void {
    this.#draft.measures.push({ ...fn, field: path });
    this.#draft.reading.push(`${fn.fn === 'percentile' ? 'median' : fn.fn} of ${label}`);
  }

  /** "without an end of life", "with no provider", "not approved". */
  #absence(): boolean {
    const cursor = this.#cursor;
    return cursor.attempt(() => {
      const isLacking = cursor.takeAny(grammar.lacking);
      if (!isLacking && !cursor.takeAny(grammar.negating)) return false;
      if (isLacking) cursor.takeAny(['a', 'an', 'any', 'the']);
      const found = isLacking ? readExistence(this.#names) : this.#readCondition(false);
      if (!found) return false;
      this.#add(
        isLacking
          ? { filter: `not (${found.filter})`, says: `without ${found.says}` }
          : { filter: `not ${found.filter}`, says: `not ${found.says}` },
      );
      return true;
    });
  }

  /** "with an end of life", "using IT components"; followed by a test it is a condition. */
  #presence(): boolean {
    const cursor = this.#cursor;
    return cursor.attempt(() => {
      if (!cursor.takeAny(grammar.having)) return false;
      cursor.takeAny(['a', 'an', 'any', 'the', 'at least one']);
      if (this.#condition(false)) return true;
      const found = readExistence(this.#names);
      if (found) this.#add({ filter: found.filter, says: `with ${found.says}` });
      return found !== undefined;
    });
  }

  #condition(bare = true): boolean {
    const condition = this.#readCondition(bare);
    if (condition) this.#add(condition);
    return condition !== undefined || this.#bareField;
  }

  #add({ filter, says }: Condition): void {
    // "or" is only supported between values of one field
    if (this.#alternative && this.#draft.conditions.length > 0) this.#draft.unknown.push('or');
    this.#alternative = false;
    this.#draft.conditions.push(filter);
    this.#draft.reading.push(says);
  }

  /** @param bare whether a field without a test can be the requested value. */
  #readCondition(bare: boolean): Condition | undefined {
    const cursor = this.#cursor;
    this.#bareField = false;
    if (cursor.takeAny(['called', 'named'])) {
      const text = readTextTest(cursor, { path: 'name', label: 'name' });
      if (text) return text;
    }
    const options = readOptions(this.#names);
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
    const tested = readTest(cursor, this.#names, field);
    if (tested) {
      if (field.valueType !== 'boolean') this.#draft.shown.push({ field: field.path });
      return tested;
    }
    this.#bareField = bare && this.#asksFor(field);
    if (!this.#bareField) cursor.at = start;
    return undefined;
  }

  /** A field without a test: an amount to sum, or a column of a list. */
  #asksFor(field: FieldMeaning): boolean {
    const { intent, top } = this.#draft;
    if (field.valueType === 'number' && intent !== 'list' && !top) {
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

/** The vocabulary cached by metamodel, with its tags: these rarely change between questions. */
const made = new WeakMap<Metamodel, { tags: string; vocabulary: Vocabulary }>();

function vocabularyOf(metamodel: Metamodel, tags: readonly NamedTag[]): Vocabulary {
  const names = JSON.stringify(tags);
  const known = made.get(metamodel);
  if (known?.tags === names) return known.vocabulary;
  const vocabulary = createVocabulary(metamodel, tags);
  made.set(metamodel, { tags: names, vocabulary });
  return vocabulary;
}

/** Interprets a question with the names of the current metamodel and tags. */
export async function readInventoryQuestion(
  ctx: Ctx,
  question: string,
): Promise<{ found: ReadQuestion | UnreadQuestion; tags: NamedTag[] }> {
  const tags = await readTagNames(ctx.db);
  const today = new Date().toISOString().slice(0, 10);
  return { found: readQuestion(vocabularyOf(ctx.metamodel, tags), question, today), tags };
}
