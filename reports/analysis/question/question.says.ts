import type { ChartLanguage } from '../../kernel/charts/charts.texts.ts';
import { reportText } from '../../kernel/report.texts.ts';

type Key = Parameters<typeof reportText>[1];

/** Texts of the interpretation of a question, in its language. */
export class QuestionTexts {
  readonly language: ChartLanguage;

  constructor(language: ChartLanguage) {
    this.language = language;
  }

  say(key: Key, values?: Record<string, string | number>): string {
    return reportText(this, key, values);
  }

  /** Texts of which one holds, or all of them. */
  join(texts: readonly string[], joint: 'and' | 'or'): string {
    const type = joint === 'or' ? 'disjunction' : 'conjunction';
    return new Intl.ListFormat(this.language, { type }).format(texts);
  }
}
