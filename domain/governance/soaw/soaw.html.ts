import sanitizeHtml from 'sanitize-html';

/** Elements that a section may be made of; what runs, loads or looks like something else is not among them. */
export const sectionElements = [
  'p',
  'br',
  'hr',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'li',
  'blockquote',
  'pre',
  'code',
  'strong',
  'b',
  'em',
  'i',
  'u',
  's',
  'sub',
  'sup',
  'a',
  'table',
  'thead',
  'tbody',
  'tfoot',
  'tr',
  'th',
  'td',
  'caption',
] as const;

/** How deep they may lie in each other; what lies deeper is unwrapped. */
const DEPTH = 30;

/**
 * HTML with nothing but known elements in it, well formed: others are unwrapped or, where their text is no text, left
 * out; of attributes only the addresses of links and the spans of cells stay.
 */
export function cleanHtml(html: string): string {
  return sanitizeHtml(html, {
    allowedTags: [...sectionElements],
    allowedAttributes: { a: ['href'], th: ['colspan', 'rowspan'], td: ['colspan', 'rowspan'] },
    allowedSchemes: ['http', 'https', 'mailto'],
    allowProtocolRelative: false,
    disallowedTagsMode: 'discard',
    nestingLimit: DEPTH,
    parser: { lowerCaseTags: true, lowerCaseAttributeNames: true },
  }).trim();
}
