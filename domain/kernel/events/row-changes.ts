import type { EventScope, EventType } from './events.catalogue.ts';

export interface Change {
  old: unknown;
  new: unknown;
}

/** One event to be recorded; the command adds caller, time and address. */
export interface EventDraft {
  event_type: EventType;
  /** Set if it differs from the scope of the kind. */
  scope?: EventScope;
  card_id?: string | null;
  card_type?: string | null;
  /** The card at the other end of a relation, whose history also contains the event. */
  peer_card_id?: string | null;
  peer_card_type?: string | null;
  relation_id?: string | null;
  relation_type?: string | null;
  /** The only user who can see an event of scope `user`. */
  recipient_id?: string | null;
  /** For events before login, when the caller is not yet known. */
  user_id?: string | null;
  /** Keys of `data.changes` (such as `attributes.costTotalAnnual`) whose values are costs. */
  cost_keys?: string[] | null;
  /**
   * `changes: {field: {old, new}}` has the written values, also for created (old is null) and deleted (new is null)
   * objects; attributes as `attributes.<key>`, lifecycle as `lifecycle.<phase>`.
   */
  data: Record<string, unknown>;
}

/** The pattern of a position from a client, for schemas. */
export const POSITION_PATTERN = '^[0-9]{1,16}$';

/** A stored row in the form that events use: columns with JSON values (timestamps as RFC 3339, dates as text). */
export type StoredRow = Record<string, unknown>;

export type RowChanges = Record<string, Change>;

const jsonText = (value: unknown): string => JSON.stringify(value ?? null);

/**
 * The changes of a row, column by column, in the form that all events use: without `before` the row was created (each
 * set column has `old: null`), without `after` it was deleted; without both nothing was written. The keys are the
 * table's columns except `id`, so that a batch can be undone from its events alone. Columns in `left` are omitted:
 * secrets such as passwords, or derived values such as `updated_at`.
 */
export function rowChanges(
  beforeRow: object | null,
  afterRow: object | null,
  left: readonly string[] = ['updated_at'],
): RowChanges {
  const before = beforeRow as StoredRow | null;
  const after = afterRow as StoredRow | null;
  const changes: RowChanges = {};
  for (const column of Object.keys(after ?? before ?? {})) {
    if (column === 'id' || left.includes(column)) continue;
    const change = { old: before?.[column] ?? null, new: after?.[column] ?? null };
    if (jsonText(change.old) !== jsonText(change.new)) changes[column] = change;
  }
  return changes;
}

/** The object in the names of its events: `<entity>.created`. */
type Entity = EventType extends infer T ? (T extends `${infer E}.created` ? E : never) : never;

/** The event types of an object whose rows are created, updated and deleted. */
export const rowEvents = (entity: Entity) => ({
  created: [`${entity}.created` as EventType],
  updated: [`${entity}.updated` as EventType],
  deleted: [`${entity}.deleted` as EventType],
});

/**
 * The event of a written row: without `before` it was created, without `after` deleted.
 * @param data the event's data besides the changes, including the `id` of the row.
 */
export function rowEvent(
  entity: Entity,
  before: object | null,
  after: object | null,
  data: Record<string, unknown>,
): EventDraft {
  const kind = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  const changes = rowChanges(before, after);
  return { event_type: `${entity}.${kind}` as EventType, data: { ...data, changes } };
}

/**
 * The members of `values` that differ from the row: the actual changes of a patch. The order of JSON keys does not
 * count.
 */
export function differingMembers<R extends object>(row: R, values: Partial<R>): Partial<R> {
  const differs = ([column, value]: [string, unknown]) =>
    value !== undefined && canonical(value) !== canonical((row as StoredRow)[column]);
  return Object.fromEntries(Object.entries(values).filter(differs)) as Partial<R>;
}

/** The JSON of a value with its keys in order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_key, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
