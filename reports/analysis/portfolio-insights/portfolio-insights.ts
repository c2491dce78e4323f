import type { Ctx } from '../../../domain/kernel/context.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { invalidField } from '../../../platform/errors.ts';
import { reportCards } from '../../kernel/report.cards.ts';
import { attributeSql, type Grouping, readFacts, TYPE } from './insights.facts.ts';
import { type Insight, insightsOf, type PortfolioFacts } from './insights.words.ts';

/** The selected applications and groupings. */
export interface InsightsAsked {
  group_by?: string | null;
  color_by?: string | null;
  /** Filters in the filter language: what fits all of them is looked at. */
  active_filters?: readonly string[];
}

/**
 * What the applications that the caller sees say about themselves: facts first, then words.
 * @throws EstateError `forbidden`, `validation_failed` for a filter or a grouping that there is not.
 */
export async function readPortfolioInsights(
  ctx: Ctx,
  { group_by, color_by, active_filters = [] }: InsightsAsked,
): Promise<{ facts: PortfolioFacts; insights: Insight[] }> {
  for (const key of ['ai.portfolio_insights', 'inventory.view', 'relations.view'] as const) {
    requirePermission(ctx.caller, key);
  }
  // each is read alone, so that none changes what another means
  const all = [await reportCards(ctx, undefined)];
  for (const filter of active_filters) all.push(await reportCards(ctx, filter));
  const cards = {
    sql: all.map(({ sql }) => `(${sql})`).join(' and '),
    bindings: all.flatMap(({ bindings }) => bindings),
  };
  const asked = {
    cards,
    today: new Date().toISOString().slice(0, 10),
    groupBy: group_by ? groupingOf(ctx, 'group_by', group_by) : null,
    colorBy: color_by ? groupingOf(ctx, 'color_by', color_by) : null,
  };
  const facts = await ctx.db.transaction((sql) => readFacts(ctx, sql, asked), {
    isolationLevel: 'repeatable read',
    readOnly: true,
  });
  return { facts, insights: insightsOf(facts) };
}

/** Types of attributes whose values are few. */
const GROUPED = ['single_select', 'boolean', 'text'];

function groupingOf(ctx: Ctx, member: string, key: string): Grouping {
  const type = ctx.metamodel.cardTypes.get(TYPE);
  const field = type?.fields.get(key);
  if (field && GROUPED.includes(field.type)) {
    return { kind: 'value', label: field.label, sql: attributeSql(key), labels: field.optionLabels };
  }
  if (key === 'subtype') {
    const labels = new Map(type?.subtypes.map(({ key: subtype, label }) => [subtype, label]));
    return { kind: 'value', label: 'subtype', sql: 'c.subtype', labels };
  }
  if (key === 'approval_status') {
    return { kind: 'value', label: 'approval', sql: 'c.approval_status', labels: new Map() };
  }
  if (ctx.metamodel.visibleTypes.includes(key)) {
    return { kind: 'related', label: ctx.metamodel.cardTypes.get(key)!.label, type: key };
  }
  throw invalidField(
    member,
    'unknown_grouping',
    'is neither an attribute of few values of applications, subtype, approval_status nor a card type',
  );
}
