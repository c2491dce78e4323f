import { isAddress } from '../users.model.ts';
import { scimError } from './scim.errors.ts';
import { attributesOf, matchesFilter, member, type PatchOperation, patchOperations } from './scim.patch.ts';
import { USER_SCHEMA } from './scim.resources.ts';

/** The values of an account in a request; omitted ones are undefined. */
export interface ScimUserValues {
  userName?: string;
  externalId?: string | null;
  displayName?: string;
  /** `name.formatted`, which replaces a missing display name. */
  formatted?: string;
  givenName?: string | null;
  familyName?: string | null;
  email?: string;
  active?: boolean;
}

const texts = {
  username: { key: 'userName', max: 254, required: true },
  displayname: { key: 'displayName', max: 200, required: false },
  externalid: { key: 'externalId', max: 254, required: false },
} as const;

const names = {
  formatted: { key: 'formatted', max: 200 },
  givenname: { key: 'givenName', max: 200 },
  familyname: { key: 'familyName', max: 200 },
} as const;

const readOnly = new Set(['id', 'meta', 'groups', 'roles']);

/** Attributes of RFC 7643 that are accepted but not stored: clients send them by default. */
const notStored = new Set([
  'schemas',
  'password',
  'nickname',
  'profileurl',
  'title',
  'usertype',
  'preferredlanguage',
  'locale',
  'timezone',
  'phonenumbers',
  'ims',
  'photos',
  'addresses',
  'entitlements',
  'x509certificates',
]);

/** The current address, to which a path such as `emails[type eq "work"]` refers. */
type Present = { email: string };

/**
 * The values of a complete resource in POST and PUT requests; read-only attributes are ignored (RFC 7644, 3.3 and
 * 3.5.1).
 * @throws EstateError `scim_invalid_value`, `scim_invalid_syntax`.
 */
export function userOfResource(body: unknown): ScimUserValues {
  const values: ScimUserValues = {};
  for (const { path, value } of attributesOf(body, USER_SCHEMA)) {
    // Null means absent (RFC 7643, 2.5).
    if (readOnly.has(path.attribute) || value === null) continue;
    apply(values, { op: 'replace', path, value }, { email: '' }, false);
  }
  if (values.userName === undefined) throw scimError('invalidValue', 'userName is required.');
  return values;
}

/**
 * The changes of a PATCH.
 * @throws EstateError `scim_invalid_value`, `scim_invalid_syntax`, `scim_invalid_path`, `scim_mutability`,
 * `scim_no_target`.
 */
export function userOfPatch(body: unknown, present: Present): ScimUserValues {
  const values: ScimUserValues = {};
  for (const operation of patchOperations(body, USER_SCHEMA)) apply(values, operation, present, true);
  return values;
}

function apply(values: ScimUserValues, operation: PatchOperation, present: Present, strict: boolean): void {
  const { path, op } = operation;
  const value = op === 'remove' ? null : operation.value;
  const { attribute } = path;
  if (attribute === 'name') {
    applyName(values, operation);
    return;
  }
  if (attribute === 'emails') {
    applyEmails(values, operation, present);
    return;
  }
  if (Object.hasOwn(texts, attribute)) {
    const { key, max, required } = texts[attribute as keyof typeof texts];
    const text = textOf(value, attribute, max);
    if (text === null && required) throw scimError('invalidValue', `${key} cannot be empty.`);
    if (key === 'externalId') values.externalId = text;
    else if (key === 'displayName') values.displayName = text ?? '';
    else values.userName = text!;
    return;
  }
  if (attribute === 'active') {
    values.active = booleanOf(value);
    return;
  }
  if (readOnly.has(attribute)) throw scimError('mutability', `${attribute} cannot be changed here.`);
  if (notStored.has(attribute) || attribute.startsWith('urn:')) return;
  if (strict) throw scimError('invalidPath', `There is no attribute ${attribute}.`);
}

function applyName(values: ScimUserValues, { op, path, value }: PatchOperation): void {
  const parts =
    path.member === undefined
      ? Object.keys(names).flatMap((name) => {
          const part = op === 'remove' || value === null ? null : member(value, name);
          return part === undefined ? [] : [[name, part] as const];
        })
      : [[path.member, op === 'remove' ? null : value] as const];
  for (const [name, part] of parts) {
    // Middle names and titles are not stored.
    if (!Object.hasOwn(names, name)) continue;
    const known = names[name as keyof typeof names];
    const text = textOf(part, `name.${known.key}`, known.max);
    if (known.key === 'formatted') values.formatted = text ?? '';
    else values[known.key] = text;
  }
}

/** An account has one address, which counts as the primary one for work. */
function applyEmails(values: ScimUserValues, { op, path, value }: PatchOperation, { email }: Present): void {
  const { filter } = path;
  if (filter && !matchesFilter({ value: values.email ?? email, type: 'work', primary: true }, filter)) {
    // RFC 7644, 3.5.2.3
    if (op === 'replace') throw scimError('noTarget', 'No e-mail address of the account fits the path.');
    // An address of another type is not stored.
    return;
  }
  if (path.member !== undefined && path.member !== 'value') return;
  if (op === 'remove') throw scimError('invalidValue', 'An account keeps an e-mail address.');
  const given = chosen(Array.isArray(value) ? value : [value]);
  if (given === undefined) {
    if (Array.isArray(value) && value.length === 0) return;
    throw scimError('invalidValue', 'emails has to hold an e-mail address.');
  }
  const text = textOf(given, 'emails', 254);
  if (text === null || !isAddress(text))
    throw scimError('invalidValue', 'emails has to hold an e-mail address.');
  values.email = text;
}

/** The address to store: the primary one, else the one for work, else the first. */
function chosen(list: unknown[]): unknown {
  const entries = list.map((item) => ({
    value: typeof item === 'string' ? item : member(item, 'value'),
    primary: isWord(member(item, 'primary'), 'true'),
    work: isWord(member(item, 'type'), 'work'),
  }));
  const best = entries.find(({ primary }) => primary) ?? entries.find(({ work }) => work) ?? entries[0];
  return best?.value;
}

const isWord = (value: unknown, word: string): boolean =>
  value === true ? word === 'true' : typeof value === 'string' && value.toLowerCase() === word;

/** @throws EstateError `scim_invalid_value`. @returns null for empty values. */
export function textOf(value: unknown, name: string, max: number): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string') throw scimError('invalidValue', `${name} has to be a text.`);
  const text = value.trim();
  if (text.length > max) throw scimError('invalidValue', `${name} has at most ${max} characters.`);
  return text === '' ? null : text;
}

/** Microsoft Entra ID writes booleans as texts. */
function booleanOf(value: unknown): boolean {
  const text = typeof value === 'boolean' || typeof value === 'string' ? String(value).toLowerCase() : '';
  if (text !== 'true' && text !== 'false') throw scimError('invalidValue', 'active has to be true or false.');
  return text === 'true';
}
