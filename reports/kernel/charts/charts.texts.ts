import { IntlMessageFormat } from 'intl-messageformat';
import german from './messages/de.json' with { type: 'json' };
import english from './messages/en.json' with { type: 'json' };

/** The languages of charts. */
export type ChartLanguage = 'en' | 'de';

/** What is written in a language; default: English. */
export interface InLanguage {
  language?: ChartLanguage | undefined;
}

type Values = Record<string, string | number>;

/** Formats the messages of a catalogue, whose numbers are raw; parsed messages are kept. */
export function createTexts<K extends string>(
  messages: Record<ChartLanguage, Record<K, string>>,
): (of: InLanguage, key: K, values?: Values) => string {
  const parsed = new Map<string, IntlMessageFormat>();
  return ({ language = 'en' }, key, values) => {
    const id = `${language} ${key}`;
    let message = parsed.get(id);
    if (!message) {
      message = new IntlMessageFormat(messages[language][key], language, undefined, { ignoreTag: true });
      parsed.set(id, message);
    }
    return String(message.format(values));
  };
}

/** A text of the charts themselves. */
export const chartText = createTexts({ en: english, de: german });

/** A name within a sentence, in lower case where the language writes it so. */
export const lowered = (name: string, { language = 'en' }: InLanguage): string =>
  language === 'en' ? name.toLowerCase() : name;
