import { useQuery } from '@tanstack/react-query';
import { IntlMessageFormat } from 'intl-messageformat';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { english } from '../messages/en.ts';

/** The key of a text in the message files. */
export type MessageKey = keyof typeof english;
export type Language = 'en' | 'de';

type Messages = Record<MessageKey, string>;
type Values = Record<string, string | number | boolean | Date | null | undefined>;

/** A text in the user's language, with its values. */
export type Translate = (key: MessageKey, values?: Values) => string;

/** The language with its texts. */
export interface Localization {
  language: Language;
  t: Translate;
  setLanguage(language: string): void;
}

const Context = createContext<Localization | undefined>(undefined);

const loaders: Record<Language, () => Promise<Messages>> = {
  en: async () => english,
  de: async () => (await import('../messages/de.ts')).german,
};

/** A text in every language, as far as its messages are loaded: the others follow in a moment. */
export function useAllTexts(): (key: MessageKey, values?: Values) => string[] {
  const { data = { en: english } } = useQuery({
    queryKey: ['messages'],
    queryFn: async () => ({ en: english, de: await loaders.de() }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return useMemo(() => {
    const all = Object.entries(data).map(([language, texts]) => createTranslate(language as Language, texts));
    return (key, values) => all.map((translate) => translate(key, values));
  }, [data]);
}

/** The languages of pages by the name that they have for themselves. */
export const languageNames: Record<Language, string> = { en: 'English', de: 'Deutsch' };

/** The nearest of the languages, else the first. */
export const nearestLanguage = (wanted: string, offered: readonly Language[]): Language =>
  offered.find((one) => wanted.toLowerCase().split('-')[0] === one) ?? offered[0] ?? 'en';

/** Tells the service which languages the browser prefers: its own answers come as they are stored. */
export const browserLanguages = () => ({ 'Accept-Language': navigator.languages.join(',') });

const supported = (language: string): Language => nearestLanguage(language, ['en', 'de']);

// the default asks for all languages that the browser knows, which takes longer than all texts of a page
IntlMessageFormat.resolveLocale = (locales) => new Intl.Locale(String(locales));

/** Formats a message; parsed messages are kept. */
function createTranslate(language: Language, messages: Messages): Translate {
  const parsed = new Map<MessageKey, IntlMessageFormat>();
  return (key, values) => {
    const text = messages[key] ?? english[key];
    // most texts have no values, and need no parser
    if (!/[{']/.test(text)) return text;
    let message = parsed.get(key);
    if (!message) {
      message = new IntlMessageFormat(text, language, undefined, { ignoreTag: true });
      parsed.set(key, message);
    }
    return String(message.format(values));
  };
}

/** Texts of all pages in one language: the browser's until the user's is known. */
export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(() => supported(navigator.language));
  const [messages, setMessages] = useState<{ language: Language; texts: Messages }>({
    language: 'en',
    texts: english,
  });
  useEffect(() => {
    let isCurrent = true;
    void loaders[language]().then((texts) => {
      // the same texts again would render everything once more
      if (isCurrent) setMessages((before) => (before.texts === texts ? before : { language, texts }));
    });
    return () => {
      isCurrent = false;
    };
  }, [language]);
  const value = useMemo(() => {
    document.documentElement.lang = messages.language;
    return {
      language: messages.language,
      t: createTranslate(messages.language, messages.texts),
      setLanguage: (wanted: string) => setLanguage(supported(wanted)),
    };
  }, [messages]);
  return <Context value={value}>{children}</Context>;
}

/** The language and its texts. */
export function useLanguage(): Localization {
  const found = useContext(Context);
  if (!found) throw new Error('used outside of LanguageProvider');
  return found;
}

/** Texts in the user's language. */
export const useTexts = (): Translate => useLanguage().t;
