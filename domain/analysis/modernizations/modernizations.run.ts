import { setImmediate as breathe } from 'node:timers/promises';
import { embed, query, queryRows, type Sql, type Transaction } from '../../../platform/database.ts';
import { costsOfCard } from '../../inventory/cards/cards.projection.ts';
import { command } from '../../kernel/command.ts';
import { EOL_CYCLE, EOL_PRODUCT } from '../../kernel/metamodel/eol.fields.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { ActiveRun, AnalysisJob } from '../runs/runs.ts';
import { type Candidate, type CostRanks, candidateOf } from './modernizations.rules.ts';
import type { CardFacts } from './modernizations.types.ts';

/** Number of cards in one batch. */
const PAGE = 2_000;

/** The checkpoint of a run. */
interface Place {
  /** The id of the last scored card. */
  after: string | null;
  judged: number;
  total: number;
  ranks: CostRanks;
  today: string;
}

/** Scores all cards of a type, page by page; publishes the proposals when all are scored. */
export async function analyseModernizations(job: AnalysisJob, run: ActiveRun): Promise<void> {
  const { targetType, only } = parametersOf(run);
  const { ctx, signal } = job;
  const asked = { id: run.id, targetType };
  let place = (job.resume as Place | null) ?? (await begin(job, targetType));
  for (;;) {
    signal.throwIfAborted();
    const { after, today, ranks, total } = place;
    const cards = await readCardFacts(ctx.db, ctx.metamodel, { type: targetType, after, limit: PAGE, today });
    if (cards.length === 0) break;
    const candidates = cards
      .map((card) => candidateOf(card, today, ranks))
      .filter(
        (found): found is Candidate => found !== null && (only === null || found.modernization_type === only),
      );
    const next: Place = { ...place, after: cards.at(-1)!.id, judged: place.judged + cards.length };
    await command(ctx, async (work) => {
      if (candidates.length > 0) await keepCandidates(work.sql, asked, candidates);
      await job.checkpoint(work, {
        progress: Math.min(0.95, next.judged / Math.max(1, total)),
        message: `judged ${next.judged} of ${total} cards`,
        checkpoint: next,
      });
    });
    place = next;
    await breathe();
  }
  await command(ctx, async (work) => {
    await job.lock(work);
    const types = await showCandidates(work.sql, asked);
    const candidates = Object.values(types).reduce((sum, count) => sum + count, 0);
    await run.finish(work, { results: { cards: place.judged, candidates, types } });
  });
}

async function begin(job: AnalysisJob, type: string): Promise<Place> {
  const { ctx } = job;
  const ranks = await readCostRanks(ctx.db, ctx.metamodel, type);
  const rows = await query(ctx.db).rows`select count(*)::int as total from cards c
    where c.type = ${type} and c.status = 'ACTIVE'`;
  const today = new Date().toISOString().slice(0, 10);
  const place: Place = { after: null, judged: 0, total: rows[0].total, ranks, today };
  await command(ctx, async (work) => {
    await clearLeftovers(work.sql);
    await job.checkpoint(work, { progress: 0.01, checkpoint: place });
  });
  return place;
}

function parametersOf({ parameters }: ActiveRun): { targetType: string; only: string | null } {
  const type = String(parameters.modernization_type);
  return { targetType: String(parameters.target_type), only: type === 'general' ? null : type };
}

/** Deletes proposals of runs that did not complete. */
async function clearLeftovers(sql: Transaction): Promise<void> {
  await sql('modernizations').where({ is_current: false }).delete();
}

/** Stores proposals of a run, which are not listed before it completes. */
async function keepCandidates(
  sql: Transaction,
  run: { id: string; targetType: string },
  candidates: readonly Candidate[],
): Promise<void> {
  const columns = Object.keys(candidates[0]!).join(', ');
  await query(sql).run`insert into modernizations (run_id, target_type, ${embed(columns)})
     select ${run.id}, ${run.targetType}, ${embed(columns)}
     from jsonb_populate_recordset(null::modernizations, ${JSON.stringify(candidates)}::jsonb)`;
}

/**
 * Replaces the listed proposals for the type by those of the run. Repeated proposals keep their id.
 * @returns their number by type.
 */
async function showCandidates(
  sql: Transaction,
  run: { id: string; targetType: string },
): Promise<Record<string, number>> {
  await query(sql).run`with o as (
       delete from modernizations where is_current and target_type = ${run.targetType}
       returning id, card_id, modernization_type
     )
     update modernizations n set id = o.id from o
     where n.run_id = ${run.id} and o.card_id = n.card_id and o.modernization_type = n.modernization_type`;
  await query(sql).run`update modernizations set is_current = true, analysed_at = now()
    where run_id = ${run.id}`;
  const rows = await query(sql).rows`select modernization_type as type, count(*)::int as count
    from modernizations where run_id = ${run.id} group by 1 order by 1`;
  return Object.fromEntries(rows.map(({ type, count }: { type: string; count: number }) => [type, count]));
}

