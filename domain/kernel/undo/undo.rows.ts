import type { Work } from '../context.ts';
import type { EventDraft } from '../events/events.types.ts';
import { rowChanges, type StoredRow } from '../events/row-changes.ts';
import { insertRow, lockRow } from '../events/stored-rows.ts';
import { type BatchEvent, changedLater, type Left, missing } from './undo.outcome.ts';
import type { UndoSpec } from './undo.types.ts';
import { setBack } from './undo.values.ts';

/** Undoes the write of one plain row, with an event that is the opposite of its own. */
export async function undoRow(
  work: Work,
  spec: UndoSpec,
  event: BatchEvent,
  careful: boolean,
): Promise<Left | null> {
  const { sql } = work;
  const table = spec.table!;
  const present = await lockRow(sql, table, { id: event.id });
  let after: StoredRow | null = null;
  let answer: Left | null = null;
  if (spec.events.deleted?.includes(event.event_type)) {
    if (present) return changedLater(event);
    const told = Object.entries(event.data.changes).map(([column, { old }]) => [column, old]);
    after = await insertRow(sql, table, { id: event.id, ...Object.fromEntries(told) });
  } else if (!present) return missing(event, spec.entity);
  else if (spec.events.created?.includes(event.event_type)) {
    await sql(table).where({ id: event.id }).delete();
  } else {
    const values = { ...present };
    const kept = setBack(values, event.data.changes, careful);
    if (kept.length > 0) answer = changedLater(event, kept);
    const columns = Object.keys(event.data.changes).filter((column) => !kept.includes(column));
    if (columns.length === 0) return answer;
    const { rows } = await sql.raw(
      `update ${table} t set ${columns.map((column) => `${column} = v.${column}`).join(', ')}
       from jsonb_populate_record(null::${table}, ?::jsonb) v where t.id = ? returning to_jsonb(t) as row`,
      [JSON.stringify(values), event.id],
    );
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
  const event_type =
    before === null ? events.created![0]! : after === null ? events.deleted![0]! : event.event_type;
  const { impersonated_role: _role, ...data } = event.data;
  return {
    event_type,
    scope: event.scope as NonNullable<EventDraft['scope']>,
    card_id: event.card_id,
    card_type: event.card_type,
    recipient_id: event.recipient_id,
    cost_keys: event.cost_keys,
    data: { ...data, changes: rowChanges(before, after) },
  };
}
