import { createHash } from 'node:crypto';
import { escapeMarkup } from '../../../../platform/xml.ts';

/** Escaped HTML; all other values are escaped when they are inserted into a template. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Values in a template: lists are joined, null and undefined are omitted. */
export type Part = Html | string | number | null | undefined | readonly Part[];

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]/g;

/** Escapes text for element content and quoted attributes, without control characters. */
export function escapeHtml(text: string): string {
  return escapeMarkup(text.replace(UNPRINTABLE, ''));
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

/** The page's colours; text has a contrast of at least 4.5 to its background (WCAG 2.2, 1.4.3). */
export const palette = {
  text: '#1b1f24',
  muted: '#4b5563',
  link: '#0b4f96',
  ground: '#ffffff',
  panel: '#f3f5f8',
  line: '#6b7686',
} as const;

const style = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 0 1rem 3rem; color: ${palette.text}; background: ${palette.ground};
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: ${palette.link}; }
a:focus-visible, input:focus-visible, select:focus-visible, button:focus-visible, summary:focus-visible, main:focus-visible {
  outline: 3px solid ${palette.link}; outline-offset: 2px; }
.skip { position: absolute; left: 1rem; top: -4rem; padding: .5rem 1rem; background: ${palette.link}; color: ${palette.ground}; }
.skip:focus { top: .5rem; }
header { padding: 1.5rem 0 .5rem; border-bottom: 1px solid ${palette.line}; }
header img { display: block; max-height: 3rem; max-width: 14rem; margin-bottom: .5rem; }
header p { margin: .25rem 0; color: ${palette.muted}; white-space: pre-line; }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.25; }
h2 { font-size: 1.25rem; margin: 1.25rem 0 .5rem; }
h3 { font-size: 1.1rem; margin: 0; }
form { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(14rem, 100%), 1fr)); gap: .75rem 1rem; align-items: end;
  margin: 1rem 0; padding: 1rem; background: ${palette.panel}; }
label { display: block; }
input, select { display: block; width: 100%; min-height: 2.5rem; padding: .35rem .5rem; font: inherit; color: ${palette.text};
  background: ${palette.ground}; border: 1px solid ${palette.line}; }
button { min-height: 2.5rem; padding: .35rem 1.25rem; font: inherit; color: ${palette.ground}; background: ${palette.link};
  border: 1px solid ${palette.link}; cursor: pointer; }
.cards { list-style: none; margin: 0; padding: 0; display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); }
.cards > li { padding: 1rem; border: 1px solid ${palette.line}; }
.cards > li:target { outline: 3px solid ${palette.link}; }
.about { margin: .5rem 0; white-space: pre-line; }
details { margin-top: .5rem; }
summary { color: ${palette.link}; cursor: pointer; }
dl { margin: .5rem 0 0; }
dl > div { margin-top: .35rem; }
dt { color: ${palette.muted}; font-size: .875rem; }
dd { margin: 0; white-space: pre-line; }
dd ul { margin: 0; padding-left: 1.1rem; white-space: normal; }
.dot { display: inline-block; width: .7em; height: .7em; margin-right: .35em; }
nav ul { display: flex; flex-wrap: wrap; gap: 1rem; list-style: none; padding: 0; margin: 1.25rem 0 0; }
@media print { form, nav, .skip { display: none; } }
`;

const styleHash = createHash('sha256').update(style).digest('base64');

/** Allows only this inline style, and images and forms of this origin; no scripts, no frames. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  // `data:` for the empty icon, without which browsers would request /favicon.ico
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface DocumentParts {
  title: string;
  /** Whether search engines may list it. */
  indexed: boolean;
  /** Whether the workspace has a custom icon. */
  icon: boolean;
  body: Part;
}

/** A complete HTML page. */
export function document({ title, indexed, icon, body }: DocumentParts): string {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
${indexed ? null : html`<meta name="robots" content="noindex" />`}
<title>${title}</title>
${icon ? html`<link rel="icon" href="/api/v1/settings/favicon" />` : html`<link rel="icon" href="data:," />`}
<style>${new Html(style)}</style>
</head>
<body>
${body}
</body>
</html>
`.text;
}
