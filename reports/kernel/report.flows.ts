import { FLOW_DIRECTION } from '../../domain/inventory/data-flows/data-flows.model.ts';
import type { Ctx } from '../../domain/kernel/context.ts';
import { Choice } from '../../domain/kernel/shapes.ts';
import { embed, fragment, joinFragments } from '../../platform/database.ts';
import { type RelatedPairs, typesBetween } from './report.ends.ts';

/** Where data flows between the ends of a link: to the target, to the source, or both ways. */
const flowDirections = ['forward', 'reverse', 'bidirectional'] as const;

/** The labels of data flows as links. */
export const dataFlowLabels = { label: 'sends data to', reverse_label: 'receives data from' };

/** Where data flows along a relation over the alias `r`, as SQL; null for relations without data. */
export const flowOfRelation = `case when r.attributes ->> '${FLOW_DIRECTION}' in ('${flowDirections.join("', '")}')
  then r.attributes ->> '${FLOW_DIRECTION}' end`;

/** The member of links with this direction. */
export const flowMember = (source: string, target: string) =>
  Choice(
    flowDirections,
    `Where data flows: \`forward\` from the ${source} to the ${target}, \`reverse\` from the ${target} to the ${source}`,
  );

/** Whether data flows along relations between cards of two types. */
export const hasFlows = (ctx: Ctx, type: string, other: string): boolean =>
  [...typesBetween(ctx, type, other), ...typesBetween(ctx, other, type)].some(({ fields }) =>
    fields.has(FLOW_DIRECTION),
  );

/**
 * Pairs `(card_id, other_id, flow)` of cards of two types that are related by visible relation types, in either direction.
 */
export function directedPairs(ctx: Ctx, type: string, other: string): RelatedPairs {
  const keys = (source: string, target: string) => typesBetween(ctx, source, target).map(({ key }) => key);
  const reversed = `case ${flowOfRelation} when 'forward' then 'reverse' when 'reverse' then 'forward' else ${flowOfRelation} end`;
  return {
    ...fragment`select r.source_id as card_id, r.target_id as other_id, ${embed(flowOfRelation)} as flow
      from relations r where r.type = any(${keys(type, other)}::text[])
      union all
      select r.target_id, r.source_id, ${embed(reversed)}
      from relations r where r.type = any(${keys(other, type)}::text[])`,
    once: 'distinct',
    more: ['flow'],
  };
}

/** Pairs `(card_id, other_id, flow, data_object_ids)` of cards of which the first one sends data to the other. */
export const sendingPairs: RelatedPairs = {
  ...joinFragments(
    [
      fragment`select f.source_id as card_id, f.target_id as other_id, f.direction as flow, f.data_object_ids
        from data_flows f`,
      fragment`select f.target_id, f.source_id, f.direction, f.data_object_ids
        from data_flows f where f.direction = 'bidirectional'`,
    ],
    ' union all ',
  ),
  once: 'distinct',
  more: ['flow', 'data_object_ids'],
};
