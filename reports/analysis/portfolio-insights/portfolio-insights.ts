import { costsOfCard } from '../../../domain/inventory/cards/cards.projection.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { EOL_CYCLE, EOL_PRODUCT } from '../../../domain/kernel/metamodel/eol.fields.ts';
import { may, requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { embed, fragment, joinFragments, query, type Sql } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import { activeCards, reportCards } from '../../kernel/report.cards.ts';
import { relatedPairs } from '../../kernel/report.ends.ts';
import { literal } from '../../kernel/report.sql.ts';
import { type GroupFacts, type Insight, insightsOf, type PortfolioFacts } from './insights.words.ts';

/** The selected applications and groupings. */
export interface InsightsAsked {
  group_by?: string | null;
  color_by?: string | null;
  /** Filters in the filter language, joined by AND. */
  active_filters?: readonly string[];
}

/**
 * Reads facts about the applications that the caller sees, and derives insights from them.
 * @throws EstateError `forbidden`, `validation_failed` for an invalid filter or grouping.
 */
export async function readPortfolioInsights(
  ctx: Ctx,
  { group_by, color_by, active_filters = [] }: InsightsAsked,
): Promise<{ facts: PortfolioFacts; insights: Insight[] }> {
  for (const key of ['ai.portfolio_insights', 'inventory.view', 'relations.view'] as const) {
    requirePermission(ctx.caller, key);
  }
  // each filter is parsed separately, so that operators of one do not affect another
  const all = [await reportCards(ctx, undefined)];
  for (const filter of active_filters) all.push(await reportCards(ctx, filter));
  const parts = all.map((one) => fragment`(${embed(one)})`);
  const cards = joinFragments(parts, ' and ');
  const selection = {
    cards,
    today: new Date().toISOString().slice(0, 10),
    groupBy: group_by ? groupingOf(ctx, 'group_by', group_by) : null,
    colorBy: color_by ? groupingOf(ctx, 'color_by', color_by) : null,
  };
  const facts = await ctx.db.transaction((sql) => readFacts(ctx, sql, selection), {
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
    'must be a select or boolean attribute of applications, subtype, approval_status or a card type',
  );
}

/** The subject of the insights. */
const TYPE = 'Application';
/** Minimum number of applications of a capability for an insight. */
const CROWDED = 3;
/** Maximum number of groups and values. */
const MOST_GROUPS = 50;

/** A grouping of the applications: by a column, an attribute, or related cards of a type. */
type Grouping =
  | { kind: 'value'; label: string; sql: string; labels: ReadonlyMap<string, string> }
  | { kind: 'related'; label: string; type: string };

interface FactsAsked {
  /** Condition of the applications, over the alias `c`. */
  cards: Fragment;
  /** A day, `YYYY-MM-DD`. */
  today: string;
  groupBy: Grouping | null;
  colorBy: Grouping | null;
}

type Counts = Omit<
  PortfolioFacts,
  | 'onEndedParts'
  | 'endedParts'
  | 'crowdedCapabilities'
  | 'mostCrowded'
  | 'withoutCapability'
  | 'groups'
  | 'colors'
  | 'withoutSupplier'
>;

/** Reads the facts. @param sql a transaction with one snapshot. */
async function readFacts(ctx: Ctx, sql: Sql, selection: FactsAsked): Promise<PortfolioFacts> {
  const counts = await readCounts(ctx, sql, selection);
  return {
    ...counts,
    ...(await readParts(ctx, sql, selection)),
    ...(await readCapabilities(ctx, sql, selection)),
    withoutSupplier: counts.total - (await withRelated(ctx, sql, selection, 'Provider')),
    groups: selection.groupBy && (await readGroups(ctx, sql, selection, selection.groupBy)),
    colors: selection.colorBy && (await readColors(ctx, sql, selection, selection.colorBy)),
  };
}

const date = (of: string, key: string) => `nullif(${of} ->> '${key}', '')::date`;
const bad = `c.attributes ->> 'technicalSuitability' in ('unreasonable', 'inappropriate')`;

async function readCounts(ctx: Ctx, sql: Sql, { cards, today }: FactsAsked): Promise<Counts> {
  const seesCosts = may(ctx.caller, 'costs.view');
  const rows = await query(sql).rows<{
    facts: Counts & { costs: NonNullable<PortfolioFacts['costs']> };
  }>`with app as materialized (
       select c.id, c.data_quality, c.lifecycle is null or c.lifecycle = '{}' as undated,
         coalesce(${embed(date('c.lifecycle', 'endOfLife'))} <= d.today, false) as ended,
         coalesce(${embed(date('c.lifecycle', 'endOfLife'))} > d.today
           and ${embed(date('c.lifecycle', 'endOfLife'))} <= d.today + 365, false) as ending,
         coalesce(${embed(date('c.lifecycle', 'phaseOut'))} <= d.today, false) as leaving_now,
         ${embed(date('c.lifecycle', 'endOfLife'))} is not null as has_end,
         coalesce(c.attributes ->> 'businessCriticality' in ('missionCritical', 'businessCritical'), false) as critical,
         coalesce(${embed(bad)}, false) as bad,
         coalesce(c.attributes ->> 'functionalSuitability' in ('insufficient', 'unreasonable'), false) as unfit,
         c.attributes ->> 'timeModel' as time, ${embed(seesCosts ? costsOfCard(ctx.metamodel, [TYPE]) : '0::numeric')} as cost,
         exists (select from stakeholders s where s.card_id = c.id) as owned
       from cards c, (select ${today}::date as today) d where c.type = ${TYPE} and ${embed(cards)}
     ), dear as (
       select cost from app where cost > 0 order by cost desc, id limit (select ceil(count(*) / 10.0)::int from app)
     )
     select json_build_object(
       'total', count(*), 'ended', count(*) filter (where ended), 'ending', count(*) filter (where ending),
       'leavingCritical', count(*) filter (where critical and (ended or ending or leaving_now)),
       'withoutLifecycle', count(*) filter (where undated), 'critical', count(*) filter (where critical),
       'technicallyBad', count(*) filter (where bad), 'functionallyBad', count(*) filter (where unfit),
       'badCritical', count(*) filter (where bad and critical),
       'time', json_build_object('tolerate', count(*) filter (where time = 'tolerate'),
         'invest', count(*) filter (where time = 'invest'), 'migrate', count(*) filter (where time = 'migrate'),
         'eliminate', count(*) filter (where time = 'eliminate')),
       'leavingWithoutDate', count(*) filter (where time in ('migrate', 'eliminate') and not has_end),
       'withoutStakeholder', count(*) filter (where not owned),
       'quality', coalesce(round(avg(data_quality)), 0),
       'costs', json_build_object('total', round(coalesce(sum(cost), 0), 2),
         'topTenth', round(coalesce((select sum(cost) from dear), 0), 2),
         'leaving', round(coalesce(sum(cost) filter (where ended or time in ('migrate', 'eliminate')), 0), 2),
         'priced', count(*) filter (where cost > 0))) as facts
     from app`;
  const { facts } = rows[0]!;
  return { ...facts, costs: seesCosts ? facts.costs : null };
}

/** Pairs of a selected application (`card_id`) and a related visible active card of a type (`other_id`). */
function relatedTo(ctx: Ctx, { cards }: FactsAsked, type: string): Fragment {
  const pairs = relatedPairs(ctx, TYPE, type);
  return fragment`select ${embed(pairs.once)} e.card_id, e.other_id from (${embed(pairs)}) e
      where e.card_id in (select c.id from cards c where c.type = ${TYPE} and ${embed(cards)})
        and e.other_id in (select c.id from cards c where c.type = ${type} and ${embed(activeCards(ctx))})`;
}

async function withRelated(ctx: Ctx, sql: Sql, selection: FactsAsked, type: string): Promise<number> {
  if (!ctx.metamodel.visibleTypes.includes(type)) return 0;
  const related = relatedTo(ctx, selection, type);
  return await query(sql).value`select count(distinct card_id)::int from (${embed(related)}) e`;
}

async function readParts(ctx: Ctx, sql: Sql, selection: FactsAsked) {
  if (!ctx.metamodel.visibleTypes.includes('ITComponent')) return { onEndedParts: 0, endedParts: 0 };
  const rows = await query(sql).rows<
    Pick<PortfolioFacts, 'onEndedParts' | 'endedParts'>
  >`select count(distinct e.card_id)::int as "onEndedParts", count(distinct e.other_id)::int as "endedParts"
     from (${embed(relatedTo(ctx, selection, 'ITComponent'))}) e join cards o on o.id = e.other_id
       left join eol_cycles y on y.product = o.attributes ->> '${embed(EOL_PRODUCT)}' and y.cycle = o.attributes ->> '${embed(EOL_CYCLE)}'
     where coalesce(y.eol_from <= ${selection.today}::date, y.is_eol, false)
       or coalesce(${embed(date('o.lifecycle', 'endOfLife'))} <= ${selection.today}::date, false)`;
  return rows[0]!;
}

async function readCapabilities(ctx: Ctx, sql: Sql, selection: FactsAsked) {
  const type = 'BusinessCapability';
  if (!ctx.metamodel.visibleTypes.includes(type)) {
    return { crowdedCapabilities: 0, mostCrowded: null, withoutCapability: 0 };
  }
  const rows = await query(sql).rows<{
    crowded: number;
    most: PortfolioFacts['mostCrowded'];
    without: number;
  }>`with pairs as materialized (${embed(relatedTo(ctx, selection, type))}),
     counted as (select other_id, count(*)::int as apps from pairs group by other_id having count(*) >= ${embed(CROWDED)})
     select (select count(*)::int from counted) as crowded,
       (select json_build_object('name', c.name, 'apps', n.apps) from counted n join cards c on c.id = n.other_id
        order by n.apps desc, c.name, c.id limit 1) as most,
       (select count(*)::int from cards c where c.type = ${TYPE} and ${embed(selection.cards)}
         and c.id not in (select card_id from pairs)) as without`;
  const { crowded, most, without } = rows[0]!;
  return { crowdedCapabilities: crowded, mostCrowded: most, withoutCapability: without };
}

/** The value by which an application is groupRows, over the alias `c`; several rows if it is in several groups. */
function groupRows(ctx: Ctx, selection: FactsAsked, grouping: Grouping): Fragment {
  const { cards } = selection;
  if (grouping.kind === 'value') {
    return fragment`select c.id as card_id, nullif(${embed(grouping.sql)}, '') as name, null::uuid as other_id
      from cards c where c.type = ${TYPE} and ${embed(cards)}`;
  }
  const related = relatedTo(ctx, selection, grouping.type);
  return fragment`select a.card_id, o.name, o.id as other_id from (select c.id as card_id from cards c where c.type = ${TYPE} and ${embed(cards)}) a
      left join (${embed(related)}) e on e.card_id = a.card_id left join cards o on o.id = e.other_id`;
}

async function readGroups(ctx: Ctx, sql: Sql, selection: FactsAsked, grouping: Grouping) {
  const rows = await readGrouped(ctx, sql, selection, grouping);
  const labels = grouping.kind === 'value' ? grouping.labels : new Map<string, string>();
  const all = rows
    .filter(({ name }) => name !== null)
    .slice(0, MOST_GROUPS)
    .map((row): GroupFacts => ({ ...row, name: labels.get(row.name!) ?? row.name! }));
  return { label: grouping.label, all, without: rows.find(({ name }) => name === null)?.apps ?? 0 };
}

async function readColors(ctx: Ctx, sql: Sql, selection: FactsAsked, grouping: Grouping) {
  const { label, all, without } = await readGroups(ctx, sql, selection, grouping);
  return { label, values: all.map(({ name, apps }) => ({ name, apps })), without };
}

type GroupRow = Omit<GroupFacts, 'name'> & { name: string | null };

async function readGrouped(
  ctx: Ctx,
  sql: Sql,
  selection: FactsAsked,
  grouping: Grouping,
): Promise<GroupRow[]> {
  const cost = may(ctx.caller, 'costs.view') ? costsOfCard(ctx.metamodel, [TYPE]) : 'null::numeric';
  return await query(sql)
    .rows`select left(g.name, 200) as name, count(*)::int as apps, (count(*) filter (where ${embed(bad)}))::int as "technicallyBad",
       round(sum(${embed(cost)}), 2) as cost
     from (${embed(groupRows(ctx, selection, grouping))}) g join cards c on c.id = g.card_id
     group by g.name, g.other_id order by apps desc, g.name, g.other_id`;
}

/** SQL of a value among the attributes. */
const attributeSql = (key: string): string => `c.attributes ->> ${literal(key)}`;
