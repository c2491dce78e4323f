import { sha256 } from '../../../platform/crypto.ts';
import { EstateError } from '../../../platform/errors.ts';
import { invalidQuery } from './odata.errors.ts';

/** Where the next page begins. */
export interface SkipToken {
  /** Hash of the query that the token belongs to. */
  bound: string;
  /** Values of the order keys in the last row of the previous page. */
  keys: (string | null)[];
  id: string;
  /** Remaining rows of `$top`. */
  left: number | null;
  /** The feed position of the first page, if changes are tracked. */
  position: number | null;
  /** In a delta response: changes after this position are returned. */
  since: number | null;
}

export interface DeltaToken {
  bound: string;
  position: number;
  /** The set's shape when it was read. */
  shape: string;
}

/** Returns the hash of a query for its tokens. */
export const hashQuery = (...parts: unknown[]): string => sha256(JSON.stringify(parts)).slice(0, 16);

const pack = (parts: unknown[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url');

function unpack(text: string, option: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (Array.isArray(parts)) return parts;
  } catch {
    // refused below
  }
  throw invalidQuery(option, 'is no token of this service');
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const isNonNegativeInteger = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;
const isNonNegativeIntegerOrNull = (value: unknown): value is number | null =>
  value === null || isNonNegativeInteger(value);

export function writeSkipToken({ bound, keys, id, left, position, since }: SkipToken): string {
  return pack(['s', bound, keys, id, left, position, since]);
}

/** @throws EstateError for an invalid token or one of another query. */
export function readSkipToken(text: string, bound: string, keys: number): SkipToken {
  const [kind, of, values, id, left, position, since] = unpack(text, '$skiptoken');
  const fits =
    kind === 's' &&
    Array.isArray(values) &&
    values.every((value) => value === null || typeof value === 'string') &&
    typeof id === 'string' &&
    UUID.test(id) &&
    isNonNegativeIntegerOrNull(left) &&
    isNonNegativeIntegerOrNull(position) &&
    isNonNegativeIntegerOrNull(since);
  if (!fits) throw invalidQuery('$skiptoken', 'is no token of this service');
  if (of !== bound || values.length !== (since === null ? keys : 0)) {
    throw invalidQuery('$skiptoken', 'belongs to another query: start again without it');
  }
  return { bound, keys: values as (string | null)[], id, left, position, since };
}

export function writeDeltaToken({ bound, position, shape }: DeltaToken): string {
  return pack(['d', bound, position, shape]);
}

/** @throws EstateError for an invalid token or one of another query, `position_expired` after a change of the set's shape. */
export function readDeltaToken(text: string, bound: string, shape: string): DeltaToken {
  const [kind, of, position, before] = unpack(text, '$deltatoken');
  if (kind !== 'd' || !isNonNegativeInteger(position) || typeof before !== 'string') {
    throw invalidQuery('$deltatoken', 'is no token of this service');
  }
  if (of !== bound) throw invalidQuery('$deltatoken', 'belongs to another query: read the set again');
  if (before !== shape) {
    throw new EstateError('position_expired', 'The properties of the set have changed: read the set again.');
  }
  return { bound, position, shape };
}
