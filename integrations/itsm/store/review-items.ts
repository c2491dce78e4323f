import { queryRows, type Sql } from '../../../platform/database.ts';
import type { Decision, Refusal, Resolution } from '../engine/model.types.ts';
import type { RowResult } from '../engine/plan.types.ts';

// columns of review items, from a plan row
const kind = `case action when 'stage' then 'match' else 'conflict' end`;
const local = `row -> 'diff' -> coalesce(row ->> 'path', '') -> 'old'`;
const remote = `case action
  when 'stage' then (select jsonb_object_agg(d.key, d.value -> 'new') from jsonb_each(row -> 'diff') d)
  else row -> 'diff' -> coalesce(row ->> 'path', '') -> 'new' end`;

const onConflict = `on conflict (mapping_id, kind, coalesce(remote_id, ''), coalesce(card_id::text, ''), coalesce(path, ''))
  do update set local = excluded.local, remote = excluded.remote, reason = excluded.reason,
    candidates = excluded.candidates, run_id = excluded.run_id, refused_side = excluded.refused_side`;

/**
 * Marks the rows that repeat an open review item with the same values, with the time since when it is open.
 * @returns how many there are.
 */
export async function markRepeatedItems(sql: Sql, runId: string, mappingId: string): Promise<number> {
  const { rowCount } = await sql.raw(
    `with asked as (
       select no, ${kind} as kind, remote_id, card_id, row ->> 'path' as path, ${local} as local, ${remote} as remote
       from itsm_plan_rows where run_id = ? and action in ('conflict', 'stage')
     )
     update itsm_plan_rows p set open_since = q.opened_at from asked a
     join itsm_review_items q on q.mapping_id = ? and q.kind = a.kind and coalesce(q.remote_id, '') = coalesce(a.remote_id, '')
       and coalesce(q.card_id::text, '') = coalesce(a.card_id::text, '') and coalesce(q.path, '') = coalesce(a.path, '')
       and q.local is not distinct from a.local and q.remote is not distinct from a.remote
     where p.run_id = ? and p.no = a.no`,
    [runId, mappingId, runId],
  );
  return rowCount as number;
}

/**
 * Opens review items for the conflicts and uncertain matches of a plan, and closes earlier ones that the plan covers and does not
 * repeat. @param complete whether the plan covers all records.
 */
export async function openReviewItems(
  sql: Sql,
  runId: string,
  mappingId: string,
  complete: boolean,
): Promise<void> {
  await sql.raw(
    `insert into itsm_review_items as q
       (mapping_id, kind, remote_id, card_id, path, local, remote, reason, candidates, run_id, refused_side)
     select ?::uuid, ${kind}, remote_id, card_id, row ->> 'path', ${local}, ${remote}, row ->> 'reason',
       coalesce(row -> 'candidates', '[]'), run_id, row ->> 'refusedBy'
     from itsm_plan_rows where run_id = ? and action in ('conflict', 'stage') ${onConflict}`,
    [mappingId, runId],
  );
  // a run that reads changes only does not plan an unchanged card whose record the remote refused
  await sql.raw(
    `delete from itsm_review_items q where q.mapping_id = ? and q.run_id is distinct from ?
       and (? or case
         when q.remote_id is not null
           then exists (select from itsm_run_records r where r.run_id = ? and r.remote_id = q.remote_id)
         when q.refused_side = 'remote'
           then exists (select from itsm_plan_rows p where p.run_id = ? and p.card_id = q.card_id)
             or exists (select from itsm_pairs p where p.mapping_id = q.mapping_id and p.card_id = q.card_id)
             or not exists (select from cards c where c.id = q.card_id and c.status = 'ACTIVE')
         else true end)`,
    [mappingId, runId, complete, runId, runId],
  );
}

/** Users' decisions on conflicts and on matches. */
export async function readDecisions(
  sql: Sql,
  mappingId: string,
): Promise<{ resolutions: Resolution[]; decisions: Decision[] }> {
  const { rows } = await sql.raw(
    `select remote_id as "remoteId", path, winner, jsonb_build_object('local', local, 'remote', remote) as values
     from itsm_resolutions where mapping_id = ?`,
    [mappingId],
  );
  const { rows: decisions } = await sql.raw(
    'select remote_id as "remoteId", card_id as "cardId" from itsm_decisions where mapping_id = ?',
    [mappingId],
  );
  return { resolutions: rows, decisions };
}

/** Values, and new cards (`path: null`), that a side has refused and whose review items are open. */
export async function readRefusals(sql: Sql, mappingId: string): Promise<Refusal[]> {
  return await queryRows(
    sql,
    `select remote_id as "remoteId", path, refused_side as side, reason,
       jsonb_build_object('local', local, 'remote', remote) as values
     from itsm_review_items where mapping_id = ? and refused_side is not null and remote_id is not null`,
    [mappingId],
  );
}

/** Opens review items for values and new cards that a side has refused. Earlier decisions on these values are dropped. */
export async function openRefusedItems(
  sql: Sql,
  mappingId: string,
  runId: string,
  endings: readonly RowResult[],
): Promise<void> {
  const items = endings.flatMap((ending) => [...refusedValues(ending), ...refusedObject(ending)]);
  if (items.length === 0) return;
  const values = JSON.stringify(items);
  await sql.raw(
    `insert into itsm_review_items as q (mapping_id, kind, remote_id, card_id, path, local, remote, reason, run_id, refused_side)
     select ?::uuid, v.kind, v.remote_id, v.card_id, v.path, v.local, v.remote, v.reason, ?::uuid, v.side
     from json_to_recordset(?::json) as v(kind text, remote_id text, card_id uuid, path text, local jsonb, remote jsonb,
       reason text, side text) ${onConflict}`,
    [mappingId, runId, values],
  );
  await sql.raw(
    `delete from itsm_resolutions r using json_to_recordset(?::json) as v(remote_id text, path text)
     where r.mapping_id = ? and r.remote_id = v.remote_id and r.path = v.path`,
    [values, mappingId],
  );
}

/** The values of a row that were not accepted, as both sides hold them. */
function refusedValues({ row, outcome: { unwritten = {}, createdId = '' } }: RowResult): object[] {
  const { side, agreed, diff } = row;
  return Object.entries(unwritten).flatMap(([path, reason]) => {
    const [both, now] = [agreed[path], diff[path]?.old ?? null];
    if (side === null || both === undefined) return [];
    const ids = { remote_id: row.remoteId ?? createdId, card_id: row.cardId ?? createdId };
    return [{ kind: 'conflict', ...ids, path, side, ...both, [side]: now, reason }];
  });
}

/** The record for which no card could be created, or the card for which no record could be created. */
function refusedObject({ row: { action, side, remoteId, cardId, diff }, outcome }: RowResult): object[] {
  if (action !== 'create' || outcome.progress !== 'refused') return [];
  if (side === 'remote') {
    const reason = `No record can be created: ${outcome.message}`;
    return [{ kind: 'match', card_id: cardId, side, reason }];
  }
  if (remoteId === null) return [];
  const remote = Object.fromEntries(Object.entries(diff).map(([path, { new: value }]) => [path, value]));
  const reason = `No card can be created: ${outcome.message}`;
  return [{ kind: 'match', remote_id: remoteId, side, remote, reason }];
}
