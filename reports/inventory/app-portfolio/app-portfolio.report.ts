import Type, { type TSchema } from 'typebox';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { lifecyclePhases, SectionSchema } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { arrayOf, Nullable, OpenObject, Uuid } from '../../../domain/kernel/shapes.ts';
import { embed, fragment } from '../../../platform/database.ts';
import { literal } from '../../../platform/literals.ts';
import { entireTable, type Snapshot, snapshotOn } from '../../../platform/snapshot.ts';
import {
  type ChartContext,
  phaseLegend,
  phaseOn,
  typeNames,
  WELL_FILLED,
} from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';
import { ReportBody } from '../../kernel/report.body.ts';
import { column } from '../../kernel/report.formats.ts';
import { numberedLines } from '../../kernel/report.numbered.ts';
import { typeOf, typeParam } from '../../kernel/report.params.ts';
import {
  App,
  CardsByType,
  cardsByName,
  Named,
  relatedCard,
  relatedTable,
  TagGroups,
  tagGroupsOf,
} from '../../kernel/report.related.ts';
import { writeRelatedCards } from '../../kernel/report.related-cards.ts';
import { idKey, idsIn } from '../../kernel/report.rows.ts';
import { jsonLine, type Lifecycle } from '../../kernel/report.sql.ts';
import { reportText } from '../../kernel/report.texts.ts';
import {
  defineReport,
  pagedReportSchema,
  type StreamedTable,
  type StreamInput,
} from '../../kernel/report.ts';
import { ItemWriter } from './app-portfolio.items.ts';
import {
  itemRows,
  organizations,
  organizationsOf,
  type RelationKind,
  relationKinds,
} from './app-portfolio.sql.ts';

const Result = pagedReportSchema('AppPortfolioReport', {
  items: arrayOf({
    ...App,
    relations: arrayOf({
      relation_type: Type.String(),
      related_id: Uuid,
      related_name: Type.String(),
      related_type: Type.String(),
      attributes: OpenObject,
    }),
  }),
  fields_schema: Type.Array(SectionSchema),
  relation_types: arrayOf({
    key: Type.String(),
    label: Type.String(),
    reverse_label: Nullable(Type.String()),
    source_type_key: Type.String(),
    target_type_key: Type.String(),
    other_type_key: Type.String(),
    translations: OpenObject,
    attributes_schema: Type.Array(OpenObject),
  }),
  groupable_types: CardsByType,
  organizations: arrayOf(Named),
  tag_groups: TagGroups,
});
interface Params {
  type: string;
}

/** The visible relation types of the card type, as in the response. */
const relationTypesOf = (ctx: Ctx, type: string) =>
  ctx.metamodel.visibleRelationTypes
    .map((key) => ctx.metamodel.relationTypes.get(key)!)
    .filter(({ source_type_key, target_type_key }) => [source_type_key, target_type_key].includes(type))
    .map((relation) => ({
      key: relation.key,
      label: relation.label,
      reverse_label: relation.reverse_label,
      source_type_key: relation.source_type_key,
      target_type_key: relation.target_type_key,
      other_type_key: relation.source_type_key === type ? relation.target_type_key : relation.source_type_key,
      translations: relation.translations,
      attributes_schema: relation.attributes_schema,
    }));

/** The cards of a type with all their relations, and the possible groupings. */
export const appPortfolioReport = defineReport({
  name: 'app-portfolio',
  id: 'readAppPortfolioReport',
  summary: 'Read the applications with their relations and possible groupings',
  permission: 'reports.portfolio',
  needs: ['relations.view'],
  params: { type: typeParam('Application') },
  typeParams: ['type'],
  result: Result as TSchema,
  topics: () => ['cards', 'relations', 'catalogues'],
  async compute(input) {
    const { sql, lines, rows, ctx, params, cards, visible, forPicture } = input;
    if (!forPicture) {
      const line = jsonLine({ id: { id: 'c.id' } });
      const read = await rows({
        from: fragment`cards c where c.type = ${params.type} and ${embed(cards)}`,
        keys: [idKey],
        line,
      });
      const snapshot = snapshotOn(await sql.client.acquireConnection());
      const pieces: (string | Buffer)[] = [];
      for await (const piece of jsonOf({ ...input, snapshot }, idsIn(read))) pieces.push(piece);
      return pieces;
    }
    return ['{"items":[\n', await lines(organizationsOf(ctx, params.type, cards, visible)), '\n]}'];
  },
  isPaged: true,
  long: 'items',
  // files of tens of thousands of cards with all that they are related to are too large for memory
  stream: {
    applies: () => true,
    open: (input) => ({ json: streamOf(input), tables: tablesOf(input) }),
  },
  tables: () => [],
  chart: (result, { type }, context) =>
    appPortfolioChart((result as { items: Iterable<Item> }).items, type, context),
});

