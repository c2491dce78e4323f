import type {
  QueryDimension,
  QueryMeasure,
  ReportQuery,
} from '../../../domain/inventory/reports/report.job.ts';
import type { QuestionTexts } from './question.says.ts';

/** A question as a query, with its interpretation. */
export interface ReadQuestion {
  query: ReportQuery;
  /** The requested number of groups, such as by "top 5"; absent: all. */
  limit?: number;
  /** The interpretation of each part, as text. */
  reading: string[];
}

/** Why a question could not be interpreted without guessing. */
export interface UnreadQuestion {
  /** Unknown words. */
  unknown: string[];
  /** Ambiguous phrases with their possible meanings. */
  ambiguous: { text: string; meanings: string[] }[];
}

type Having = ReportQuery['having'][number];

/** Number of listed cards for questions about the highest or lowest values. */
const EXTREMES = 10;

/** The interpretation of a question so far. */
export class QuestionDraft implements UnreadQuestion {
  readonly texts: QuestionTexts;
  readonly unknown: string[] = [];
  readonly ambiguous: UnreadQuestion['ambiguous'] = [];
  readonly reading: string[] = [];
  readonly conditions: string[] = [];
  readonly dimensions: QueryDimension[] = [];
  readonly measures: QueryMeasure[] = [];
  /** Fields that a list shows in addition to the names. */
  readonly shown: QueryDimension[] = [];
  /** The common types of the named fields, if no type was named. */
  readonly typesOfFields: string[][] = [];
  /** Paths of fields with several values per card. */
  readonly severalValued = new Set<string>();
  /** Conditions on measures of the cards of a list. */
  readonly having: { measure: QueryMeasure; op: Having['op']; value: number }[] = [];
  subject: string[] = [];
  /** Whether one card is asked for: "which application has ...". */
  isSingular = false;
  /** The number of conditions that the name of the subject makes. */
  subjectConditions = 0;
  /** Whether the subject is one card. */
  isCard = false;
  /** Whether the last condition was negated by "not". */
  isNegated = false;
  /** Whether two conditions are joined by "or". */
  hasAlternatives = false;
  /** Whether the measures are asked for each card. */
  isPerCard = false;
  /** Whether "or" was between the last condition and the current position. */
  isAlternative = false;
  intent: 'count' | 'list' | undefined;
  /** The order of cards, and how many of them; all without a limit. */
  top: { limit?: number; dir: 'asc' | 'desc' } | undefined;
  as_of: string | undefined;
  /** Where the reading tells the last measure. */
  measureSaid = -1;

  constructor(texts: QuestionTexts) {
    this.texts = texts;
  }

  /** Adds a condition; after "or" it is an alternative to the one before, if that is the only one. */
  addCondition({ filter, says }: { filter: string; says: string }): void {
    const own = this.conditions.length - this.subjectConditions;
    if (this.isAlternative && own > 0) {
      // the scope of "not" and of several conditions would be a guess
      if (own > 1 || this.isNegated || this.having.length > 0) this.unknown.push('or');
      const before = this.conditions.pop()!;
      this.conditions.push(`(${before} or ${filter})`);
      this.hasAlternatives = true;
      this.reading.push(this.texts.say('question.or', { what: says }));
    } else {
      if (this.hasAlternatives) this.unknown.push('or');
      this.conditions.push(filter);
      this.reading.push(says);
    }
    this.isAlternative = false;
    this.isNegated = false;
  }

  /** Returns a function that restores the draft as it is now. */
  mark(): () => void {
    const lists: unknown[][] = [
      this.unknown,
      this.ambiguous,
      this.reading,
      this.conditions,
      this.dimensions,
      this.measures,
      this.shown,
      this.typesOfFields,
      this.having,
    ];
    const lengths = lists.map(({ length }) => length);
    const { intent, top, as_of, isAlternative, isNegated, hasAlternatives } = this;
    const last = this.conditions.at(-1);
    return () => {
      for (const [at, list] of lists.entries()) list.length = lengths[at]!;
      Object.assign(this, { intent, top, as_of, isAlternative, isNegated, hasAlternatives });
      // "or" replaces the last condition
      if (last !== undefined) this.conditions[this.conditions.length - 1] = last;
    };
  }

