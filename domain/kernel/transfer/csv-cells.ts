import { isDay } from '../dates.ts';

/**
 * How values are in CSV cells, in both directions. A text that a spreadsheet would take for a formula gets one
 * apostrophe in front, which reading takes off again (OWASP, CSV injection).
 */

/**
 * `=`, `+`, `-`, `@`, their full-width forms, which spreadsheets fold, tab or CR, also behind apostrophes: with any number of them a text is guarded, or else a
 * guarded text could not be told from one that has its apostrophe by itself.
 */
const risky = /^'*[=+\-@＝＋－＠\t\r]/;
const guarded = /^'+[=+\-@＝＋－＠\t\r]/;

/** The text with an apostrophe in front where a spreadsheet would calculate it. */
export function neutralise(text: string): string {
  return risky.test(text) ? `'${text}` : text;
}

/** The text as it was before {@link neutralise}. */
export function restore(text: string): string {
  return text.charCodeAt(0) === 0x27 && guarded.test(text) ? text.slice(1) : text;
}

/** Quotes a cell where RFC 4180 needs it: separators, quotes, line breaks, and blanks at the ends. */
export function quoteCell(text: string): string {
  return /[",;\t\r\n]|^ | $/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A number with `.` before its decimals and no other signs inside; undefined if it is none or too large to hold. */
export function readNumber(cell: string): number | undefined {
  const text = cell.trim();
  if (!decimal.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** `true` or `false`, in capitals too, as spreadsheets write them back; else undefined. */
export function readBoolean(cell: string): boolean | undefined {
  const text = cell.trim().toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** A day that exists, as `YYYY-MM-DD`; else undefined. */
export function readDay(cell: string): string | undefined {
  const text = cell.trim();
  return isDay(text) ? text : undefined;
}

/** Several values in one cell: joined by `;`, with `\;` and `\\` for those characters themselves. */
export function joinValues(values: readonly string[]): string {
  return values.map((value) => value.replace(/[\\;]/g, '\\$&')).join(';');
}

/** The values of a cell made by {@link joinValues}; blanks around each are dropped, empty ones too. */
export function splitValues(cell: string): string[] {
  return splitEscaped(cell, ';');
}

/** A path of names in one cell: `Parent / Child`, with `\/` and `\\` for those characters themselves. */
export function joinPath(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\/]/g, '\\$&')).join(' / ');
}

/** The names of a path made by {@link joinPath}. */
export function splitPath(cell: string): string[] {
  return splitEscaped(cell, '/');
}

/** A tag by its name and its group's. */
export interface TagName {
  group: string;
  name: string;
}

/** `Group/Tag`; a `/` inside the group's name is `\/`, and `\\` is a backslash. */
export function writeTag({ group, name }: TagName): string {
  return `${group.replace(/[\\/]/g, '\\$&')}/${name.replaceAll('\\', '\\\\')}`;
}

const tag = /^((?:[^\\/]|\\[\\/]|\\(?![\\/]))*)\/(.*)$/s;

/** The tag of a text made by {@link writeTag}; undefined if it names no group or no tag. */
export function readTag(text: string): TagName | undefined {
  const [group, name] = (tag.exec(text) ?? [])
    .slice(1)
    .map((part) => part.replace(/\\([\\/])/g, '$1').trim());
  return group && name ? { group, name } : undefined;
}

/** A user in a stakeholder role of a card. */
export interface Stakeholding {
  role: string;
  email: string;
}

/** The stakeholder of a text `role:email`; undefined if one of them is missing. */
export function readStakeholding(text: string): Stakeholding | undefined {
  const colon = text.indexOf(':');
  const role = text.slice(0, Math.max(colon, 0)).trim();
  const email = text.slice(colon + 1).trim();
  return role && email ? { role, email } : undefined;
}

/** Splits at separators that no backslash escapes; before other characters a backslash is one. */
function splitEscaped(cell: string, separator: string): string[] {
  const parts: string[] = [];
  let part = '';
  for (let n = 0; n < cell.length; n += 1) {
    const character = cell[n]!;
    const next = cell[n + 1];
    if (character === '\\' && (next === separator || next === '\\')) {
      part += next;
      n += 1;
    } else if (character === separator) {
      parts.push(part);
      part = '';
    } else {
      part += character;
    }
  }
  parts.push(part);
  return parts.map((text) => text.trim()).filter((text) => text !== '');
}
