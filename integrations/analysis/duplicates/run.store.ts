import { setImmediate as breathe } from 'node:timers/promises';
import type { ComparedField } from '../../../domain/analysis/duplicates/duplicates.fields.ts';
import type { DuplicateCluster, PairDecision } from '../../../domain/analysis/duplicates/duplicates.model.ts';
import { idFor, lockDecisions, statusOf } from '../../../domain/analysis/duplicates/duplicates.records.ts';
import type { Work } from '../../../domain/kernel/context.ts';
import type { RowOf } from '../../../domain/kernel/resources/rows.ts';
import { query } from '../../../platform/database.ts';
import { type ClusterEdge, clustersInSteps } from '../matching/clusters.ts';
import { decidedPairs, type PairFacts, versionOf } from './decisions.ts';
import type { Found, FoundPair } from './find.types.ts';

/** Figures of a search. */
export interface TypeFigures {
  cards: number;
  /** Cards that are new or changed since the model was last applied. */
  changed: number;
  compared: number;
  compared_now: number;
  pairs: number;
  matches: number;
  clusters: number;
  pending: number;
  model: string;
  decisions: number;
  drift: { index: number; aspect: string | null; new_words: number };
  /** Whether the cards differ so much from those that the model was learned from that a new model should be learned. */
  learn_advised: boolean;
}

const AT_ONCE = 5_000;

/**
 * Replaces the stored result of a type, writing differences only.
 * @param checkpoint called between statements; throws if the run has to stop.
 */
export async function storeFound(
  work: Work,
  run: { id: string },
  type: { key: string; cards: number; fields: readonly ComparedField[] },
  found: Found,
  checkpoint: () => void,
): Promise<TypeFigures> {
  const { sql } = work;
  await lockDecisions(sql, type.key);
  const decided = await decidedPairs(sql, work.metamodel, type.key, type.fields);
  const { valid, lapsed } = decided;
  await query(sql).run`update duplicate_decisions set has_lapsed = not has_lapsed
     where card_type = ${type.key} and has_lapsed <> (id = any(${lapsed}::uuid[]))`;
  const ids = await breathing(found.pairs, ({ left, right }) => idFor('pair', [left, right]));
  const clusters = await clustersWith(found.pairs, ids, valid);
  checkpoint();
  await storeModel(work, run.id, type.key, found);
  await storeClusters(work, run.id, type.key, clusters, new Set(valid.map(({ id }) => id)), checkpoint);
  await storePairs(work, type.key, found, ids, clusters, checkpoint);
  const matches = found.pairs.filter((pair) => pair.class === 'match').length;
  const figures: TypeFigures = {
    cards: type.cards,
    changed: found.work.changed,
    compared: found.compared,
    compared_now: found.work.compared,
    pairs: found.pairs.length,
    matches,
    clusters: clusters.length,
    pending: clusters.filter(({ status }) => status === 'pending').length,
    model: found.modelId,
    decisions: found.weights.learned.decisions,
    drift: { index: found.drift.index, aspect: found.drift.aspect, new_words: found.drift.newWords },
    learn_advised: found.drift.exceeded,
  };
  await sql('duplicate_states')
    .where({ card_type: type.key })
    .update({ figures: JSON.stringify({ ...figures, decided: versionOf(decided) }) });
  work.emit({
    event_type: 'duplicates.found',
    data: {
      id: run.id,
      card_type: type.key,
      pairs: figures.pairs,
      clusters: figures.clusters,
      model: figures.model,
    },
  });
  return figures;
}

async function storeModel({ sql }: Work, runId: string, type: string, found: Found): Promise<void> {
  await sql('duplicate_models')
    .insert({
      id: found.modelId,
      card_type: type,
      fields: JSON.stringify(found.fields),
      weights: JSON.stringify(found.weights),
    })
    .onConflict('id')
    .ignore();
  await sql('duplicate_states')
    .insert({
      card_type: type,
      run_id: runId,
      model_id: found.modelId,
      base_model: Buffer.from(found.base.buffer),
      snapshot: Buffer.from(found.snapshot.buffer),
      figures: '{}',
      found_at: sql.raw('clock_timestamp()'),
    })
    .onConflict('card_type')
    .merge();
}

/** Dismissed clusters are retained while their decisions are valid, even if the search no longer finds them. */
async function storeClusters(
  { sql }: Work,
  runId: string,
  type: string,
  clusters: readonly FoundCluster[],
  valid: ReadonlySet<string>,
  checkpoint: () => void,
): Promise<void> {
  const dismissed = await sql('duplicate_clusters')
    .where({ card_type: type, status: 'dismissed' })
    .select('id', 'card_ids');
  const remaining = dismissed.filter(({ card_ids }: { card_ids: string[] }) =>
    card_ids.some((left, at) =>
      card_ids.slice(at + 1).some((right) => valid.has(idFor('pair', [left, right]))),
    ),
  );
  const ids = [...remaining, ...clusters].map(({ id }) => id);
  await query(sql).run`delete from duplicate_clusters c where card_type = ${type}
       and not exists (select from unnest(${ids}::uuid[]) k (id) where k.id = c.id)`;
  for (let from = 0; from < clusters.length; from += AT_ONCE) {
    checkpoint();
    const page = JSON.stringify(clusters.slice(from, from + AT_ONCE));
    await query(sql).run`insert into duplicate_clusters as c
         (id, card_type, card_ids, status, cohesion, least_score, most_score, run_id, found_at)
       select id, ${type}, card_ids, status, cohesion, least_score, most_score, ${runId}, clock_timestamp()
       from jsonb_to_recordset(${page}::jsonb) as r (id uuid, card_ids uuid[], status text, cohesion double precision,
         least_score double precision, most_score double precision)
       on conflict (id) do update set status = excluded.status, cohesion = excluded.cohesion,
         least_score = excluded.least_score, most_score = excluded.most_score, run_id = excluded.run_id,
         found_at = excluded.found_at,
         decided_by = case when c.status = excluded.status then c.decided_by end,
         decided_at = case when c.status = excluded.status then c.decided_at end
       where (c.status, c.cohesion, c.least_score, c.most_score)
         is distinct from (excluded.status, excluded.cohesion, excluded.least_score, excluded.most_score)`;
  }
}

