import type { QueryDimension } from '../../../domain/inventory/reports/report.job.ts';
import type { AmountReader } from './question.amounts.ts';
import { readDateTest } from './question.conditions.ts';
import type { CostReader } from './question.costs.ts';
import type { QuestionCursor } from './question.cursor.ts';
import type { QuestionDraft } from './question.draft.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import type { QuestionNames } from './question.names.ts';

/** Reads by what the cards are grouped. */
export class GroupReader {
  readonly #cursor: QuestionCursor;
  readonly #names: QuestionNames;
  readonly #amounts: AmountReader;
  readonly #costs: CostReader;
  readonly #draft: QuestionDraft;

  constructor(
    cursor: QuestionCursor,
    names: QuestionNames,
    amounts: AmountReader,
    costs: CostReader,
    draft: QuestionDraft,
  ) {
    this.#cursor = cursor;
    this.#names = names;
    this.#amounts = amounts;
    this.#costs = costs;
    this.#draft = draft;
  }

  /** "by provider and year of end of life"; after "top 5" it is the measure. */
  read(): boolean {
    const cursor = this.#cursor;
    const draft = this.#draft;
    return cursor.attempt(() => {
      if (!cursor.takeAny(grammar.grouping)) return false;
      if (draft.top && draft.measures.length === 0) return this.#orderCosts() || this.#amounts.orderMeasure();
      if (draft.top && this.#amounts.repeatsOrder()) return true;
      let count = 0;
      const next = () =>
        count === 0 || cursor.takeAny([', and', 'and by', 'and', ',', 'by']) ? this.#dimension() : undefined;
      for (let found = cursor.attempt(next); found; found = cursor.attempt(next)) {
        draft.dimensions.push(found.value);
        draft.reading.push(this.#cursor.texts.say('question.by', { label: found.says }));
        count += 1;
      }
      return count > 0;
    });
  }

  /** "by licence cost", whose year is read next. */
  #orderCosts(): boolean {
    return this.#cursor.attempt(() => {
      this.#cursor.takePhrase('the');
      return this.#costs.kind();
    });
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
        const says = this.#cursor.texts.say('query.bucket', { title: day.label, bucket: value.bucket });
        return { value, says };
      }
      if (bucket !== undefined || day) return undefined;
      const field = this.#names.takeField();
      if (field) return { value: { field: field.path }, says: field.label };
      const way = this.#names.takeRelated();
      return way && { value: { field: `${way.path}.name` }, says: way.label };
    });
  }
}
