/** Escaped HTML; all other values are escaped when they are inserted into a template. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Values in a template: lists are joined, null and undefined are omitted. */
export type Part = Html | string | number | null | undefined | readonly Part[];

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]/g;

/** Escapes text for element content and quoted attributes, without control characters. */
export function escapeHtml(text: string): string {
  return text.replace(UNPRINTABLE, '').replace(/[&<>"']/g, (character) => entities[character]!);
}

function written(part: Part): string {
  if (part === null || part === undefined) return '';
  if (part instanceof Html) return part.text;
  return Array.isArray(part) ? part.map(written).join('') : escapeHtml(String(part));
}

/** Template tag for HTML in XML syntax: values are escaped unless they are {@link Html}. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.reduce((text, string, n) => text + written(parts[n - 1]) + string));
}
