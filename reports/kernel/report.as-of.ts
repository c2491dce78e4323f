import type { Ctx } from '../../domain/kernel/context.ts';
import { may } from '../../domain/kernel/permissions/policy.ts';
import type { AsOfScope } from './as-of/as-of.events.ts';
import type { Reads } from './as-of/as-of.reads.ts';
import type { ReportQuestion } from './report.question.ts';

/** Cards and relations that a report reads, as it tells by the topics that it depends on. */
export function asOfScope(ctx: Ctx, { report, params, cards, filtered }: ReportQuestion): AsOfScope {
  // a filter that looks beyond the card itself may look anywhere
  const costs = may(ctx.caller, 'costs.view');
  if (filtered && looksBeyond(cards.sql)) return { costs };
  if (report.fewRows?.(params) && !looksBeyond(cards.sql)) return { rowwise: true, costs };
  const reads = report.reads && { reads: withCondition(report.reads, cards.sql) };
  if (report.uncached) return { ...reads, costs };
  const { cardTypes, relationTypes } = ctx.metamodel;
  const read = (topic: string, keys: Iterable<string>) =>
    [...keys].filter((key) => report.dependsOn(`${topic}:${key}`, params));
  const cardKeys = read('cards', cardTypes.keys());
  const relationKeys = read('relations', relationTypes.keys());
  return {
    ...reads,
    costs,
    ...(cardKeys.length < cardTypes.size ? { cardTypes: cardKeys } : {}),
    ...(relationKeys.length < relationTypes.size ? { relationTypes: relationKeys } : {}),
  };
}

/** What a report reads, and what the condition of its cards does. */
function withCondition({ cards = [], ...reads }: Reads, condition: string): Reads {
  const named = [...condition.matchAll(/\bc\.(\w+)/g)].map(([, name]) => name!);
  // who sees a few cards alone sees them as a stakeholder
  const others = reads.others || looksBeyond(condition);
  return { ...reads, cards: cards === 'any' ? cards : [...new Set([...cards, ...named])], others };
}

/** Whether a condition of cards looks beyond the card itself. */
const looksBeyond = (condition: string): boolean => /\bfrom\b/i.test(condition);