/** The result piece by piece, without the position. @param ids of the cards; absent: all. */
async function* jsonOf(
  { snapshot, ctx, params: { type }, cards, visible, isHistorical }: Omit<StreamInput<Params>, 'position'>,
  ids?: string[],
): AsyncGenerator<string | Buffer> {
  const kinds = await relationKinds(snapshot, ctx, type);
  const related = numberedLines(await relatedLines(snapshot, kinds, ids ? relatedTo(ids, visible) : visible));
  const writer = new ItemWriter(related, kinds);
  const rows = itemRows(ctx, type, kinds, cards);
  const all = rows(ids ? (column) => `${column} = any(${literal(ids)}::uuid[])` : entireTable);
  yield '{"items":[';
  // with `as_of`, all rows are read in one statement
  yield* writer.items(
    isHistorical || ids
      ? snapshot.lines('rows', all.sql, all.bindings)
      : snapshot.ranges('rows', 'cards', rows),
  );
  yield `],"fields_schema":${JSON.stringify(typeOf(ctx, 'type', type).fields_schema)}`;
  yield `,"relation_types":${JSON.stringify(relationTypesOf(ctx, type))},"groupable_types":`;
  const picked = new ReportBody(related.bytes.length + 1024);
  writeRelatedCards(picked, related.bytes, related.numbers, writer.isRelated);
  yield picked.whole();
  const parts = { organizations: organizations(visible), tag_groups: tagGroupsOf(type) };
  for (const [name, { sql, bindings }] of Object.entries(parts)) {
    yield `,"${name}":`;
    for await (const { bytes } of snapshot.json(sql, bindings)) yield bytes;
  }
  yield '}';
}

/** The condition of the visible cards that are related to some cards. */
const relatedTo = (ids: string[], visible: Fragment): Fragment =>
  fragment`${embed(visible)} and c.id in (
    select r.target_id from relations r where r.source_id = any(${ids}::uuid[])
    union select r.source_id from relations r where r.target_id = any(${ids}::uuid[]))`;

/** The complete result. */
async function* streamOf(input: StreamInput<Params>): AsyncGenerator<string | Buffer> {
  let last: string | Buffer = '';
  for await (const piece of jsonOf(input)) {
    if (last !== '') yield last;
    last = piece;
  }
  const { snapshot, params, cards, position } = input;
  const statement = fragment`select count(*) as count from cards c where c.type = ${params.type} and ${embed(cards)}`;
  const [all] = await snapshot.query<{ count: string }>(statement.sql, statement.bindings);
  yield `,"row_count":${all!.count},"next_cursor":null,"position":"${position}"}`;
}

/** The possible related cards of a type, one per line. */
async function relatedLines(
  snapshot: Snapshot,
  kinds: readonly RelationKind[],
  visible: Fragment,
): Promise<Buffer> {
  const types = [...new Set(kinds.map(({ other }) => other))].sort();
  const chunks: Buffer[] = [];
  // one statement per type, so that they are sorted in parallel
  const parts = snapshot.parts(relatedCard, types.length, () =>
    types.map((type) => cardsByName([type], visible)),
  );
  for await (const { bytes } of parts) chunks.push(bytes);
  const whole = Buffer.concat(chunks);
  // without the comma and the line feed of the last line
  return whole.subarray(0, Math.max(0, whole.length - 2));
}