/** Types that do not depend on a card: its components, providers, initiatives and classifications. */
const NO_DEPENDANTS: readonly string[] = [
  'ITComponent',
  'Provider',
  'TechCategory',
  'Platform',
  'Initiative',
  'Objective',
];
const PART_TYPE = 'ITComponent';
/** The maximum number of component names in a reason. */
const PARTS_NAMED = 3;

/** The percentiles of the costs of the cards of a type; empty if none has costs. */
async function readCostRanks(sql: Sql, metamodel: Metamodel, type: string): Promise<CostRanks> {
  const rows = await query(sql).rows`select percentile_disc(array(select n / 100.0
    from generate_series(0, 100) n)) within group (order by p.cost) as ranks
     from (select ${embed(costsOfCard(metamodel, [type]))} as cost from cards c
     where c.type = ${type} and c.status = 'ACTIVE') p
     where p.cost > 0`;
  return (rows[0].ranks ?? []).map(Number);
}

const date = (of: string, key: string) => `nullif(${of} ->> '${key}', '')::date`;
const text = (key: string, longest = 100) => `nullif(left(c.attributes ->> '${key}', ${longest}), '')`;

/** Whether a card, with its release cycle as `y`, is past its end of life on a day. */
const isOver = (of: string, day: string) => `(coalesce(y.eol_from <= ${day}, y.is_eol, false)
    or coalesce(${date(`${of}.lifecycle`, 'endOfLife')} <= ${day}, false))`;

/**
 * The facts of the active cards of a type after an id.
 * @param today a day, `YYYY-MM-DD`.
 */
async function readCardFacts(
  sql: Sql,
  metamodel: Metamodel,
  asked: { type: string; after: string | null; limit: number; today: string },
): Promise<CardFacts[]> {
  const { type, after, limit, today } = asked;
  const others = metamodel.visibleTypes.filter((key) => !NO_DEPENDANTS.includes(key));
  const parts = type === PART_TYPE ? [] : metamodel.visibleTypes.filter((key) => key === PART_TYPE);
  return await queryRows(
    sql,
    `with page as materialized (
       select c.* from cards c
       where c.type = ? and c.status = 'ACTIVE' and (?::uuid is null or c.id > ?::uuid) order by c.id limit ?
     ), ends as materialized (
       select p.id, o.id as other_id, o.type, o.name, o.lifecycle, o.attributes
       from page p
         join lateral (
           select r.target_id as other from relations r where r.source_id = p.id and r.type = any(?::text[])
           union
           select r.source_id from relations r where r.target_id = p.id and r.type = any(?::text[])) e on true
         join cards o on o.id = e.other and o.status = 'ACTIVE' and o.type = any(?::text[]) and o.id <> p.id
     ), relying as (
       select id, count(*)::int as dependants from ends where type = any(?::text[]) group by id
     ), parts as (
       select e.id, count(*)::int as ended, (array_agg(e.name order by e.name, e.other_id))[1:${PARTS_NAMED}] as names
       from ends e left join eol_cycles y on y.product = e.attributes ->> '${EOL_PRODUCT}'
         and y.cycle = e.attributes ->> '${EOL_CYCLE}'
       where e.type = any(?::text[]) and ${isOver('e', '?::date')}
       group by e.id
     )
     select c.id, c.name, c.subtype, ${text('version')} as version, ${text('productName', 200)} as product,
       ${text('hostingType')} as hosting, ${text('technicalSuitability')} as technical,
       ${text('functionalSuitability')} as functional, ${text('timeModel')} as time,
       ${text('resourceClassification')} as classification, ${text('businessCriticality')} as criticality,
       ${date('c.lifecycle', 'phaseOut')} as "phaseOut", ${date('c.lifecycle', 'endOfLife')} as "endOfLife",
       case when y.cycle is not null then json_build_object('label', p.label, 'cycle', y.cycle, 'endsOn', y.eol_from,
         'isOver', coalesce(y.is_eol, false), 'newest', (
           select n.cycle from eol_cycles n
           where n.product = y.product and n.cycle <> y.cycle and not coalesce(n.eol_from <= ?::date, n.is_eol, false)
             and n.release_date > y.release_date
           order by n.release_date desc nulls last limit 1)) end as cycle,
       ${costsOfCard(metamodel, [type])} as cost, coalesce(d.dependants, 0) as dependants,
       coalesce(t.ended, 0) as "endedParts", coalesce(t.names, '{}') as "endedPartNames"
     from page c
       left join eol_cycles y on y.product = c.attributes ->> '${EOL_PRODUCT}' and y.cycle = c.attributes ->> '${EOL_CYCLE}'
       left join eol_products p on p.name = y.product
       left join relying d on d.id = c.id
       left join parts t on t.id = c.id
     order by c.id`,
    [
      type,
      after,
      after,
      limit,
      metamodel.visibleRelationTypes,
      metamodel.visibleRelationTypes,
      [...others, ...parts],
      others,
      parts,
      today,
      today,
      today,
    ],
  );
}
