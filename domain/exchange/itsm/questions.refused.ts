import type { Sql } from '../../../platform/database.ts';
import type { SyncValue } from './mappings.types.ts';

/** A value that a side has not taken. */
export interface RefusedValue {
  remote_id: string;
  card_id: string | null;
  path: string;
  side: 'local' | 'remote';
  local: SyncValue;
  remote: SyncValue;
  reason: string;
}

/** Puts values that were not taken among the open questions; an answer to an earlier one has been carried out in vain. */
export async function askRefused(
  sql: Sql,
  { mappingId, runId }: { mappingId: string; runId: string },
  refused: readonly RefusedValue[],
): Promise<void> {
  if (refused.length === 0) return;
  const values = JSON.stringify(refused);
  await sql.raw(
    `insert into itsm_questions as q (mapping_id, kind, remote_id, card_id, path, local, remote, reason, run_id, refused_side)
     select ?::uuid, 'conflict', v.remote_id, v.card_id, v.path, v.local, v.remote, v.reason, ?::uuid, v.side
     from json_to_recordset(?::json)
       as v(remote_id text, card_id uuid, path text, local jsonb, remote jsonb, reason text, side text)
     on conflict (mapping_id, kind, coalesce(remote_id, ''), coalesce(card_id::text, ''), coalesce(path, ''))
     do update set local = excluded.local, remote = excluded.remote, reason = excluded.reason,
       run_id = excluded.run_id, refused_side = excluded.refused_side`,
    [mappingId, runId, values],
  );
  await sql.raw(
    `delete from itsm_resolutions r using json_to_recordset(?::json) as v(remote_id text, path text)
     where r.mapping_id = ? and r.remote_id = v.remote_id and r.path = v.path`,
    [values, mappingId],
  );
}

/** A record for which the inventory has refused to make a card. */
export interface RefusedCard {
  remote_id: string;
  /** What the card was to hold, by path. */
  values: Record<string, SyncValue>;
  reason: string;
}

/** Puts records for which no card could be made among the open questions. */
export async function askRefusedCards(
  sql: Sql,
  { mappingId, runId }: { mappingId: string; runId: string },
  refused: readonly RefusedCard[],
): Promise<void> {
  if (refused.length === 0) return;
  await sql.raw(
    `insert into itsm_questions as q (mapping_id, kind, remote_id, remote, reason, run_id, refused_side)
     select ?::uuid, 'match', v.remote_id, v.values, v.reason, ?::uuid, 'local'
     from json_to_recordset(?::json) as v(remote_id text, values jsonb, reason text)
     on conflict (mapping_id, kind, coalesce(remote_id, ''), coalesce(card_id::text, ''), coalesce(path, ''))
     do update set local = null, remote = excluded.remote, reason = excluded.reason, candidates = '[]',
       run_id = excluded.run_id, refused_side = excluded.refused_side`,
    [mappingId, runId, JSON.stringify(refused)],
  );
}

/** Values and new cards that a side has refused, and that are still asked about; `path` is null for a card. */
export async function readRefusals(
  sql: Sql,
  mappingId: string,
): Promise<
  {
    remoteId: string;
    path: string | null;
    side: 'local' | 'remote';
    seen: { local: SyncValue; remote: SyncValue };
    reason: string;
  }[]
> {
  const { rows } = await sql.raw(
    `select remote_id as "remoteId", path, refused_side as side, reason,
       jsonb_build_object('local', local, 'remote', remote) as seen
     from itsm_questions where mapping_id = ? and refused_side is not null and remote_id is not null`,
    [mappingId],
  );
  return rows;
}
