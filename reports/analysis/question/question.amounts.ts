import type { QueryMeasure } from '../../../domain/inventory/reports/report.job.ts';
import type { QuestionCursor } from './question.cursor.ts';
import type { QuestionDraft } from './question.draft.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import type { FieldMeaning, QuestionNames } from './question.names.ts';
import type { QuestionTexts } from './question.says.ts';
import type { Vocabulary } from './question.vocabulary.ts';

/** The default function of a field: percentages are averaged, others summed. */
export const amountOf = ({ path }: FieldMeaning): QueryMeasure => ({
  fn: path === 'data_quality' ? 'avg' : 'sum',
});

/** The titles of functions of a field; the only percentile in questions is the median. */
const titles = {
  count: 'query.with',
  distinct: 'query.distinct',
  sum: 'query.sum',
  avg: 'query.avg',
  min: 'query.least',
  max: 'query.greatest',
  percentile: 'query.median',
} as const;

const functions = grammar.functions as (QueryMeasure & { words: string[] })[];

/** Where the words of the subject are. */
type Place = { start: number; end: number };

/** Reads amounts, and the order of cards by an amount. */
export class AmountReader {
  readonly #vocabulary: Vocabulary;
  readonly #cursor: QuestionCursor;
  readonly #names: QuestionNames;
  readonly #draft: QuestionDraft;
  readonly #texts: QuestionTexts;

  constructor(vocabulary: Vocabulary, cursor: QuestionCursor, names: QuestionNames, draft: QuestionDraft) {
    this.#vocabulary = vocabulary;
    this.#cursor = cursor;
    this.#names = names;
    this.#draft = draft;
    this.#texts = cursor.texts;
  }

  /** Whether a field of several words begins here: "number of users" and "total annual cost" can be fields. */
  seesLongField(): boolean {
    return (this.#names.see('field')?.length ?? 0) > 1;
  }

  /** "how many users". */
  ofCounted(): boolean {
    const cursor = this.#cursor;
    return cursor.attempt(() => {
      if (this.seesLongField() || !cursor.takeAny(grammar.counting)) return false;
      const counted = this.#names.takeCounted();
      if (!counted) return false;
      this.#draft.measures.push({ fn: 'sum', field: counted.path });
      this.#draft.reading.push(this.#texts.say('query.sum', { title: counted.label }));
      return true;
    });
  }

  /** "does each application", if these are the subject. */
  perCard(subjectAt: Place | undefined): boolean {
    const cursor = this.#cursor;
    const draft = this.#draft;
    return cursor.attempt(() => {
      if (!cursor.takeAny(grammar.ownEach) || cursor.at !== subjectAt?.start) return false;
      const [measure, ...others] = draft.measures;
      if (!measure || others.length > 0 || draft.top) return false;
      cursor.at = subjectAt.end;
      // the average of all cards
      if (measure.fn === 'avg') return true;
      draft.isPerCard = true;
      draft.reading.push(this.#texts.say('question.perCard'));
      return true;
    });
  }

  /** "top 5", "the 10 most expensive". */
  order(): boolean {
    const cursor = this.#cursor;
    const draft = this.#draft;
    if (draft.top) return false;
    if (this.#sorted()) return true;
    return cursor.attempt(() => {
      const start = cursor.at;
      const leads = cursor.takePhrase('top');
      const number = leads || cursor.seesNumber ? cursor.takeNumber() : undefined;
      const limit = number ?? (draft.isSingular ? 1 : 10);
      const dear = cursor.takePhrase('most expensive');
      const cheap = !dear && cursor.takeAny(['cheapest', 'least expensive']);
      if ((!leads && !dear && !cheap) || !Number.isInteger(limit) || limit < 1 || limit > 10_000)
        return false;
      draft.top = { limit, dir: cheap ? 'asc' : 'desc' };
      draft.reading.push(this.#texts.say('question.first', { count: limit }));
      if (dear || cheap) this.#orderByCost(cursor.textFrom(start));
      return true;
    });
  }

  /** "sorted by cost": all cards in an order. */
  #sorted(): boolean {
    const draft = this.#draft;
    if (draft.measures.length + draft.dimensions.length > 0) return false;
    return this.#cursor.attempt(() => {
      const isUpwards = this.#cursor.takeAny(grammar.sorted.asc);
      if (!isUpwards && !this.#cursor.takeAny(grammar.sorted.desc)) return false;
      if (!this.orderMeasure()) return false;
      const dir = isUpwards || this.#cursor.takeAny(grammar.upwards) ? 'asc' : 'desc';
      this.#cursor.takeAny(grammar.downwards);
      draft.top = { dir };
      return true;
    });
  }

  /** "how much do we spend on". */
  spending(): boolean {
    const cursor = this.#cursor;
    const start = cursor.at;
    if (!cursor.takeAny(grammar.spending)) return false;
    this.#orderByCost(cursor.textFrom(start));
    return true;
  }

  #orderByCost(text: string): void {
    const draft = this.#draft;
    const costs = (this.#vocabulary.phrases.get('cost') ?? []).filter(
      (meaning) => meaning.kind === 'field' && meaning.types.some((type) => draft.subject.includes(type)),
    ) as FieldMeaning[];
    if (costs.length === 1) this.measureOf({ fn: 'sum' }, costs[0]!);
    else draft.ambiguous.push({ text, meanings: costs.map(({ label, path }) => `${label} (${path})`) });
  }

  /** "the most expensive applications by total annual cost" names the order again. */
  repeatsOrder(): boolean {
    const [measure] = this.#draft.measures;
    return this.#cursor.attempt(
      () => this.#names.takeField(({ path }) => path === measure?.field) !== undefined,
    );
  }

