import type { Change } from '../../../kernel/events/row-changes.ts';
import type { CardColumns } from '../cards.model.ts';

export type CardStatus = CardColumns['status'];
export type ApprovalStatus = CardColumns['approval_status'];
export type Lifecycle = NonNullable<CardColumns['lifecycle']>;

/** The columns of a card that clients set. */
export type CardValues = Pick<
  CardColumns,
  'subtype' | 'name' | 'alias' | 'description' | 'parent_id' | 'lifecycle' | 'attributes' | 'external_id'
>;

/** The members that a client or an import row sets: an absent member is not changed, `null` clears it. */
export type CardInput = Partial<
  Record<Exclude<keyof CardValues, 'lifecycle' | 'attributes'>, string | null>
> & { lifecycle?: Record<string, unknown> | null; attributes?: Record<string, unknown> | null };

/** The columns of a stored card, computed values included. */
export interface CardState
  extends Omit<CardColumns, 'number' | 'archive_batch_id' | `${'created' | 'updated'}_${'by' | 'at'}`> {
  /** Null until the card is inserted: PostgreSQL then gives it the next one of its type. */
  number: string | null;
}

/** The old and new value of each written field, as events record them. */
export type Changes = Record<string, Change>;

const plainFields = [
  'number',
  'subtype',
  'name',
  'alias',
  'description',
  'parent_id',
  'external_id',
  'status',
  'approval_status',
  'data_quality',
  'archived_at',
] as const;

/** Whether two JSON values are equal; the order of lists counts. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameValue(item, b[index]));
  }
  return false;
}

/** The value of a key of an object from a client; null if the object has no own property of the name. */
export function ownValue(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? (object[key] ?? null) : null;
}

/** Adds the differences of two flat objects to `changes`, each key behind the prefix. */
export function diffKeys(
  changes: Changes,
  prefix: string,
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const old = ownValue(before, key);
    const next = ownValue(after, key);
    if (!sameValue(old, next)) changes[`${prefix}${key}`] = { old, new: next };
  }
}

/**
 * What differs between two states of a card: `{field: {old, new}}`, attributes as `attributes.<key>`, lifecycle as
 * `lifecycle.<phase>`. Without `before` it reports a creation (every old value is null), without `after` a deletion.
 */
export function diffCard(before: CardState | null, after: CardState | null): Changes {
  const changes: Changes = {};
  for (const field of plainFields) {
    const old = before?.[field] ?? null;
    const next = after?.[field] ?? null;
    if (old !== next) changes[field] = { old, new: next };
  }
  diffKeys(changes, 'lifecycle.', before?.lifecycle ?? {}, after?.lifecycle ?? {});
  diffKeys(changes, 'attributes.', before?.attributes ?? {}, after?.attributes ?? {});
  return changes;
}

/** The keys of `changes` that have costs, to hide them from readers who may not see costs; null if there are none. */
export function costKeysIn(changes: Changes, costFields: readonly string[]): string[] | null {
  const keys = costFields.map((field) => `attributes.${field}`).filter((key) => Object.hasOwn(changes, key));
  return keys.length > 0 ? keys : null;
}
