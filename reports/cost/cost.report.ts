import { requirePermission } from '../../domain/access/policy.ts';
import { column } from '../report.formats.ts';
import { typeOf, typeParam } from '../report.params.ts';
import { jsonLine, numberIn } from '../report.sql.ts';
import { defineReport } from '../report.ts';
import { costChart } from './cost.chart.ts';

interface Params {
  type: string;
}

interface Answer {
  items: { id: string; name: string; cost: number }[];
  total: number;
}

/** What cards cost: the sum of all cost fields of each. */
export const costReport = defineReport<Params, Answer>({
  name: 'cost',
  id: 'readCostReport',
  summary: 'Read what the cards of a type cost',
  description:
    'The sum of all cost fields of each card, the highest first; cards without costs are left out.',
  permission: 'reports.ea_dashboard',
  permissionNote: 'and costs.view',
  params: { type: typeParam('Application') },
  timeTravel: true,
  check(ctx, { type }) {
    requirePermission(ctx.caller, 'costs.view');
    typeOf(ctx, 'type', type);
  },
  dependsOn: (topic, { type }) => topic === `cards:${type}` || topic === 'metamodel',
  variant: () => '',
  async compute({ sql, lines, ctx, params, cards }) {
    const { costKeys } = typeOf(ctx, 'type', params.type);
    const cost = costKeys.map((key) => numberIn('c.attributes', key)).join(' + ') || '0';
    const priced = `(select c.id, c.name, ${cost} as cost from cards c where c.type = ? and ${cards.sql} offset 0) priced`;
    const bindings = [params.type, ...cards.bindings];
    const item = jsonLine({ id: { id: 'id' }, name: { text: 'name' }, cost: { json: 'cost' } });
    const { rows } = await sql.raw(
      `select coalesce(sum(cost), 0)::text as total from ${priced}`,
      bindings as never,
    );
    return [
      '{"items":[\n',
      await lines({ sql: `select ${item} from ${priced} where cost <> 0 order by cost desc, id`, bindings }),
      `\n],"total":${rows[0].total}}`,
    ];
  },
  long: 'items',
  tables: ({ items }) => [
    {
      name: 'items',
      columns: [column('id', 'key'), column('name'), column('cost', 'number')],
      rows: items.map(({ id, name, cost }) => [id, name, cost]),
    },
  ],
  chart: ({ items }, { type }, context) => costChart(items, type, context),
});