  /** What the cards are ordered by, after "top 5 applications by". */
  orderMeasure(): boolean {
    const cursor = this.#cursor;
    cursor.takePhrase('the');
    const fn = this.seesLongField() ? undefined : this.#function();
    const field = this.#names.takeField(({ valueType }) => valueType === 'number');
    if (field) {
      this.measureOf(fn ?? amountOf(field), field);
      return true;
    }
    cursor.takeAny(grammar.counting);
    const way = this.#names.takeRelated();
    if (!way) return false;
    this.#draft.measures.push({ fn: 'count', field: `${way.path}.name` });
    this.#draft.reading.push(this.#texts.say('question.number', way));
    return true;
  }

  #function(): QueryMeasure | undefined {
    const found = functions.find(({ words }) => this.#cursor.takeAny(words));
    return found && { fn: found.fn, ...(found.p === undefined ? {} : { p: found.p }) };
  }

  /** "average total annual cost"; "total number of" only counts. */
  measure(subjectAt: Place | undefined): boolean {
    const cursor = this.#cursor;
    return cursor.attempt(() => {
      // "applications with the lowest data quality" asks for applications
      const isOfCards = grammar.having.includes(
        cursor.norms[cursor.at - 1] === 'the' ? cursor.norms[cursor.at - 2]! : cursor.norms[cursor.at - 1]!,
      );
      const fn = this.seesLongField() ? undefined : this.#function();
      if (!fn) return false;
      if (isOfCards && (fn.fn === 'min' || fn.fn === 'max')) this.#draft.intent ??= 'list';
      // "what do all applications cost in total"
      if (fn.fn === 'sum' && this.#draft.measures.some((measure) => measure.fn === 'sum')) return true;
      cursor.takeAny(['of the', 'of', 'the']);
      // "total application cost"
      if (cursor.at === subjectAt?.start) cursor.at = subjectAt.end;
      const field = this.#names.takeField(
        ({ valueType }) =>
          valueType === 'number' || (valueType === 'date' && (fn.fn === 'min' || fn.fn === 'max')),
      );
      if (field) this.measureOf(fn, field);
      else if (fn.fn === 'sum' && cursor.takeAny(grammar.counting)) this.#draft.intent = 'count';
      else return false;
      return true;
    });
  }

  /** Asks for a function of a field. */
  measureOf(fn: QueryMeasure, { path, label }: FieldMeaning): void {
    this.#draft.measures.push({ ...fn, field: path });
    this.#draft.measureSaid = this.#draft.reading.length;
    this.#draft.reading.push(this.#texts.say(titles[fn.fn], { title: label }));
  }

  /** "the most users", "the fewest users". */
  mostOf(): boolean {
    const cursor = this.#cursor;
    const draft = this.#draft;
    if (draft.top || draft.measures.length > 0) return false;
    return cursor.attempt(() => {
      const dir = this.#most();
      const field =
        dir &&
        (this.#names.takeCounted() ?? this.#names.takeField(({ valueType }) => valueType === 'number'));
      if (!field) return false;
      draft.measures.push({ fn: 'sum', field: field.path });
      draft.reading.push(this.#texts.say('query.sum', { title: field.label }));
      draft.takeFirst(dir);
      return true;
    });
  }

  #most(): 'asc' | 'desc' | undefined {
    if (this.#cursor.takeAny(grammar.most.desc)) return 'desc';
    return this.#cursor.takeAny(grammar.most.asc) ? 'asc' : undefined;
  }

  /** "cost the most". */
  extremeOf(field: FieldMeaning): boolean {
    const draft = this.#draft;
    if (draft.top || draft.measures.length > 0) return false;
    const dir = this.#most();
    if (!dir) return false;
    this.measureOf({ fn: 'sum' }, field);
    draft.takeFirst(dir);
    return true;
  }
}
