import { queryRows } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import { deleteRows, findRows, updateRow } from '../../kernel/resources/rows.ts';
import { comparedFields } from './duplicates.fields.ts';
import {
  type ClusterStatus,
  type DecisionRow,
  DuplicateCluster,
  DuplicateDecision,
  type PairDecision,
} from './duplicates.model.ts';
import { factsOf, pairsOf, recordsOf, statusOf } from './duplicates.records.ts';

/** A pair that is to be decided. */
interface Pair {
  id: string;
  left_id: string;
  right_id: string;
}

/**
 * Stores the decision about pairs of existing cards of a type; `pending` deletes it. The status of their clusters follows.
 * The decisions of the type must be locked.
 */
export async function saveDecisions(
  work: Work,
  ctx: Ctx,
  type: string,
  pairs: readonly Pair[],
  status: ClusterStatus,
): Promise<void> {
  if (status === 'pending') await deleteDecisions(work, pairs);
  else await writeDecisions(work, ctx, type, pairs, status);
  await updateClusters(work, ctx, pairs);
}

const idsOf = (pairs: readonly Pair[]): string[] => pairs.map(({ id }) => id);

async function deleteDecisions(work: Work, pairs: readonly Pair[]): Promise<void> {
  const deleted = await deleteRows(work.sql, DuplicateDecision, (query) => query.whereIn('id', idsOf(pairs)));
  for (const row of deleted) {
    const data = { id: row.id, changes: rowChanges(row, null) };
    work.emit({ event_type: 'duplicate_decision.deleted', data });
  }
}

async function writeDecisions(
  work: Work,
  ctx: Ctx,
  type: string,
  pairs: readonly Pair[],
  decision: PairDecision,
): Promise<void> {
  const { sql, metamodel } = work;
  const fields = comparedFields(metamodel, metamodel.cardTypes.get(type)!);
  const ids = [...new Set(pairs.flatMap(({ left_id, right_id }) => [left_id, right_id]))];
  const records = await recordsOf(sql, metamodel, type, fields, ids);
  const facts = new Map(records.map((record) => [record.id, factsOf(record, fields)]));
  const rows = pairs.map(({ id, left_id, right_id }) => ({
    id,
    card_type: type,
    left_id,
    right_id,
    decision,
    left_facts: facts.get(left_id)!,
    right_facts: facts.get(right_id)!,
    decided_by: ctx.caller.userId,
  }));
  const stored = await findRows(sql, DuplicateDecision, (query) =>
    query.whereIn('id', idsOf(pairs)).forUpdate(),
  );
  const before = new Map(stored.map((row) => [row.id, row]));
  const after = await queryRows<{ row: DecisionRow }>(
    sql,
    `insert into duplicate_decisions as d
       (id, card_type, left_id, right_id, decision, left_facts, right_facts, score, decided_by)
     select r.id, r.card_type, r.left_id, r.right_id, r.decision, r.left_facts, r.right_facts, p.score, r.decided_by
     from jsonb_populate_recordset(null::duplicate_decisions, ?::jsonb) r left join duplicate_pairs p on p.id = r.id
     on conflict (id) do update set decision = excluded.decision, left_facts = excluded.left_facts,
       right_facts = excluded.right_facts, has_lapsed = false, decided_by = excluded.decided_by, decided_at = now(),
       -- the score before the first decision
       score = case when d.has_lapsed then excluded.score else d.score end
     where (d.decision, d.left_facts, d.right_facts, d.has_lapsed)
       is distinct from (excluded.decision, excluded.left_facts, excluded.right_facts, false)
     returning to_jsonb(d) as row`,
    [JSON.stringify(rows)],
  );
  for (const { row } of after) {
    const old = before.get(row.id) ?? null;
    work.emit({
      event_type: old ? 'duplicate_decision.updated' : 'duplicate_decision.created',
      data: { id: row.id, changes: rowChanges(old, row) },
    });
  }
}

/** Updates the status of the clusters of pairs to the decisions. */
async function updateClusters(work: Work, ctx: Ctx, pairs: readonly Pair[]): Promise<void> {
  const { sql } = work;
  const ids = [...new Set(pairs.flatMap(({ left_id, right_id }) => [left_id, right_id]))];
  const clusters = await findRows(sql, DuplicateCluster, (query) =>
    query.whereRaw('card_ids && ?::uuid[]', [ids]).forUpdate(),
  );
  for (const before of clusters) {
    const { id, card_ids } = before;
    const decided: { id: string; decision: PairDecision }[] = await sql('duplicate_decisions')
      .whereIn('id', idsOf(pairsOf(card_ids)))
      .where({ has_lapsed: false })
      .select('id', 'decision');
    const status = statusOf(card_ids, new Map(decided.map((one) => [one.id, one.decision])));
    if (status === before.status) continue;
    const after = await updateRow(
      sql,
      DuplicateCluster,
      { id },
      {
        status,
        decided_by: status === 'pending' ? null : ctx.caller.userId,
        decided_at: status === 'pending' ? null : new Date().toISOString(),
      },
    );
    work.emit({ event_type: 'duplicate_cluster.updated', data: { id, changes: rowChanges(before, after) } });
  }
}
