import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { median } from '../harness/stats.ts';

const ROUNDS = 5;
/** One in so many applications and IT components is linked to a product. */
const LINKED = 4;

async function run({ service, client, unit }: Context): Promise<Row[]> {
  const floor = await unit();
  await client.query(
    `with cycles as (
       select product, cycle, row_number() over (order by product, cycle) - 1 as n, count(*) over () as total from eol_cycles
     ), chosen as (
       select id, row_number() over (order by id) as n from cards
       where type in ('Application', 'ITComponent') and status = 'ACTIVE'
     )
     update cards c set attributes = coalesce(c.attributes, '{}')
       || jsonb_build_object('eol_product', y.product, 'eol_cycle', y.cycle)
     from chosen k join cycles y on y.n = (k.n / ${LINKED}) % y.total
     where c.id = k.id and k.n % ${LINKED} = 0`,
  );
  const times: number[] = [];
  const pages: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await client.query(
      `select record_events('[]', array(select topic from topic_versions where topic like 'cards:%'))`,
    );
    const start = performance.now();
    await service.api.get('/reports/eol');
    times.push(performance.now() - start);
    const page = performance.now();
    await service.api.post(`/eol/mass-search?type_key=ITComponent&page_size=200&page=${round + 1}`, {});
    pages.push(performance.now() - page);
  }
  return [
    under({ figure: 'end of life, computed', value: median(times), unit: 'ms', floor }, 2),
    under({ figure: 'products proposed for 200 cards', value: median(pages), unit: 'ms', floor }, 0.5),
  ];
}

/** What it costs to tell what ends in a large landscape, and to propose products for its cards, in the unit U. */
export const eol = { name: 'eol', run };
