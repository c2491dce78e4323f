import type { Language } from '../../kit/messages.tsx';
import { numberOf } from '../../kit/numbers.ts';
import type { Target } from './targets.ts';

/** A value of a column that is replaced by another. */
export interface Fix {
  column: string;
  from: string;
  to: string;
}

const yes = /^(true|yes|y|ja|j|x|1|wahr)$/i;
const no = /^(false|no|n|nein|0|falsch)$/i;

/** A date as people write it, as imports read it; other texts stay. */
function dateOf(text: string): string {
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return text.slice(0, 10);
  const german = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text);
  if (!german) return text;
  const [, day, month, year] = german;
  return `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`;
}

/** What texts such as `1.234` mean. */
export type Meaning = 'thousands' | 'decimals';

/** Such a text as imports read it. */
const meant = (text: string, meaning: Meaning): string =>
  meaning === 'thousands' ? text.replace(/[.,]/, '') : text.replace(',', '.');

/**
 * A cell as imports read it: points of decimals, dates by year; the service finds labels, and refuses what is none.
 * @param isTyped whether it is of a workbook.
 * @param isWritten whether a program wrote it, such as an export, which names columns by their keys.
 * @param meaning of a text of a workbook such as `1.234`.
 */
export function cellOf(
  given: string,
  { column, field }: Target,
  language: Language,
  isTyped: boolean,
  isWritten: boolean,
  meaning?: Meaning,
): string {
  const text = given.trim();
  if (text === '') return '';
  const number = () => {
    if (meaning) return meant(text, meaning);
    // those of workbooks and programs have a decimal point in any language
    if ((isTyped || isWritten) && Number.isFinite(Number(text))) return text;
    return String(numberOf(text, language) ?? text);
  };
  if (column.startsWith('lifecycle.') || column.startsWith('period_')) return dateOf(text);
  if (column === 'type' || column === 'subtype') return text;
  if (column === 'amount') return number();
  switch (field?.type) {
    case 'number':
    case 'cost':
      return number();
    case 'date':
      return dateOf(text);
    case 'boolean':
      return yes.test(text) ? 'true' : no.test(text) ? 'false' : text;
    case 'single_select':
      return text;
    case 'multiple_select':
      return text.replaceAll('|', ';');
    default:
      // imports take one apostrophe of a text of CSV off
      return isTyped ? given.replace(/^(?='+[=+\-@＝＋－＠\t\r])/, "'") : given;
  }
}
