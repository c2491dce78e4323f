import type {
  QueryDimension,
  QueryMeasure,
  ReportQuery,
} from '../../../domain/inventory/reports/report-query.job.ts';

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

/** Number of listed cards for questions about the highest or lowest values. */
const EXTREMES = 10;

/** The interpretation of a question so far. */
export class QuestionDraft implements UnreadQuestion {
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
  subject: string[] = [];
  intent: 'count' | 'list' | undefined;
  top: { limit: number; dir: 'asc' | 'desc' } | undefined;
  as_of: string | undefined;

  /** The query, or undefined if nothing was asked. */
  finished(): ReadQuestion | undefined {
    this.#readExtreme();
    const lists = this.top !== undefined || (this.intent === 'list' && this.measures.length === 0);
    const said = this.subject.length + this.conditions.length + this.measures.length + this.dimensions.length;
    if (said === 0 && this.intent !== 'count') return undefined;
    const asksForGroups = this.dimensions.length > 0 && !this.top;
    const names = lists && !asksForGroups;
    // the id distinguishes cards with equal names
    const dimensions = names
      ? [{ field: 'name' }, ...(this.top ? this.dimensions : this.shown), { field: 'id' }]
      : this.dimensions;
    const measures: QueryMeasure[] = this.measures.length > 0 ? this.measures : [{ fn: 'count' }];
    const from = this.subject.length > 0 ? this.subject : common(this.typesOfFields);
    const inTime = dimensions.some(({ bucket }) => bucket !== undefined);
    const sorted = this.top !== undefined || (dimensions.length > 0 && !names && !inTime);
    return {
      query: {
        from,
        filter: this.conditions.join(' and '),
        dimensions: unique(dimensions),
        measures,
        having: [],
        sort: sorted ? [{ column: columnOf(measures[0]!), dir: this.top?.dir ?? 'desc' }] : [],
        ...(this.as_of === undefined ? {} : { as_of: this.as_of }),
      },
      ...(this.top ? { limit: this.top.limit } : {}),
      reading: this.reading,
    };
  }

  /** "Which applications have the highest cost" asks for the applications, not for the amount. */
  #readExtreme(): void {
    const [measure, ...others] = this.measures;
    if (this.intent !== 'list' || this.top || this.dimensions.length + others.length > 0) return;
    if (measure?.fn !== 'max' && measure?.fn !== 'min') return;
    this.top = { limit: EXTREMES, dir: measure.fn === 'max' ? 'desc' : 'asc' };
    this.reading.push(`the first ${EXTREMES}`);
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
