import type { Ctx } from '../domain/context.ts';
import type { Reads } from './past/past.reads.ts';
import type { PastScope } from './past/past.touched.ts';
import type { ReportQuestion } from './report.question.ts';

/** Cards and relations that a report reads, as it tells by the topics that it depends on. */
export function pastScope(ctx: Ctx, { report, params, cards, filtered }: ReportQuestion): PastScope {
  // a filter that looks beyond the card itself may look anywhere
  if (filtered && /\bfrom\b/i.test(cards.sql)) return {};
  const reads = report.reads && { reads: withFiltered(report.reads, cards.sql) };
  if (report.uncached) return { ...reads };
  const { cardTypes, relationTypes } = ctx.metamodel;
  const read = (topic: string, keys: Iterable<string>) =>
    [...keys].filter((key) => report.dependsOn(`${topic}:${key}`, params));
  const cardKeys = read('cards', cardTypes.keys());
  const relationKeys = read('relations', relationTypes.keys());
  return {
    ...reads,
    ...(cardKeys.length < cardTypes.size ? { cardTypes: cardKeys } : {}),
    ...(relationKeys.length < relationTypes.size ? { relationTypes: relationKeys } : {}),
  };
}

/** The columns of a report, and those of its cards that their condition names. */
function withFiltered({ cards, relations }: Reads, condition: string): Reads {
  const named = [...condition.matchAll(/\bc\.(\w+)/g)].map(([, name]) => name!);
  return { cards: [...new Set([...cards, ...named])], relations };
}
