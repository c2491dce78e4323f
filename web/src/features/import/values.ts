import type { Language } from '../../kit/messages.tsx';
import { numberOf } from '../../kit/numbers.ts';
import { type Target, textsOf } from './targets.ts';

/** A value of a column that is replaced by another. */
export interface Fix {
  column: string;
  from: string;
  to: string;
}

interface Named {
  key: string;
  label: string;
  translations?: object;
}

/** The key of what a text names by its key or its label in any language; other texts stay. */
export function keyOf(text: string, named: readonly Named[]): string {
  const wanted = text.trim().toLowerCase();
  const found = named.find(({ key, label, translations }) =>
    [key, label, ...textsOf(translations)].some((one) => one.toLowerCase() === wanted),
  );
  return found?.key ?? text.trim();
}

const yes = /^(true|yes|y|ja|j|x|1|wahr)$/i;
const no = /^(false|no|n|nein|0|falsch)$/i;

/** A date as people write it, as imports read it; other texts stay. */
function dateOf(text: string): string {
  const german = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text);
  if (!german) return text;
  const [, day, month, year] = german;
  return `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`;
}

/** A cell as imports read it: keys of options, points of decimals, dates by year; the service refuses what is none. */
export function cellOf(given: string, { column, field }: Target, language: Language): string {
  const text = given.trim();
  if (text === '') return '';
  if (column.startsWith('lifecycle.') || column.startsWith('period_')) return dateOf(text);
  if (column === 'amount') return String(numberOf(text, language) ?? text);
  switch (field?.type) {
    case 'number':
    case 'cost':
      return String(numberOf(text, language) ?? text);
    case 'date':
      return dateOf(text);
    case 'boolean':
      return yes.test(text) ? 'true' : no.test(text) ? 'false' : text;
    case 'single_select':
      return keyOf(text, field.options ?? []);
    case 'multiple_select':
      return text
        .split(/[;|]/)
        .map((one) => keyOf(one, field.options ?? []))
        .join(';');
    default:
      return given;
  }
}
