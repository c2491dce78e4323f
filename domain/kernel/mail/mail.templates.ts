import { escapeMarkup } from '../../../platform/xml.ts';

/** The contents of a mail; every text is plain text and may contain any user input. */
export interface MailParts {
  heading: string;
  paragraphs?: string[];
  items?: { title: string; text: string; url?: string | undefined }[];
  button?: { label: string; url: string };
  /** Lines in small print at the end. */
  footer?: string[];
}

/** Replaces line breaks in a text that is shown on one line. */
const flat = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();

/** A mail as plain text and as simple HTML without images, scripts and style sheets. */
export function renderMail(parts: MailParts): { text: string; html: string } {
  const { heading, paragraphs = [], items = [], button, footer = [] } = parts;
  const text = [
    flat(heading),
    ...paragraphs.map(flat),
    ...items.map((item) =>
      [`- ${flat(item.title)}`, `  ${flat(item.text)}`, item.url && `  ${item.url}`]
        .filter(Boolean)
        .join('\n'),
    ),
    ...(button ? [`${flat(button.label)}: ${button.url}`] : []),
    ...(footer.length > 0 ? [['-- ', ...footer.map(flat)].join('\n')] : []),
  ].join('\n\n');
  const link = (url: string, label: string) =>
    `<a href="${escapeMarkup(url)}">${escapeMarkup(flat(label))}</a>`;
  const html = [
    '<!doctype html><html><body style="font-family:sans-serif;font-size:15px;line-height:1.5;color:#222">',
    `<h1 style="font-size:20px">${escapeMarkup(flat(heading))}</h1>`,
    ...paragraphs.map((paragraph) => `<p>${escapeMarkup(flat(paragraph))}</p>`),
    ...(items.length > 0
      ? [
          '<ul>',
          ...items.map(
            ({ title, text, url }) =>
              `<li><strong>${url ? link(url, title) : escapeMarkup(flat(title))}</strong><br>${escapeMarkup(flat(text))}</li>`,
          ),
          '</ul>',
        ]
      : []),
    ...(button ? [`<p>${link(button.url, button.label)}</p>`] : []),
    ...footer.map((line) => `<p style="font-size:12px;color:#666">${escapeMarkup(flat(line))}</p>`),
    '</body></html>',
  ].join('\n');
  return { text: `${text}\n`, html };
}

/**
 * The URL of a page of the application, below `app_base_url` of the settings; undefined if that is not set or not a
 * URL.
 */
export function appUrl(base: string, path: string): string | undefined {
  if (!/^https?:\/\/[^\s"<>]+$/i.test(base)) return undefined;
  return `${base.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;
}

/**
 * A date `YYYY-MM-DD` in the workspace's format, with months in the language. In German, formats that name the month without
 * a dot, which are those of English, are `DD.MM.YYYY`.
 */
export function formatDate(date: string, format: string, locale: string): string {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(date) ?? [];
  if (!year || !month || !day) return date;
  const monthName = (style: 'short' | 'long') => {
    const at = new Date(`${year}-${month}-01T00:00:00Z`);
    try {
      return new Intl.DateTimeFormat(locale, { month: style, timeZone: 'UTC' }).format(at);
    } catch {
      // The language tag is not valid.
      return new Intl.DateTimeFormat('en', { month: style, timeZone: 'UTC' }).format(at);
    }
  };
  const isForeign = /^de\b/i.test(locale) && /MMM/.test(format) && !format.includes('.');
  const parts: Record<string, () => string> = {
    YYYY: () => year,
    YY: () => year.slice(-2),
    MMMM: () => monthName('long'),
    MMM: () => monthName('short'),
    MM: () => month,
    M: () => String(Number(month)),
    DD: () => day,
    D: () => String(Number(day)),
  };
  return (isForeign ? 'DD.MM.YYYY' : format).replace(/YYYY|YY|M{1,4}|DD?/g, (part) => parts[part]!());
}
