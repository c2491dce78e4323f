import Type, { type Static } from 'typebox';
import { hasQuality } from '../../../domain/inventory/cards/rules/quality.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { arrayOf, IntegerIn, Timestamp, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment, query } from '../../../platform/database.ts';
import { type ChartContext, typeLabel, typePaint, typePlural } from '../../kernel/charts/charts.labels.ts';
import { formatShare } from '../../kernel/charts/charts.numbers.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { figuresTable, resultTable } from '../../kernel/report.formats.ts';
import { reportText } from '../../kernel/report.texts.ts';
import { defineReport, type ReportTable, reportSchema } from '../../kernel/report.ts';

const Result = reportSchema('DataQualityReport', {
  overall_data_quality: Type.Number({ minimum: 0, maximum: 100 }),
  total_items: Type.Integer(),
  unrated: Type.Integer({ description: 'Cards of types and subtypes for whose data quality nothing counts' }),
  with_lifecycle: Type.Integer(),
  orphaned: Type.Integer(),
  stale: Type.Integer(),
  by_type: arrayOf({
    type: Type.String(),
    total: Type.Integer(),
    complete: Type.Integer(),
    partial: Type.Integer(),
    minimal: Type.Integer(),
    avg_data_quality: Type.Number(),
  }),
  worst_items: arrayOf({
    id: Uuid,
    name: Type.String(),
    type: Type.String(),
    data_quality: Type.Number(),
    updated_at: Timestamp,
  }),
});
type Result = Static<typeof Result>;

/** Days without a change after which a card counts as stale. */
const STALE_DAYS = 90;

/** Data quality by type, and the cards with the lowest quality. */
export const dataQualityReport = defineReport({
  name: 'data-quality',
  id: 'readDataQualityReport',
  summary: 'Read the data quality of the inventory',
  description: `Complete from 80 on, partial from 40, minimal below. Cards for whose data quality nothing counts (\`unrated\`) have no quality, not 0. Stale: no change for ${STALE_DAYS} days. Orphaned: without relations, parent and children.`,
  permission: 'reports.ea_dashboard',
  params: {
    worst: IntegerIn(0, 1000, 'Maximum number of listed cards, lowest data quality first', 20),
  },
  result: Result,
  reads: {
    cards: [
      'type',
      'subtype',
      'name',
      'parent_id',
      'status',
      'lifecycle',
      'data_quality',
      'created_at',
      'updated_at',
    ],
    relations: ['source_id', 'target_id'],
    others: false,
  },
  topics: () => ['cards', 'relations'],
  isDaily: true,
  async compute({ sql, ctx, params, cards, asOf, isHistorical }) {
    const stale = new Date(asOf.getTime() - STALE_DAYS * 86_400_000);
    const orphaned = `c.parent_id is null
            and not exists (select from relations r where r.source_id = c.id)
            and not exists (select from relations r where r.target_id = c.id)
            and not exists (select from cards p where p.parent_id = c.id)`;
    // orphaned cards of the past are found apart from the attributes, which would be built a second time
    const alone = isHistorical
      ? fragment`with alone as materialized (select c.id from cards c where ${embed(orphaned)})
          select count(*) from seen s where s.id in (select a.id from alone a)`
      : fragment`select count(*) from cards c where ${embed(cards)} and ${embed(orphaned)}`;
    // few groups first: a comparison of decimals for each card takes longer than finding its group; a card that was
    // created since cannot be stale, which spares looking for its last change. The cards of the past are built once, those
    // of now are read twice, as all processors can do it
    return await query(sql).value`with seen as ${embed(isHistorical ? 'materialized' : 'not materialized')} (
         select c.id, c.type, ${embed(qualityIn(ctx))} as data_quality, c.lifecycle <> '{}' as with_lifecycle,
                c.created_at < ${stale} and c.updated_at < ${stale} as stale
         from cards c where ${embed(cards)}
       ), counted as (
         select c.type, c.data_quality as quality, count(*) as cards,
                count(*) filter (where c.with_lifecycle) as with_lifecycle, count(*) filter (where c.stale) as stale
         from seen c group by 1, 2
      ), by_type as (
         select type, sum(cards) as total, coalesce(sum(cards) filter (where quality is not null), 0) as rated,
                coalesce(sum(cards) filter (where quality >= 80), 0) as complete,
                coalesce(sum(cards) filter (where quality >= 40 and quality < 80), 0) as partial,
                coalesce(sum(cards) filter (where quality < 40), 0) as minimal,
                sum(quality * cards) as quality, sum(with_lifecycle) as with_lifecycle, sum(stale) as stale
         from counted group by type
       ), worst as (
         select w.id, c.name, w.type, w.data_quality, utc(c.updated_at) as updated_at
         from (select s.id, s.type, s.data_quality from seen s where s.data_quality is not null
               order by s.data_quality, s.id limit ${params.worst}) w
         join cards c on c.id = w.id
       )
       select json_build_object(
         'overall_data_quality', coalesce(round(sum(quality) / nullif(sum(rated), 0), 1), 0),
         'total_items', coalesce(sum(total), 0),
         'unrated', coalesce(sum(total - rated), 0),
         'with_lifecycle', coalesce(sum(with_lifecycle), 0),
         'orphaned', (${embed(alone)}),
         'stale', coalesce(sum(stale), 0),
         'by_type', coalesce(json_agg(json_build_object('type', type, 'total', rated, 'complete', complete,
           'partial', partial, 'minimal', minimal, 'avg_data_quality', round(quality / nullif(rated, 0), 1)) order by type)
           filter (where rated > 0), '[]'),
         'worst_items', (select coalesce(json_agg(w order by w.data_quality, w.id), '[]') from worst w))::text as result
       from by_type`;
  },
  tables: (result) => [
    resultTable(Result, result, 'by_type'),
    resultTable(Result, result, 'worst_items'),
    totalsTable(result),
  ],
  chart: (result, _params, context) => dataQualityChart(result, context),
});

