import { sha256 } from '../../../platform/crypto.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { Condition, ListSpec, Order, SortField } from './lists.types.ts';

/** Where a traversal stands: behind a row of an immutable order, or at a place of a frozen one. */
export type CursorPlace =
  | { kind: 'row'; value: string; id: string }
  | { kind: 'frozen'; snapshot: string; offset: number };

/**
 * Names a list, its filter and its order inside cursors. Conditions that follow from rights are left out, since
 * they may change on the way.
 */
export function boundOf(spec: ListSpec, order: Order, asked: unknown): string {
  const filter = JSON.stringify(asked, (_key, value) =>
    (value as Condition)?.visibility ? undefined : value,
  );
  return sha256(JSON.stringify([spec.name, order.key, order.dir, filter])).slice(0, 16);
}

/** A cursor is opaque to clients. */
export function encodeCursor(bound: string, place: CursorPlace): string {
  const parts =
    place.kind === 'row'
      ? [bound, 'r', place.value, place.id]
      : [bound, 's', place.snapshot, String(place.offset)];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const forms: Record<SortField['type'], RegExp> = {
  text: /^/,
  numeric: /^-?\d{1,30}(?:\.\d{1,30})?$/,
  timestamptz: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00$/,
  uuid: UUID,
  boolean: /^(?:true|false)$/,
  bigint: /^-?\d{1,18}$/,
};

/** The refusal of a text that is no cursor. */
export const malformedCursor = (): EstateError =>
  invalidField('cursor', 'malformed', 'is not a cursor of this service');

/**
 * Reads a cursor that a client sends back.
 * @throws EstateError for a text that is no cursor, `cursor_mismatch` for one of another list, filter or order.
 */
export function decodeCursor(cursor: string, bound: string, spec: ListSpec, order: Order): CursorPlace {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    parts = undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 4 || !parts.every((part) => typeof part === 'string')) {
    throw malformedCursor();
  }
  const [hash, kind, first, second] = parts as [string, string, string, string];
  if (hash !== bound) {
    throw new EstateError(
      'cursor_mismatch',
      'The cursor belongs to another list, filter or order; start again with cursor=.',
      {
        errors: [
          { field: 'cursor', code: 'cursor_mismatch', message: 'belongs to another list, filter or order' },
        ],
      },
    );
  }
  if (kind === 's' && UUID.test(first) && /^\d{1,9}$/.test(second)) {
    return { kind: 'frozen', snapshot: first, offset: Number(second) };
  }
  const fits = forms[order.field.type].test(first) && forms[spec.idType].test(second);
  if (kind !== 'r' || !order.field.immutable || !fits) throw malformedCursor();
  return { kind: 'row', value: first, id: second };
}
