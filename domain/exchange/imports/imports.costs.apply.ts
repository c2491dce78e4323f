import { query } from '../../../platform/database.ts';
import type { FieldError } from '../../../platform/errors.ts';
import { loadCards, lockCards } from '../../inventory/cards/cards.load.ts';
import { EDIT } from '../../inventory/cards/cards.write.ts';
import { type CostOwner, costEvent, costKeys } from '../../inventory/costs/costs.attached.ts';
import {
  COSTS_TOPIC,
  Cost,
  type CostInput,
  type CostRow,
  MAX_COSTS,
} from '../../inventory/costs/costs.model.ts';
import { costErrors } from '../../inventory/costs/costs.rules.ts';
import { refreshCardCosts, refreshRelationCosts } from '../../inventory/costs/costs.sums.ts';
import { MANAGE } from '../../inventory/relations/relations.admit.ts';
import { loadEnds } from '../../inventory/relations/relations.load.ts';
import type { RelationEnd } from '../../inventory/relations/relations.model.ts';
import { differingMembers } from '../../kernel/events/row-changes.ts';
import { mayOnCard, seesCosts } from '../../kernel/permissions/policy.ts';
import { findRows, insertRows, updateRows } from '../../kernel/resources/rows.ts';
import { loadSettings } from '../../kernel/settings/settings.read.ts';
import { costChanges } from './imports.changes.ts';
import { missingPermission } from './imports.rights.ts';
import type { Applying, RowOutcome } from './imports.types.ts';

/** A row of the plan with its write. */
interface PlannedCost {
  line: number;
  cost_id: string;
  is_new: boolean;
  card_id: string | null;
  relation_id: string | null;
  payload: Partial<CostInput>;
}

/** What the rows of a batch write to. */
interface Owners {
  /** The owner of a row, or why the caller may not write to it. */
  of(row: PlannedCost): CostOwner | FieldError;
  ends: Map<string, RelationEnd>;
  /** How many costs it has. */
  counts: Map<string, number>;
}

const gone = (field: string, code = 'unknown_id'): FieldError => ({
  field,
  code,
  message: 'does not exist any more',
});

/** Locks and reads the cards and relations of a batch. */
async function lockOwners({ work, ctx }: Applying, rows: readonly PlannedCost[]): Promise<Owners> {
  const cardIds = [...new Set(rows.flatMap(({ card_id }) => card_id ?? []))];
  const relationIds = [...new Set(rows.flatMap(({ relation_id }) => relation_id ?? []))];
  const { sql } = work;
  const known = await query(sql).rows<{
    id: string;
    source_id: string;
    target_id: string;
  }>`select id, source_id,
    target_id from relations where id = any(${relationIds}::uuid[])`;
  const endIds = known.flatMap(({ source_id, target_id }) => [source_id, target_id]);
  await lockCards(work, new Set([...cardIds, ...endIds]));
  const cards = await loadCards(work, ctx, cardIds);
  const relations = new Map(known.map((relation) => [relation.id, relation]));
  const ends = await loadEnds(sql, ctx, endIds);
  const counted = await query(sql).rows<{
    id: string;
    n: number;
  }>`select coalesce(card_id, relation_id) as id,
      count(*)::int as n from costs
    where card_id = any(${cardIds}::uuid[]) or relation_id = any(${relationIds}::uuid[]) group by 1`;
  return {
    ends,
    counts: new Map(counted.map(({ id, n }) => [id, n])),
    of({ card_id, relation_id }) {
      if (card_id) {
        const card = cards.get(card_id);
        if (!card) return gone('card_id', 'unknown_card');
        if (!mayOnCard(ctx, EDIT, card)) return missingPermission('card_id', EDIT.app);
        return seesCosts(ctx, card) ? { card } : missingPermission('amount', 'costs.view');
      }
      const relation = relations.get(relation_id!);
      const [source, target] = [ends.get(relation?.source_id ?? ''), ends.get(relation?.target_id ?? '')];
      if (!source || !target) return gone('relation_id');
      if (!mayOnCard(ctx, MANAGE, source) && !mayOnCard(ctx, MANAGE, target)) {
        return missingPermission('relation_id', MANAGE.app);
      }
      return { card: source, target };
    },
  };
}

interface CostStep {
  row: PlannedCost;
  owner: CostOwner;
  before: CostRow | null;
  values: Partial<CostRow>;
}

/**
 * Applies one batch of the plan in the caller's transaction: cards and the ends of relations are locked, each row is
 * checked like a single write, and all are written in a few statements, with an event for each.
 */
