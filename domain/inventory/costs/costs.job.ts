import { query } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { defineRoutine } from '../../kernel/jobs/jobs.define.ts';
import { inBatches, type RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { SettingKey } from '../../kernel/settings/settings.read.ts';
import { lockCards } from '../cards/cards.load.ts';
import { ANNUAL_COST } from '../cards/rules/values.ts';
import { lockEnds, refreshCardCosts, refreshRelationCosts } from './costs.sums.ts';

/** Updates annual costs when a fiscal year begins, and after changes of settings that they depend on. */
export const costsRefreshJob = defineRoutine('costs_refresh');

/** The settings that annual costs depend on. */
export const annualCostSettings: ReadonlySet<SettingKey> = new Set([
  'currency',
  'exchange_rates',
  'fiscal_year_start',
]);

/** Cards or relations that one transaction updates. */
const BATCH = 500;

/** Updates annual costs that are out of date, in batches. @returns the number of updated cards and relations. */
export async function refreshAnnualCosts(job: RunningJob): Promise<number> {
  await inBatches(job, 'updated', BATCH, (work) => refreshCards(work, job.ctx));
  return await inBatches(job, 'updated', BATCH, (work) => refreshRelations(work, job.ctx));
}

/** The keys of types whose field shows annual costs: only values of these can be out of date. */
const showing = (types: ReadonlyMap<string, { fields: ReadonlyMap<string, { type: string }> }>): string[] =>
  [...types].flatMap(([key, { fields }]) => (fields.get(ANNUAL_COST)?.type === 'cost' ? [key] : []));

async function refreshCards(work: Work, ctx: Ctx): Promise<number> {
  const { cardTypes, visibleTypes } = work.metamodel;
  const types = showing(cardTypes).filter((key) => visibleTypes.includes(key));
  const ids = await query(work.sql).column<string>`select c.id
    from (select distinct card_id from costs where card_id is not null) k join cards c on c.id = k.card_id
    where c.type = any(${types}::text[])
      and c.attributes -> ${ANNUAL_COST} is distinct from to_jsonb(annual_cost(c.id, null))
    order by c.id limit ${BATCH}`;
  await lockCards(work, ids);
  await refreshCardCosts(work, ctx, ids);
  return ids.length;
}

async function refreshRelations(work: Work, ctx: Ctx): Promise<number> {
  const types = showing(work.metamodel.relationTypes);
  const ids = await query(work.sql).column<string>`select r.id
    from (select distinct relation_id from costs where relation_id is not null) k
    join relations r on r.id = k.relation_id
    where r.type = any(${types}::text[])
      and r.attributes -> ${ANNUAL_COST} is distinct from to_jsonb(annual_cost(null, r.id))
    order by r.id limit ${BATCH}`;
  await refreshRelationCosts(work, ctx, ids, await lockEnds(work, ids));
  return ids.length;
}