  /** The query, or undefined if nothing was asked. */
  finished(): ReadQuestion | undefined {
    this.#readExtreme();
    const asksForCards =
      this.intent === 'list' || (this.intent === undefined && this.dimensions.length === 0);
    const lists = this.isPerCard || this.top !== undefined || (asksForCards && this.measures.length === 0);
    const said = this.subject.length + this.conditions.length + this.measures.length + this.dimensions.length;
    if (said === 0 && this.intent !== 'count') return undefined;
    const asksForGroups = this.dimensions.length > 0 && !this.top;
    const names = lists && !asksForGroups;
    // the id distinguishes cards with equal names
    const dimensions = names
      ? [{ field: 'name' }, ...(this.top ? this.dimensions : this.shown), { field: 'id' }]
      : this.dimensions;
    const tested = this.having.map(({ measure }) => measure);
    const asked = this.measures.length > 0 ? this.measures : tested;
    const measures: QueryMeasure[] = asked.length > 0 ? asked : [{ fn: 'count' }];
    const from = this.subject.length > 0 ? this.subject : common(this.typesOfFields);
    const inTime = dimensions.some(({ bucket }) => bucket !== undefined);
    const sorted = this.top !== undefined || (dimensions.length > 0 && !names && !inTime);
    return {
      query: {
        from,
        filter: this.conditions.join(' and '),
        dimensions: unique(dimensions),
        measures,
        having: this.having.map(({ measure, op, value }) => ({ column: columnOf(measure), op, value })),
        sort: sorted ? [{ column: columnOf(measures[0]!), dir: this.top?.dir ?? 'desc' }] : [],
        ...(this.as_of === undefined ? {} : { as_of: this.as_of }),
      },
      ...(this.top?.limit ? { limit: this.top.limit } : {}),
      reading: this.reading,
    };
  }

  /** "Which applications have the highest cost" asks for the applications, not for the amount. */
  #readExtreme(): void {
    const [measure, ...others] = this.measures;
    if (this.intent !== 'list' || this.top || this.dimensions.length + others.length > 0) return;
    if (measure?.fn !== 'max' && measure?.fn !== 'min') return;
    this.takeFirst(measure.fn === 'max' ? 'desc' : 'asc');
  }

  /** Asks for the first cards by the measure. */
  takeFirst(dir: 'asc' | 'desc', limit = this.isSingular ? 1 : EXTREMES): void {
    this.top = { limit, dir };
    this.reading.push(this.texts.say('question.first', { count: limit }));
  }

  /** Why the query would not say what was asked. */
  get conflict(): string | undefined {
    const conflict = this.#conflict();
    return conflict && this.texts.say(`question.conflict.${conflict}`);
  }

  #conflict() {
    const { having, measures, dimensions, intent } = this;
    const [test] = having;
    // a query groups cards and tests the groups, but does not count them
    if (test && (intent === 'count' || measures.length > 0 || dimensions.length > 0 || having.length > 1))
      return 'number';
    if (this.top && measures.length === 0) return 'order';
    if (this.top && dimensions.length > 0) return 'each';
    if (this.isAlternative) return 'alternative';
    if (this.subject.length === 0 && this.typesOfFields.length > 0 && common(this.typesOfFields).length === 0)
      return 'fields';
    if (this.isCard && intent === undefined && measures.length === 0 && this.conditions.length > 1)
      return 'yes';
    const options = this.conditions.flatMap((text) => /^([\w.]+) (?:= [^ ]+|~ ".*")$/.exec(text)?.[1] ?? []);
    if (
      options.some(
        (path, at) =>
          /^(attributes|approval_status|subtype)/.test(path) &&
          !this.severalValued.has(path) &&
          options.indexOf(path) !== at,
      )
    )
      return 'values';
    return undefined;
  }
}

/** The name that a query gives a measure without one. */
function columnOf({ fn, field, p }: QueryMeasure): string {
  const standard = p === undefined ? fn : `${fn}_${p}`;
  return field === undefined ? standard : `${standard}(${field})`;
}

/** The types that are in every list. */
function common(lists: string[][]): string[] {
  const [first = [], ...rest] = lists;
  return first.filter((type) => rest.every((list) => list.includes(type)));
}

function unique(dimensions: QueryDimension[]): QueryDimension[] {
  const known = new Set<string>();
  return dimensions.filter(({ field, bucket = '' }) => {
    const name = `${bucket} ${field}`;
    if (known.has(name)) return false;
    known.add(name);
    return true;
  });
}