export async function applyCosts(applying: Applying, batch: number): Promise<RowOutcome[]> {
  const { work, jobId, known } = applying;
  const rows = await query(work.sql)
    .rows<PlannedCost>`select p.line, p.cost_id, p.is_new, p.card_id, p.relation_id,
      r.payload
     from import_cost_plan p join import_cost_rows r on r.job_id = p.job_id and r.line = p.line
     where p.job_id = ${jobId} and p.batch = ${batch} order by p.line`;
  const owners = await lockOwners(applying, rows);
  const { values: settings } = await loadSettings(work.sql);
  const ids = rows.map(({ cost_id }) => cost_id);
  const stored = await findRows(work.sql, Cost, (found) => found.whereIn('id', ids).forUpdate());
  const byId = new Map(stored.map((row) => [row.id, row]));
  const taken = await takenExternalIds(applying, rows);
  const steps: CostStep[] = [];
  const outcomes = rows.map((row): RowOutcome => {
    const fail = (...errors: FieldError[]): RowOutcome => ({ line: row.line, outcome: 'failed', errors });
    const earlier = known.get(row.line);
    if (earlier) return fail(earlier);
    const owner = owners.of(row);
    if ('code' in owner) return fail(owner);
    const before = byId.get(row.cost_id) ?? null;
    if (!row.is_new && !before) return fail(gone('id'));
    if (row.payload.external_id && taken.has(row.payload.external_id)) {
      return fail({
        field: 'external_id',
        code: 'external_id_taken',
        message: 'another cost has it already',
      });
    }
    const values = before ? differingMembers<CostRow>(before, row.payload) : newCost(row, settings.currency);
    const errors = costErrors(settings, { ...before, ...values } as CostRow, before ?? {});
    if (errors.length > 0) return fail(...errors);
    if (before && Object.keys(values).length === 0)
      return { line: row.line, outcome: 'unchanged', errors: null };
    const key = (row.card_id ?? row.relation_id)!;
    const count = (owners.counts.get(key) ?? 0) + (before ? 0 : 1);
    if (count > MAX_COSTS) {
      return fail({ field: 'card_id', code: 'limit_reached', message: `has ${MAX_COSTS} costs already` });
    }
    owners.counts.set(key, count);
    steps.push({ row, owner, before, values });
    const outcome: RowOutcome = { line: row.line, outcome: before ? 'updated' : 'created', errors: null };
    return applying.withChanges ? { ...outcome, changes: costChanges(before, values) } : outcome;
  });
  await write(applying, steps, owners.ends);
  return outcomes;
}

/** The columns of a new cost. */
const newCost = (row: PlannedCost, currency: string): Partial<CostRow> => ({
  id: row.cost_id,
  card_id: row.card_id,
  relation_id: row.relation_id,
  kind: row.payload.kind!,
  period_start: row.payload.period_start!,
  period_end: row.payload.period_end!,
  amount: row.payload.amount!,
  currency: row.payload.currency ?? currency,
  description: row.payload.description ?? null,
  external_id: row.payload.external_id ?? null,
});

/** The external ids of rows that other costs have now, after a concurrent write has taken some. */
async function takenExternalIds(
  { work, searchTaken }: Applying,
  rows: readonly PlannedCost[],
): Promise<ReadonlySet<string>> {
  if (!searchTaken) return new Set();
  const wanted = rows.filter(({ payload }) => payload.external_id);
  return new Set(
    await query(work.sql).column<string>`select t.external_id
      from unnest(${wanted.map(({ cost_id }) => cost_id)}::uuid[],
        ${wanted.map(({ payload }) => payload.external_id!)}::text[]) as v (id, external_id)
      join costs t on t.external_id = v.external_id and t.id <> v.id`,
  );
}

/** Writes the costs of a batch and the sums that change, and then emits the events of the costs. */
async function write(
  { work, ctx }: Applying,
  steps: readonly CostStep[],
  ends: ReadonlyMap<string, RelationEnd>,
): Promise<void> {
  if (steps.length === 0) return;
  const { sql } = work;
  const created = steps.filter(({ before }) => before === null);
  const changed = steps.filter(({ before }) => before !== null);
  const rows = await insertRows(
    sql,
    Cost,
    created.map(({ values }) => values),
  );
  // all rows have the same columns, so that one statement writes them
  const updates = changed.map(({ before, values }) => ({ ...before!, ...values }));
  await updateRows(sql, Cost, updates, costKeys);
  const byId = new Map([...rows, ...updates].map((row) => [row.id!, row as CostRow]));
  const ownerIds = (column: 'card_id' | 'relation_id') =>
    new Set(steps.flatMap(({ row }) => row[column] ?? []));
  await refreshCardCosts(work, ctx, ownerIds('card_id'));
  await refreshRelationCosts(work, ctx, ownerIds('relation_id'), ends);
  for (const { row, owner, before } of steps) work.emit(costEvent(owner, before, byId.get(row.cost_id)!));
  work.raise(COSTS_TOPIC);
}
