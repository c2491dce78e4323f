import { sha256 } from '../../../platform/crypto.ts';
import { EstateError } from '../../../platform/errors.ts';
import { invalidQuery } from './odata.errors.ts';

/** Where a walk through a set stands. */
export interface SkipToken {
  /** What the walk is bound to: the query and who walks. */
  bound: string;
  /** Values of the order's keys in the last row shown. */
  keys: (string | null)[];
  id: string;
  /** How many rows `$top` still lets through. */
  left: number | null;
  /** The feed position at the first page, where changes are tracked. */
  position: number | null;
  /** For a walk through changes: those after this position are told. */
  since: number | null;
}

export interface DeltaToken {
  bound: string;
  position: number;
  /** The set's shape when the copy was taken. */
  shape: string;
}

/** Names a query inside tokens. */
export const boundOf = (...parts: unknown[]): string => sha256(JSON.stringify(parts)).slice(0, 16);

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
const whole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const wholeOrNull = (value: unknown): value is number | null => value === null || whole(value);

export function writeSkipToken({ bound, keys, id, left, position, since }: SkipToken): string {
  return pack(['s', bound, keys, id, left, position, since]);
}

/** @throws EstateError for a text that is no token, or one of another query. */
export function readSkipToken(text: string, bound: string, keys: number): SkipToken {
  const [kind, of, values, id, left, position, since] = unpack(text, '$skiptoken');
  const fits =
    kind === 's' &&
    Array.isArray(values) &&
    values.every((value) => value === null || typeof value === 'string') &&
    typeof id === 'string' &&
    UUID.test(id) &&
    wholeOrNull(left) &&
    wholeOrNull(position) &&
    wholeOrNull(since);
  if (!fits) throw invalidQuery('$skiptoken', 'is no token of this service');
  if (of !== bound || values.length !== (since === null ? keys : 0)) {
    throw invalidQuery('$skiptoken', 'belongs to another query: begin it anew');
  }
  return { bound, keys: values as (string | null)[], id, left, position, since };
}

export function writeDeltaToken({ bound, position, shape }: DeltaToken): string {
  return pack(['d', bound, position, shape]);
}

/** @throws EstateError for a text that is no token or one of another query, `position_expired` after a change of the set's shape. */
export function readDeltaToken(text: string, bound: string, shape: string): DeltaToken {
  const [kind, of, position, before] = unpack(text, '$deltatoken');
  if (kind !== 'd' || !whole(position) || typeof before !== 'string') {
    throw invalidQuery('$deltatoken', 'is no token of this service');
  }
  if (of !== bound) throw invalidQuery('$deltatoken', 'belongs to another query: read the set anew');
  if (before !== shape) {
    throw new EstateError('position_expired', 'The properties of the set have changed: read the set anew.');
  }
  return { bound, position, shape };
}
