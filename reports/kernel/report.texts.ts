import german from '../messages/de.json' with { type: 'json' };
import english from '../messages/en.json' with { type: 'json' };
import { createTexts, type InLanguage } from './charts/charts.texts.ts';

/** A text of the charts of reports. */
export const reportText = createTexts({ en: english, de: german });

/** The text of a column or value of a table, or of a parameter, for people; undefined if it has none. */
export function knownText(
  of: InLanguage,
  kind: 'column' | 'value' | 'param',
  key: string,
): string | undefined {
  const id = `${kind}.${key}`;
  return Object.hasOwn(english, id) ? reportText(of, id as keyof typeof english) : undefined;
}
