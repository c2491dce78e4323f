import type { QuestionCursor } from './question.cursor.ts';
import type { QuestionDraft } from './question.draft.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import type { QuestionNames } from './question.names.ts';

/** The attribute with the costs of the current year. */
const ANNUAL = 'attributes.costTotalAnnual';

/** Reads costs of a kind and of a year: "licence cost of applications 2026", "what do applications cost in 2027". */
export class CostReader {
  readonly #cursor: QuestionCursor;
  readonly #names: QuestionNames;
  readonly #draft: QuestionDraft;
  /** A kind of costs whose year was not read yet. */
  #open: { kind: string; label: string; text: string } | undefined;

  constructor(cursor: QuestionCursor, names: QuestionNames, draft: QuestionDraft) {
    this.#cursor = cursor;
    this.#names = names;
    this.#draft = draft;
  }

  /** "licence cost", if no field has this name. */
  kind(): boolean {
    const found = this.#names.see('cost');
    const [meaning, ...others] = found?.meanings ?? [];
    if (!meaning || others.length > 0 || this.#open || this.#draft.measures.length > 0) return false;
    if ((this.#names.see('field')?.length ?? 0) >= found!.length) return false;
    const start = this.#cursor.at;
    this.#cursor.at += found!.length;
    this.#open = { kind: meaning.cost, label: meaning.label, text: this.#cursor.textFrom(start) };
    return true;
  }

  /** "in 2026", right after costs or the subject: elsewhere it can be said of something else. */
  year(subjectAt: { end: number } | undefined): boolean {
    const { measures, reading, texts } = this.#draft;
    const { at, norms } = this.#cursor;
    if (at !== subjectAt?.end && !/(^cost|kosten)$/.test(norms[at - 1] ?? '')) return false;
    return this.#cursor.attempt(() => {
      this.#cursor.takeAny(grammar.inYear);
      const year = this.#cursor.takeYear();
      const [measure, ...others] = measures;
      const isAnnual = measure?.fn === 'sum' && measure.field === ANNUAL && others.length === 0;
      if (year === undefined || !(this.#open || isAnnual)) return false;
      const { kind, label } = this.#open ?? {};
      if (isAnnual) {
        measures.pop();
        reading.splice(this.#draft.measureSaid, 1);
      }
      measures.push({ fn: 'sum', field: kind === undefined ? `cost.${year}` : `cost.${year}.${kind}` });
      reading.push(
        texts.say('question.costs', { kind: label ?? texts.say('question.allCosts'), year: String(year) }),
      );
      this.#open = undefined;
      return true;
    });
  }

  /** Costs of a kind are of a year. */
  finish(): void {
    if (!this.#open) return;
    const { text } = this.#open;
    const year = Number(this.#cursor.today.slice(0, 4));
    this.#draft.ambiguous.push({ text, meanings: [year, year + 1].map((one) => `${text} ${one}`) });
  }
}
