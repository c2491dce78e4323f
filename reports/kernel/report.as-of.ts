import type { Ctx } from '../../domain/kernel/context.ts';
import { may } from '../../domain/kernel/permissions/policy.ts';
import type { Db, Sql } from '../../platform/database.ts';
import { type Snapshot, snapshotOn, withSnapshot } from '../../platform/snapshot.ts';
import type { AsOfScope } from './as-of/as-of.events.ts';
import type { Reads } from './as-of/as-of.reads.ts';
import { readAsOf } from './as-of/as-of.ts';
import { dependsOn, type ReportRequest } from './report.ts';

/** The tables and types that a report reads, derived from its topics. */
export function asOfScope(ctx: Ctx, { report, params, cards, filtered }: ReportRequest): AsOfScope {
  // a filter with a subquery can read any table
  const costs = may(ctx.caller, 'costs.view');
  if (filtered && hasSubquery(cards.sql)) return { costs };
  const own = typeof report.reads === 'function' ? report.reads(ctx, params) : report.reads;
  if (report.fewRows?.(params) && !hasSubquery(cards.sql)) {
    return { rowwise: true, costs, ...(own && { reads: own }) };
  }
  const reads = own && { reads: withCondition(own, cards.sql) };
  if (!report.topics) return { ...reads, costs };
  const { cardTypes, relationTypes } = ctx.metamodel;
  const read = (topic: string, keys: Iterable<string>) =>
    [...keys].filter((key) => dependsOn(report, `${topic}:${key}`, params));
  const cardKeys = read('cards', cardTypes.keys());
  const relationKeys = read('relations', relationTypes.keys());
  return {
    ...reads,
    costs,
    ...(cardKeys.length < cardTypes.size ? { cardTypes: cardKeys } : {}),
    ...(relationKeys.length < relationTypes.size ? { relationTypes: relationKeys } : {}),
  };
}

/** Adds what the condition of the cards reads. */
function withCondition({ cards = [], ...reads }: Reads, condition: string): Reads {
  const named = [...condition.matchAll(/\bc\.(\w+)/g)].map(([, name]) => name!);
  // a limited view depends on stakeholder roles
  const others = reads.others || hasSubquery(condition);
  return { ...reads, cards: cards === 'any' ? cards : [...new Set([...cards, ...named])], others };
}

/** Whether a condition of cards has a subquery. */
const hasSubquery = (condition: string): boolean => /\bfrom\b/i.test(condition);

/** Runs `work` on one snapshot, current or as of a time, with memory for aggregates over all cards. */
export async function withReportSnapshot<T>(
  db: Db,
  asOf: Date | undefined,
  scope: AsOfScope,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const prepared = async (snapshot: Snapshot) => {
    await snapshot.query(`set local work_mem = '64MB'`);
    // JIT compilation would take longer than most of these queries
    await snapshot.query('set local jit = off');
    return await work(snapshot);
  };
  if (!asOf) return await withSnapshot(db, prepared);
  const onConnection = async (sql: Sql) => prepared(snapshotOn(await sql.client.acquireConnection()));
  return await readAsOf(db, asOf, onConnection, scope);
}