/** The data quality of a card, null if nothing counts for it, over the alias `c`. */
function qualityIn({ metamodel }: Ctx): Fragment {
  const unrated = [...metamodel.cardTypes.values()].flatMap((type) =>
    [null, ...type.subtypes.map(({ key }) => key)]
      .filter((subtype) => !hasQuality(type, subtype))
      .map((subtype) => `${type.key}/${subtype ?? ''}`),
  );
  return unrated.length === 0
    ? fragment`c.data_quality`
    : fragment`case when c.type || '/' || coalesce(c.subtype, '') = any(${unrated}::text[]) then null else c.data_quality end`;
}

/** Number of listed cards. */
const LISTED = 12;

/** The parts of each type in the colours of quality, worst type first, and what to fill first. */
function dataQualityChart(result: Result, context: ChartContext): Chart {
  const {
    by_type,
    worst_items,
    overall_data_quality,
    total_items,
    unrated,
    orphaned,
    stale,
    with_lifecycle,
  } = result;
  const ofAll = (count: number) => share(total_items === 0 ? 0 : count / total_items);
  const empty = [...context.metamodel.cardTypes].filter(
    ([key, { is_hidden }]) => !is_hidden && by_type.every(({ type }) => type !== key),
  );
  const types = empty.map(([, { plural }]) => plural).join(', ');
  const share = (part: number) => formatShare(part, context);
  const note =
    empty.length === 0 || by_type.length === 0
      ? reportText(context, 'quality.byType.note')
      : reportText(context, 'quality.byType.without', { types });
  return {
    kind: 'panels',
    title: reportText(context, 'quality.title'),
    note: reportText(context, 'quality.note', { count: total_items }),
    panels: [
      {
        kind: 'figures',
        title: reportText(context, 'quality.glance'),
        items: [
          {
            name: reportText(context, 'quality.average'),
            value: total_items > unrated ? overall_data_quality : null,
            unit: 'percent',
            hint: reportText(context, 'quality.ofCards', { count: total_items - unrated }),
          },
          {
            name: reportText(context, 'quality.lifecycle'),
            value: with_lifecycle,
            unit: 'count',
            hint: ofAll(with_lifecycle),
          },
          {
            name: reportText(context, 'quality.orphaned'),
            value: orphaned,
            unit: 'count',
            hint: ofAll(orphaned),
          },
          {
            name: reportText(context, 'quality.stale', { days: STALE_DAYS }),
            value: stale,
            unit: 'count',
            hint: ofAll(stale),
          },
        ],
      },
      {
        kind: 'bars',
        wide: true,
        title: reportText(context, 'quality.byType'),
        note: unrated > 0 ? reportText(context, 'quality.byType.unrated', { note, cards: unrated }) : note,
        itemAxis: reportText(context, 'quality.typeAndAverage'),
        valueAxis: reportText(context, 'axis.cards'),
        unit: 'count',
        series: [
          reportText(context, 'quality.minimal'),
          reportText(context, 'quality.partial'),
          reportText(context, 'quality.complete'),
        ],
        paints: [{ quality: 0 }, { quality: 1 }, { quality: 3 }],
        parts: true,
        items: by_type
          .toSorted((a, b) => a.avg_data_quality - b.avg_data_quality || b.total - a.total)
          .map(({ type, complete, partial, minimal, avg_data_quality }) => ({
            name: typePlural(context, type),
            hint: share(avg_data_quality / 100),
            values: [minimal, partial, complete],
          })),
      },
      {
        kind: 'list',
        wide: true,
        title: reportText(context, 'quality.fill'),
        columns: [
          { name: reportText(context, 'axis.card'), share: 50 },
          { name: reportText(context, 'axis.type'), share: 30 },
          { name: reportText(context, 'axis.dataQuality'), share: 20, right: true },
        ],
        rows: worst_items.slice(0, LISTED).map(({ id, name, type, data_quality }) => ({
          id,
          cells: [name, typeLabel(context, type), share(data_quality / 100)],
          paint: typePaint(context, type),
        })),
      },
    ],
  };
}

const totalsTable = (result: Result): ReportTable => {
  const { overall_data_quality, total_items, unrated, with_lifecycle, orphaned, stale } = result;
  return figuresTable('totals', {
    overall_data_quality,
    total_items,
    unrated,
    with_lifecycle,
    orphaned,
    stale,
  });
};
