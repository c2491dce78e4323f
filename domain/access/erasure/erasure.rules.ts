import { sha256 } from '../../../platform/crypto.ts';

/** Names and addresses of a user in stored texts, former ones included. */
export interface UserIdentity {
  id: string;
  emails: string[];
  names: string[];
}

/** Replaces a user's name and address; always the same for the same user. */
export interface Pseudonym {
  name: string;
  email: string;
}

/** @param id the user's. */
export function pseudonymOf(id: string): Pseudonym {
  const hash = sha256(`erased user ${id}`);
  return { name: `Erased user ${hash.slice(0, 8)}`, email: `erased-${hash.slice(0, 16)}@erased.invalid` };
}

/**
 * Replaces a user's addresses, and the name in mentions by id. Other occurrences of the name are only replaced if
 * `about` says that the text concerns the user: other users may have the same name.
 */
export interface Eraser {
  /** For texts that the service has written: any occurrence. */
  texts(value: unknown, about: boolean): unknown;
  /** For a JSON value that may contain texts of users: only in the members that contain names and addresses. */
  members(value: unknown, about: boolean): unknown;
  /** Only in mentions by id. */
  mentions(text: string): string;
}

/**
 * Members of events with the name or the address of a user, also as `{old, new}`; a `summary` is written by the
 * service.
 */
const personal = /(^|_)(display_name|email|user_name|actor_name|author_name|recipients)$/;

export function createEraser(known: UserIdentity, pseudonym: Pseudonym): Eraser {
  const emails = new Set(known.emails.map((email) => email.toLowerCase()));
  const names = new Set(known.names);
  const emailWords = wordsPattern(emails, 'giu');
  const nameWords = wordsPattern(names, 'gu');
  const mention = new RegExp(`@\\[[^\\]\\r\\n]*\\](?=\\(user:${known.id}\\))`, 'gi');

  const mentions = (text: string): string =>
    text
      .replace(mention, `@[${pseudonym.name}]`)
      // An excerpt may be truncated within a mention.
      .replace(
        /@\[([^\]\r\n]*)(\](?:\(user:([0-9a-f-]*))?)?$/i,
        (whole, name: string, rest = '', id = '') => {
          const cut = rest === '' && name.length > 1 && known.names.some((full) => full.startsWith(name));
          const own = cut || (names.has(name) && known.id.startsWith(id.toLowerCase()));
          return own ? `@[${pseudonym.name}${rest}` : whole;
        },
      );
  const text = (value: string, about: boolean): string => {
    const plain = mentions(emailWords ? value.replace(emailWords, pseudonym.email) : value);
    return about && nameWords ? plain.replace(nameWords, pseudonym.name) : plain;
  };
  const texts = (value: unknown, about: boolean): unknown =>
    typeof value === 'string' ? text(value, about) : mapped(value, (part) => texts(part, about));
  const whole = (value: string, about: boolean): string => {
    if (emails.has(value.toLowerCase())) return pseudonym.email;
    return about && names.has(value) ? pseudonym.name : value;
  };
  const members = (value: unknown, about: boolean, inside = false): unknown => {
    if (typeof value === 'string') return inside ? whole(value, about) : mentions(value);
    return mapped(value, (part, key) => {
      if (key === 'summary') return texts(part, about);
      // Items of a list have no key.
      return members(part, about, personal.test(key) || (inside && ['old', 'new', ''].includes(key)));
    });
  };
  return { texts, members: (value, about) => members(value, about), mentions };
}

/**
 * Matches any of the words as a whole word; undefined without words. Longer ones first, so that no part of them
 * remains.
 */
function wordsPattern(words: ReadonlySet<string>, flags: string): RegExp | undefined {
  if (words.size === 0) return undefined;
  const choices = [...words]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${choices.join('|')})(?![\\p{L}\\p{N}])`, flags);
}

function mapped(value: unknown, to: (part: unknown, key: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((part) => to(part, ''));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, to(part, key)]));
}
