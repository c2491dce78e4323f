import Type from 'typebox';
import { embed, query } from '../../../platform/database.ts';
import type { Work } from '../context.ts';
import type { EventType } from '../events/events.catalogue.ts';
import {
  type Change,
  canonical,
  type EventDraft,
  rowChanges,
  type StoredRow,
} from '../events/row-changes.ts';
import { insertRows, lockRow, type RowModel } from '../resources/rows.ts';
import { Nullable, type StaticOf, Uuid } from '../shapes.ts';
import { columnsBefore, type UndoneEvent, type UndoRefusal, type UndoSpec } from './undo.types.ts';

/** Undoes the write of one row, with an event that is the inverse of the original one. */
export async function undoRow(
  work: Work,
  spec: UndoSpec,
  event: BatchEvent,
  careful: boolean,
): Promise<NotUndone | null> {
  const { sql } = work;
  const model = spec.model!;
  const present = await lockRow(sql, model, { id: event.id });
  let after: StoredRow | null = null;
  let answer: NotUndone | null = null;
  if (spec.events.deleted?.includes(event.event_type)) {
    if (present) return changedLater(event);
    [after = null] = await insertRows<RowModel>(sql, model, [{ id: event.id, ...columnsBefore(event) }]);
  } else if (!present) return missing(event, spec.entity);
  else if (spec.events.created?.includes(event.event_type)) {
    await sql(model.tableName).where({ id: event.id }).delete();
  } else {
    const values = { ...present };
    const kept = revertFields(values, event.data.changes, careful);
    if (kept.length > 0) answer = changedLater(event, kept);
    const columns = Object.keys(event.data.changes).filter((column) => !kept.includes(column));
    if (columns.length === 0) return answer;
    const table = embed(model.tableName);
    const set = embed(columns.map((column) => `${column} = v.${column}`).join(', '));
    const rows = await query(sql).rows`update ${table} t set ${set}
       from jsonb_populate_record(null::${table}, ${JSON.stringify(values)}::jsonb) v
       where t.id = ${event.id} returning to_jsonb(t) as row`;
    after = rows[0].row;
  }
  work.emit(opposite(spec, event, present ?? null, after));
  for (const topic of spec.topics?.(event) ?? []) work.raise(topic);
  return answer;
}

function opposite(
  { events }: UndoSpec,
  event: BatchEvent,
  before: StoredRow | null,
  after: StoredRow | null,
): EventDraft {
  const kind = event.event_type.slice(0, event.event_type.indexOf('.') + 1);
  const typeOf = (types: EventType[] = []) => types.find((type) => type.startsWith(kind)) ?? types[0]!;
  const event_type =
    before === null ? typeOf(events.created) : after === null ? typeOf(events.deleted) : event.event_type;
  const { impersonated_role: _role, ...data } = event.data;
  return {
    event_type,
    scope: event.scope as NonNullable<EventDraft['scope']>,
    card_id: event.card_id,
    card_type: event.card_type,
    ...(event.peer_card_id ? { peer_card_id: event.peer_card_id, peer_card_type: event.peer_card_type } : {}),
    recipient_id: event.recipient_id,
    cost_keys: event.cost_keys,
    data: { ...data, changes: rowChanges(before, after) },
  };
}

/** An object's values before and after, nested ones by prefix. */
type Values = Record<string, unknown>;

/**
 * Sets the changed fields to their old values. With `careful`, only those whose current value is still the written one;
 * the others are returned.
 */
export function revertFields(row: object, changes: Record<string, Change>, careful: boolean): string[] {
  const values = row as Values;
  const kept: string[] = [];
  for (const [field, change] of Object.entries(changes)) {
    const dot = /^(attributes|lifecycle)\.(.+)$/s.exec(field);
    const holder = dot ? { ...((values[dot[1]!] as Values | null) ?? {}) } : values;
    const key = dot ? dot[2]! : field;
    if (careful && canonical(holder[key]) !== canonical(change.new)) {
      kept.push(field);
      continue;
    }
    if (!dot) {
      holder[key] = change.old;
      continue;
    }
    if (change.old === null) delete holder[key];
    else
      Object.defineProperty(holder, key, {
        value: change.old,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    values[dot[1]!] = dot[1] === 'lifecycle' && Object.keys(holder).length === 0 ? null : holder;
  }
  return kept;
}

/** One event as the rollback reads it, with the data that its inverse event needs. */
export interface BatchEvent extends UndoneEvent {
  event_id: string;
  card_type: string | null;
  peer_card_id: string | null;
  peer_card_type: string | null;
  recipient_id: string | null;
  scope: string;
  cost_keys: string[] | null;
}

/** What could not be undone; `fields` are the columns that other writes have changed since. */
export const notUndoneMembers = {
  event_id: Uuid,
  event_type: Type.String(),
  id: Type.String(),
  card_id: Nullable(Uuid),
  code: Type.String(),
  message: Type.String(),
  fields: Type.Optional(Type.Array(Type.String())),
};
export type NotUndone = StaticOf<typeof notUndoneMembers>;

export const notUndone = (event: BatchEvent, refusal: UndoRefusal, fields?: string[]): NotUndone => ({
  event_id: event.event_id,
  event_type: event.event_type,
  id: event.id,
  card_id: event.card_id,
  ...refusal,
  ...(fields ? { fields } : {}),
});

export const changedLater = (event: BatchEvent, fields?: string[]): NotUndone =>
  notUndone(event, { code: 'changed_later', message: 'A later batch has changed it.' }, fields);
export const missing = (event: BatchEvent, what: string): NotUndone =>
  notUndone(event, { code: 'missing', message: `The ${what} is no longer there.` });