const tablesOf = ({ ctx, params: { type }, cards, visible }: StreamInput<Params>): StreamedTable[] => {
  const apps: Fragment = fragment`c.type = ${type} and ${embed(cards)}`;
  const related = relatedTable(ctx, type, visible);
  return [
    {
      name: 'items',
      columns: [
        column('id', 'key'),
        column('name'),
        column('subtype', 'key'),
        ...lifecyclePhases.map((phase) => column(phase, 'date')),
      ],
      cells: ['c.id', 'c.name', 'c.subtype', ...lifecyclePhases.map((phase) => `c.lifecycle ->> '${phase}'`)],
      before: fragment`with app as (select c.* from cards c where ${embed(apps)})`,
      from: 'from app c order by c.id',
    },
    {
      name: 'relations',
      columns: [
        column('id', 'key'),
        column('name'),
        ...['relation_type', 'related_id'].map((name) => column(name, 'key')),
        column('related_name'),
        column('related_type', 'key'),
      ],
      cells: ['app.id', 'app.name', 'l.relation_type', 'l.other_id', 'l.other_name', 'l.other_type'],
      before: fragment`with app as (select c.id, c.name from cards c where ${embed(apps)}), ${embed(related)}`,
      from: 'from app join related l on l.card_id = app.id order by app.id, l.relation_type, l.relation_id',
    },
  ];
};

interface Item {
  lifecycle: Lifecycle;
  organizations: { id: string; name: string }[];
}

/** Maximum number of bars. */
const MOST = 60;

/** One bar per organization with its related cards, stacked by lifecycle phase; by phase alone if few cards have one. */
function appPortfolioChart(items: Iterable<Item>, type: string, context: ChartContext): Chart {
  const legend = phaseLegend(context);
  const phases = legend.map(({ name }) => name);
  const NONE = reportText(context, 'appPortfolio.none');
  const bars = new Map<string, { name: string; values: number[] }>();
  const counts = phases.map(() => 0);
  let [cards, having] = [0, 0];
  for (const { lifecycle, organizations } of items) {
    cards += 1;
    const phase = phases.indexOf(phaseOn(lifecycle, context));
    counts[phase]! += 1;
    if (organizations.length > 0) having += 1;
    for (const { id, name } of organizations.length > 0 ? organizations : [{ id: NONE, name: NONE }]) {
      const bar = bars.get(id) ?? { name, values: phases.map(() => 0) };
      bar.values[phase]! += 1;
      bars.set(id, bar);
    }
  }
  const used = phases.map((_, phase) => [...bars.values()].some(({ values }) => values[phase]! > 0));
  const size = ({ values }: { values: number[] }) => values.reduce((sum, value) => sum + value, 0);
  const places = [...bars.values()].reduce((sum, bar) => sum + size(bar), 0);
  const names = typeNames(context, type);
  if (having < cards * WELL_FILLED || having === 0) {
    return {
      kind: 'bars',
      title: reportText(context, 'appPortfolio.byPhase', names),
      note: reportText(context, cards > 0 ? 'appPortfolio.fewHave' : 'appPortfolio.cards', {
        count: cards,
        having,
      }),
      itemAxis: reportText(context, 'axis.phase'),
      valueAxis: reportText(context, 'axis.cards'),
      unit: 'count',
      series: [reportText(context, 'axis.cards')],
      items: legend.flatMap(({ name, paint }, phase) =>
        used[phase] ? [{ name, paint, values: [counts[phase]!] }] : [],
      ),
    };
  }
  const none = bars.get(NONE);
  bars.delete(NONE);
  const ranked = [...bars.values()].sort((a, b) => size(b) - size(a));
  // the cards without an organization are always drawn
  if (none) ranked.splice(MOST - 1, 0, none);
  return {
    kind: 'bars',
    title: reportText(context, 'appPortfolio.byOrganization', names),
    note: reportText(context, places > cards ? 'appPortfolio.each' : 'appPortfolio.cards', {
      count: cards,
      places,
    }),
    paints: legend.filter((_, phase) => used[phase]).map(({ paint }) => paint),
    most: MOST,
    itemAxis: reportText(context, 'axis.organization'),
    valueAxis: reportText(context, 'axis.cards'),
    unit: 'count',
    series: phases.filter((_, phase) => used[phase]),
    items: ranked.map(({ name, values }) => ({ name, values: values.filter((_, phase) => used[phase]) })),
  };
}
