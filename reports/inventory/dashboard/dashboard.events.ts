import Type, { type Static } from 'typebox';
import { isWork } from '../../../domain/inventory/metamodel/renames/renames.events.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { arrayOf, Nullable, OpenObject, Timestamp, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { isNarrowed } from '../../kernel/report.cards.ts';
import { reportTable } from '../../kernel/report.formats.ts';
import type { ReportInput, ReportTable } from '../../kernel/report.ts';

/** The schema of {@link recentEvents}. */
export const RecentEvents = arrayOf({
  id: Uuid,
  card_id: Nullable(Uuid),
  card_name: Nullable(Type.String()),
  event_type: Type.String(),
  data: OpenObject,
  user_display_name: Nullable(Type.String()),
  /** The job that wrote it. */
  job_id: Nullable(Uuid),
  created_at: Timestamp,
});

/** The table of {@link recentEvents}. */
export const eventsTable = (name: string, events: Static<typeof RecentEvents>): ReportTable =>
  reportTable(
    name,
    {
      created_at: 'datetime',
      event_type: 'key',
      card_id: 'key',
      card_name: 'text',
      user_display_name: 'text',
    },
    events,
  );

/** The newest events of cards and relations. Costs only depend on the application permission, since the result is shared. */
export async function recentEvents(
  input: Omit<ReportInput<unknown>, 'params'>,
  most: number,
): Promise<unknown[]> {
  const { sql, ctx, cards } = input;
  const hidden = ctx.metamodel.hiddenTypes;
  const costs = may(ctx.caller, 'costs.view');
  // relation events contain the name of the other card, which the caller might not see
  const relations = may(ctx.caller, 'relations.view') && may(ctx.caller, 'inventory.view');
  return await query(sql).rows`select e.id, e.card_id, c.name as card_name, e.event_type,
            ${embed(costs ? 'e.data' : "cut_costs(e.data, coalesce(e.cost_keys, '{}'))")} as data,
            u.display_name as user_display_name, e.job_id, utc(e.at) as created_at
     from events e left join cards c on c.id = e.card_id left join users u on u.id = e.user_id
     where e.scope = 'inventory' and e.card_id is not null
       and split_part(e.event_type, '.', 1) in ('card', 'relation', 'tag') and ${embed(isWork)}
       and not (coalesce(e.card_type, '') = any(${hidden}::text[]))
       and not (coalesce(e.peer_card_type, '') = any(${hidden}::text[]))
       ${embed(relations ? '' : 'and e.relation_id is null')}
       ${embed(isNarrowed(input) ? fragment`and (${embed(cards)})` : '')}
     order by e.position desc limit ${most}`;
}
