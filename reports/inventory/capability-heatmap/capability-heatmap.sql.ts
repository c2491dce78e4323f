import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { embed, fragment } from '../../../platform/database.ts';
import { worseOptions, worstFirst } from '../../kernel/charts/charts.labels.ts';
import { reportAttributes } from '../../kernel/report.cards.ts';
import { relatedPairs } from '../../kernel/report.ends.ts';
import { ORGANIZATION } from '../../kernel/report.related.ts';
import type { RowSource } from '../../kernel/report.rows.ts';
import { jsonLine, jsonText, literal, numberIn } from '../../kernel/report.sql.ts';
import type { ReportInput } from '../../kernel/report.ts';
import type { HeatmapParams } from './capability-heatmap.model.ts';

export const CAPABILITY = 'BusinessCapability';
export const APP = 'Application';

type Input = Pick<ReportInput<unknown>, 'ctx' | 'cards' | 'visible'>;

const costsOf = (ctx: Ctx): string =>
  (ctx.metamodel.cardTypes.get(APP)?.costKeys ?? [])
    .map((key) => numberIn('c.attributes', key))
    .join(' + ') || '0';

/** The common tables `capability (id, parent_id, name_key)` and `linked (capability_id, app_id)`. */
export function linkedApps({ ctx, cards, visible }: Input): Fragment {
  const pairs = relatedPairs(ctx, APP, CAPABILITY);
  return fragment`with recursive capability as materialized (
      select c.id, c.parent_id, c.name_key from cards c where c.type = ${CAPABILITY} and ${embed(visible)}),
    linked as materialized (
      select ${embed(pairs.once)} e.other_id as capability_id, e.card_id as app_id from (${embed(pairs)}) e
      where e.card_id in (select c.id from cards c where c.type = ${APP} and ${embed(cards)})
        and e.other_id in (select id from capability))`;
}

/**
 * The capabilities by name, one per line without its closing brace, with the figures that the caller may see.
 * @param only ids of the capabilities; absent: all.
 */
export function capabilityLines(
  input: Input,
  { roll_up, color_field }: Pick<HeatmapParams, 'roll_up' | 'color_field'>,
  only: readonly string[] | undefined,
): Fragment {
  const { ctx, visible } = input;
  const seesCosts = may(ctx.caller, 'costs.view');
  const seesRisks = may(ctx.caller, 'risks.view');
  const values = [
    ...(seesCosts ? [`${costsOf(ctx)} as cost`] : []),
    ...(color_field === undefined ? [] : [`c.attributes ->> ${literal(color_field)} as option`]),
  ];
  const app =
    values.length > 0
      ? fragment`join (select c.id, ${embed(values.join(', '))} from cards c where c.type = ${APP} and ${embed(visible)}) a on a.id = s.app_id`
      : fragment``;
  const members = {
    id: { id: 'c.id' },
    name: { text: 'c.name' },
    parent_id: { text: 'c.parent_id' },
    attributes: { json: reportAttributes(ctx, [CAPABILITY]) },
    app_count: { json: 'coalesce(f.app_count, 0)' },
    ...(seesCosts && { total_cost: { json: 'coalesce(f.total_cost, 0)' } }),
    ...(seesRisks && { risk_count: { json: 'coalesce(g.risk_count, 0)' } }),
    ...(color_field !== undefined && {
      options: { json: `coalesce(o.options, '{}')` },
      worst: { text: 'o.worst' },
      share: { json: 'trim_scale(o.share)' },
      ...(seesCosts && { mean: { json: 'trim_scale(o.mean)' } }),
    }),
  };
  const above = roll_up
    ? fragment`select id as capability_id, id as counts_for from capability
        union all
        select u.capability_id, k.parent_id from up u join capability k on k.id = u.counts_for
        where k.parent_id in (select id from capability)`
    : fragment`select id, id from capability`;
  const risks = seesRisks
    ? fragment`left join (
        select o.counts_for, count(distinct k.risk_id) as risk_count
        from (select counts_for, app_id as card_id from supporting
          union all select counts_for, capability_id from up) o
        join risk_cards k on k.card_id = o.card_id join risks r on r.id = k.risk_id and r.status <> 'closed'
        group by o.counts_for) g on g.counts_for = c.id`
    : fragment``;
  const options = color_field === undefined ? NO_OPTIONS : byOption(ctx, color_field, app, seesCosts);
  const shown = only ? fragment`c.id = any(${only}::uuid[])` : fragment`c.id in (select id from capability)`;
  return fragment`${embed(linkedApps(input))},
    up (capability_id, counts_for) as (${embed(above)}),
    supporting as materialized (
      select distinct u.counts_for, l.app_id from linked l join up u on u.capability_id = l.capability_id),
    figures as (
      select s.counts_for, count(*) as app_count ${embed(seesCosts ? ', sum(a.cost) as total_cost' : '')}
      from supporting s ${embed(app)} group by s.counts_for)${embed(options.tables)}
    select ${embed(jsonText(members, ','))}
    from cards c left join figures f on f.counts_for = c.id ${embed(options.join)} ${embed(risks)}
    where ${embed(shown)} order by c.name_key, c.id`;
}

