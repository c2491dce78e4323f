import { type Row, row } from '../matrix.row.ts';

const url = '/api/v1/eol';
const seeing = '+ + + + - - 0';
const linking = '+ + + - - - 0';
// facts in the place of the source's; the integrator may change settings
const administering = '+ - - - + - 0';

const facts = { result: [{ name: 'made-up', releases: [] }] };

export const eolRows: Row[] = [
  row(`GET ${url}/products`, seeing),
  row(`GET ${url}/products/fuzzy`, seeing, () => ({ query: 'search=postgres' })),
  row(`GET ${url}/products/{product}`, seeing, () => ({ path: { product: 'postgresql' } })),
  row(`POST ${url}/mass-search`, linking, () => ({ query: 'type_key=ITComponent' })),
  row(`POST ${url}/mass-link`, linking, async (w) => ({
    body: [{ card_id: await w.card(), eol_product: 'python', eol_cycle: '3.12' }],
  })),
  row('GET /reports/eol', '+ + + + - - 0'),
  row(`POST ${url}/refresh`, linking, async (w) => {
    // one at a time
    await w.t.services.db('jobs').where({ kind: 'eol_refresh' }).update({ status: 'cancelled' });
    return {};
  }),
  row(`POST ${url}/facts`, administering, () => ({ body: facts })),
];
