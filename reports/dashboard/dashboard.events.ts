import { may } from '../../domain/access/policy.ts';
import type { ReportInput } from '../report.ts';

/** The newest events of cards and relations, newest first; costs are cut by the caller's app permission alone: the answer is shared by many callers. */
export async function recentEvents(
  { sql, ctx, cards, filtered }: Omit<ReportInput<unknown>, 'params'>,
  most: number,
): Promise<unknown[]> {
  const hidden = ctx.metamodel.hiddenTypes;
  const costs = may(ctx.caller, 'costs.view');
  const narrowed = [
    may(ctx.caller, 'relations.view') ? '' : 'and e.relation_id is null',
    filtered ? `and (${cards.sql})` : '',
  ].join(' ');
  const { rows } = await sql.raw(
    `select e.id, e.card_id, c.name as card_name, e.event_type,
            ${costs ? 'e.data' : "cut_costs(e.data, coalesce(e.cost_keys, '{}'))"} as data,
            u.display_name as user_display_name, utc(e.at) as created_at
     from events e left join cards c on c.id = e.card_id left join users u on u.id = e.user_id
     where e.scope = 'inventory' and e.card_id is not null
       and split_part(e.event_type, '.', 1) in ('card', 'relation', 'tag')
       and not (coalesce(e.card_type, '') = any(?::text[])) and not (coalesce(e.peer_card_type, '') = any(?::text[]))
       ${narrowed}
     order by e.position desc limit ?`,
    [hidden, hidden, ...(filtered ? cards.bindings : []), most] as never,
  );
  return rows;
}