const NO_OPTIONS = { tables: fragment``, join: fragment`` };

/** The common tables with the options of a field over the applications of each capability, and their join as `o`. */
function byOption(ctx: Ctx, field: string, app: Fragment, seesCosts: boolean) {
  const order = worstFirst(ctx, APP, field);
  const mean = 'round(sum(n.place * n.weight) / nullif(sum(n.weight), 0), 4)';
  return {
    tables: fragment`, numbers as (
        select s.counts_for, k.option, k.place, count(*) as apps ${embed(seesCosts ? ', sum(greatest(a.cost, 0)) as weight' : '')}
        from supporting s ${embed(app)} join unnest(${order}::text[]) with ordinality k (option, place) on k.option = a.option
        group by s.counts_for, k.option, k.place),
      options as (
        select n.counts_for, jsonb_object_agg(n.option, n.apps) as options, (array_agg(n.option order by n.place))[1] as worst,
          round(100.0 * coalesce(sum(n.apps) filter (where n.place <= ${worseOptions(order)}), 0) / sum(n.apps), 2) as share
          ${embed(seesCosts ? `, ${mean} as mean` : '')}
        from numbers n group by n.counts_for)`,
    join: fragment`left join options o on o.counts_for = c.id`,
  };
}

/** The pairs of capability and application, with the related objects of the application. */
export function appRows(input: Input): RowSource {
  const { ctx, visible } = input;
  const types = ctx.metamodel.visibleRelationTypes;
  return {
    before: linkedApps(input),
    from: fragment`(select l.*, k.name_key from linked l join capability k on k.id = l.capability_id) l`,
    alias: 'l',
    keys: [
      { sql: 'l.name_key', type: 'text' },
      { sql: 'l.capability_id', type: 'uuid' },
      { sql: 'l.app_id', type: 'uuid' },
    ],
    line: jsonLine({
      group_id: { id: 'l.capability_id' },
      id: { id: 'c.id' },
      name: { text: 'c.name' },
      subtype: { text: 'c.subtype' },
      attributes: { json: reportAttributes(ctx, [APP]) },
      lifecycle: { json: 'c.lifecycle' },
      org_ids: { json: `coalesce(e.by_type -> '${ORGANIZATION}', '[]')` },
      related_by_type: { json: `coalesce(e.by_type, '{}')` },
      tag_ids: {
        json: `(select coalesce(jsonb_agg(k.tag_id order by k.tag_id), '[]') from card_tags k where k.card_id = l.app_id)`,
      },
    }),
    joins: fragment`join cards c on c.id = l.app_id
      cross join lateral (
        select jsonb_object_agg(t.type, t.ids) as by_type from (
          select o.type, jsonb_agg(o.id order by o.id) as ids
          from (select r.target_id as id from relations r where r.source_id = l.app_id and r.type = any(${types}::text[])
            union select r.source_id from relations r where r.target_id = l.app_id and r.type = any(${types}::text[])) r
          join (select c.id, c.type from cards c where ${embed(visible)}) o on o.id = r.id
          group by o.type) t) e`,
  };
}

/** The cards that are related to some applications, by type, as the text of one object. @param apps a subquery of their ids. */
export const relatedCards = ({ ctx, visible }: Input, before: Fragment, apps: Fragment): Fragment =>
  fragment`${embed(before)}
    select coalesce(jsonb_object_agg(t.type, t.cards), '{}')::text from (
      select c.type, jsonb_agg(jsonb_build_object('id', c.id, 'name', c.name, 'type', c.type) order by c.name, c.id) as cards
      from cards c where ${embed(visible)} and c.id in (
        select r.target_id from relations r where r.source_id in (${embed(apps)}) and r.type = any(${ctx.metamodel.visibleRelationTypes}::text[])
        union
        select r.source_id from relations r where r.target_id in (${embed(apps)}) and r.type = any(${ctx.metamodel.visibleRelationTypes}::text[]))
      group by c.type) t`;
