import type { Ctx, Work } from '../../kernel/context.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import { comparedFields } from './duplicates.fields.ts';
import { factsOf, recordsOf } from './duplicates.records.ts';
import { pairsOf, statusOf } from './duplicates.status.ts';
import type { ClusterStatus, PairDecision } from './duplicates.types.ts';

/** Pairs to be decided. */
interface Pair {
  id: string;
  left_id: string;
  right_id: string;
}

/**
 * Notes what was decided of pairs of cards of a type that are there; `pending` takes back what was. Their clusters follow.
 * The caller holds the lock of the type's decisions.
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
  await settleClusters(work, ctx, pairs);
}

async function storedRows({ sql }: Work, pairs: readonly Pair[]): Promise<Map<string, StoredRow>> {
  const { rows } = await sql.raw(
    `select d.id, to_jsonb(d) as row from duplicate_decisions d where d.id = any(?::uuid[]) for update`,
    [pairs.map(({ id }) => id)] as never,
  );
  return new Map(rows.map(({ id, row }: { id: string; row: StoredRow }) => [id, row]));
}

async function deleteDecisions(work: Work, pairs: readonly Pair[]): Promise<void> {
  const before = await storedRows(work, pairs);
  await work
    .sql('duplicate_decisions')
    .whereIn('id', [...before.keys()])
    .delete();
  for (const [id, row] of before)
    work.emit({ event_type: 'duplicate_decision.deleted', data: { id, changes: rowChanges(row, null) } });
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
  const before = await storedRows(work, pairs);
  const { rows: after } = await sql.raw(
    `insert into duplicate_decisions as d
       (id, card_type, left_id, right_id, decision, left_facts, right_facts, score, decided_by)
     select r.id, r.card_type, r.left_id, r.right_id, r.decision, r.left_facts, r.right_facts, p.score, r.decided_by
     from jsonb_populate_recordset(null::duplicate_decisions, ?::jsonb) r left join duplicate_pairs p on p.id = r.id
     on conflict (id) do update set decision = excluded.decision, left_facts = excluded.left_facts,
       right_facts = excluded.right_facts, has_lapsed = false, decided_by = excluded.decided_by, decided_at = now(),
       -- by what was known before anybody said anything
       score = case when d.has_lapsed then excluded.score else d.score end
     where (d.decision, d.left_facts, d.right_facts, d.has_lapsed)
       is distinct from (excluded.decision, excluded.left_facts, excluded.right_facts, false)
     returning d.id, to_jsonb(d) as row`,
    [JSON.stringify(rows)],
  );
  for (const { id, row } of after as { id: string; row: StoredRow }[]) {
    const old = before.get(id) ?? null;
    work.emit({
      event_type: old ? 'duplicate_decision.updated' : 'duplicate_decision.created',
      data: { id, changes: rowChanges(old, row) },
    });
  }
}

/** Brings the status of the clusters to which pairs belong in line with what was decided. */
async function settleClusters(work: Work, ctx: Ctx, pairs: readonly Pair[]): Promise<void> {
  const { sql } = work;
  const ids = [...new Set(pairs.flatMap(({ left_id, right_id }) => [left_id, right_id]))];
  const { rows } = await sql.raw(
    `select d.id, d.card_ids, to_jsonb(d) as row from duplicate_clusters d where d.card_ids && ?::uuid[] for update`,
    [ids] as never,
  );
  for (const { id, card_ids, row } of rows as { id: string; card_ids: string[]; row: StoredRow }[]) {
    const decided = await sql('duplicate_decisions')
      .whereIn(
        'id',
        pairsOf(card_ids).map((pair) => pair.id),
      )
      .where({ has_lapsed: false })
      .select('id', 'decision');
    const status = statusOf(
      card_ids,
      new Map(decided.map((one: { id: string; decision: PairDecision }) => [one.id, one.decision])),
    );
    if (status === row.status) continue;
    const { rows: changed } = await sql.raw(
      `update duplicate_clusters d set status = ?, decided_by = ?,
         decided_at = case when ? then null else now() end
       where id = ? returning to_jsonb(d) as row`,
      [status, status === 'pending' ? null : ctx.caller.userId, status === 'pending', id] as never,
    );
    work.emit({
      event_type: 'duplicate_cluster.updated',
      data: { id, changes: rowChanges(row, changed[0].row) },
    });
  }
}
