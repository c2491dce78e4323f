import { cleanName } from '../../../platform/storable.ts';
import { isDay } from '../dates.ts';

/**
 * How values are written in CSV cells, in both directions. A text that a spreadsheet would evaluate as a formula gets
 * one apostrophe in front, which the import removes (OWASP, CSV injection).
 */

/**
 * `=`, `+`, `-`, `@`, their full-width forms, which spreadsheets fold, tab or CR, also after any number of apostrophes:
 * otherwise an escaped text could not be distinguished from one that begins with an apostrophe.
 */
const risky = /^'*[=+\-@＝＋－＠\t\r]/;
const guarded = /^'+[=+\-@＝＋－＠\t\r]/;

/** The text, with an apostrophe in front if a spreadsheet would evaluate it. */
export const neutralise = (text: string): string => (risky.test(text) ? `'${text}` : text);

/** The text as it was before {@link neutralise}. */
export function restore(text: string): string {
  return text.charCodeAt(0) === 0x27 && guarded.test(text) ? text.slice(1) : text;
}

/** Quotes a cell if RFC 4180 requires it: separators, quotes, line breaks, and leading or trailing spaces. */
export function quoteCell(text: string): string {
  return /[",;\t\r\n]|^ | $/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text as a cell of CSV. @param guard whether it is neutralised. */
export const csvText = (text: string, guard: boolean): string => quoteCell(guard ? neutralise(text) : text);

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A number with a decimal point and without group separators; undefined if it is not valid or too large. */
export function readNumber(cell: string): number | undefined {
  const text = cell.trim();
  if (!decimal.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** `true` or `false`, also in upper case, as spreadsheets write them; else undefined. */
export function readBoolean(cell: string): boolean | undefined {
  const text = cell.trim().toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** An existing date as `YYYY-MM-DD`; else undefined. */
export function readDay(cell: string): string | undefined {
  const text = cell.trim();
  return isDay(text) ? text : undefined;
}

/** Several values in one cell: joined by `;`, with `\;` and `\\` for those characters. */
export function joinValues(values: readonly string[]): string {
  return values.map((value) => value.replace(/[\\;]/g, '\\$&')).join(';');
}

/** The values of a cell written by {@link joinValues}; each is trimmed and in one Unicode form, empty ones are ignored. */
export const splitValues = (cell: string): string[] => splitEscaped(cell, ';');

/** A path of names in one cell: `Parent / Child`, with `\/` and `\\` for those characters. */
export function joinPath(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\/]/g, '\\$&')).join(' / ');
}

/** The names of a path written by {@link joinPath}. */
export const splitPath = (cell: string): string[] => splitEscaped(cell, '/');

/** A tag by its name and the name of its group. */
export interface TagName {
  group: string;
  name: string;
}

/** `Group/Tag`; a `/` inside the group's name is `\/`, and `\\` is a backslash. */
export function writeTag({ group, name }: TagName): string {
  return `${group.replace(/[\\/]/g, '\\$&')}/${name.replaceAll('\\', '\\\\')}`;
}

const tag = /^((?:[^\\/]|\\[\\/]|\\(?![\\/]))*)\/(.*)$/s;

/** The tag of a text written by {@link writeTag}; undefined if group or tag is missing. */
export function readTag(text: string): TagName | undefined {
  const [group, name] = (tag.exec(text) ?? [])
    .slice(1)
    .map((part) => part.replace(/\\([\\/])/g, '$1').trim());
  return group && name ? { group, name } : undefined;
}

/** A user with a stakeholder role on a card. */
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

/** Splits at separators that are not escaped by a backslash; before other characters a backslash is literal. */
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
  return parts.map(cleanName).filter((text) => text !== '');
}