async function storePairs(
  { sql }: Work,
  type: string,
  { pairs, modelId }: Found,
  ids: readonly string[],
  clusters: readonly FoundCluster[],
  checkpoint: () => void,
): Promise<void> {
  const home = new Map(clusters.flatMap(({ id, card_ids }) => card_ids.map((card) => [card, id] as const)));
  const clusterOf = ({ left, right }: FoundPair) => {
    const id = home.get(left);
    return id !== undefined && id === home.get(right) ? id : null;
  };
  const rowOf = (pair: FoundPair, at: number) => ({
    id: ids[at]!,
    card_type: type,
    model_id: modelId,
    left_id: pair.left,
    right_id: pair.right,
    class: pair.class,
    score: pair.score,
    alone: pair.alone,
    similarities: pair.similarities,
    bits: pair.bits,
    cluster_id: clusterOf(pair),
  });
  await query(sql).run`delete from duplicate_pairs p where card_type = ${type}
       and not exists (select from unnest(${ids}::uuid[]) k (id) where k.id = p.id)`;
  for (let from = 0; from < pairs.length; from += AT_ONCE) {
    checkpoint();
    const rows = pairs.slice(from, from + AT_ONCE).map((pair, at) => rowOf(pair, from + at));
    const page = JSON.stringify(rows);
    await query(sql).run`insert into duplicate_pairs as p
       select * from jsonb_populate_recordset(null::duplicate_pairs, ${page}::jsonb)
       on conflict (id) do update set class = excluded.class, score = excluded.score, alone = excluded.alone,
         similarities = excluded.similarities, bits = excluded.bits, model_id = excluded.model_id,
         cluster_id = excluded.cluster_id
       where (p.class, p.score, p.alone, p.similarities, p.bits, p.model_id, p.cluster_id) is distinct from
         (excluded.class, excluded.score, excluded.alone, excluded.similarities, excluded.bits, excluded.model_id,
          excluded.cluster_id)`;
  }
}

/** A cluster of duplicate cards of one type. */
type FoundCluster = Pick<
  RowOf<typeof DuplicateCluster>,
  'id' | 'card_ids' | 'cohesion' | 'least_score' | 'most_score' | 'status'
>;

/**
 * Clusters the pairs with decisions: confirmed pairs are certain, and dismissed pairs are never in one cluster.
 */
async function clustersWith(
  pairs: readonly ClusterEdge[],
  ids: readonly string[],
  valid: readonly PairFacts[],
): Promise<FoundCluster[]> {
  const decided = new Map<string, PairDecision>(valid.map(({ id, decision }) => [id, decision]));
  const apart = new Map<string, Set<string>>();
  for (const { left_id, right_id, decision } of valid)
    if (decision === 'dismissed')
      for (const [one, other] of [
        [left_id, right_id],
        [right_id, left_id],
      ] as const)
        apart.set(one, (apart.get(one) ?? new Set()).add(other));
  const ties = new Map<string, ClusterEdge>();
  for (const [at, { left, right, score }] of pairs.entries())
    if (decided.get(ids[at]!) !== 'dismissed') ties.set(ids[at]!, { left, right, score });
  for (const { id, left_id: left, right_id: right, decision } of valid)
    if (decision === 'confirmed') ties.set(id, { left, right, score: 1 });
  const steps = clustersInSteps([...ties.values()], undefined, apart);
  let step = steps.next();
  for (; !step.done; step = steps.next()) await breathe();
  const groups = step.value;
  const home = new Map(groups.flatMap(({ ids }, at) => ids.map((id) => [id, at] as const)));
  const bounds = groups.map(() => ({ least: 1, most: 0 }));
  for (const { left, right, score } of ties.values()) {
    const at = home.get(left);
    if (at === undefined || at !== home.get(right)) continue;
    const bound = bounds[at]!;
    bound.least = Math.min(bound.least, score);
    bound.most = Math.max(bound.most, score);
  }
  return await breathing(groups, ({ ids, cohesion }, at) => ({
    id: idFor('cluster', ids),
    card_ids: ids,
    cohesion,
    least_score: bounds[at]!.least,
    most_score: bounds[at]!.most,
    status: statusOf(ids, decided),
  }));
}

const PER_BREATH = 1_000;

/** Maps items, and lets other work of the process take its turn between parts. */
async function breathing<T, R>(items: readonly T[], make: (item: T, at: number) => R): Promise<R[]> {
  const made: R[] = [];
  for (const [at, item] of items.entries()) {
    if (at % PER_BREATH === 0) await breathe();
    made.push(make(item, at));
  }
  return made;
}
