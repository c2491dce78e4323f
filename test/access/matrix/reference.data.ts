import { serveResponses } from '../../emulators/http.ts';
import type { LoopbackServer } from '../../support/loopback.ts';
import { type Row, row } from '../matrix.row.ts';

const catalogues = ['capability', 'process', 'value-stream'] as const;
const roots = { capability: 'BC-100', process: 'BP-100', 'value-stream': 'VS-100' };

let served: Promise<LoopbackServer> | undefined;

/** The address of a published catalogue. */
async function published(): Promise<string> {
  const document = { catalogue_version: '2', nodes: [{ id: 'N-1', names: { en: 'New' } }] };
  served ??= serveResponses(() => ({ status: 200, body: document }));
  return (await served).origin;
}

/** Whoever sees the inventory reads catalogues, whoever makes cards imports; the metamodel's keepers load them. */
export const referenceRows: Row[] = catalogues.flatMap((name) => {
  const path = `/api/v1/${name}-catalogue`;
  return [
    // operation               A B M V I P 0
    row(`GET ${path}`, '+ + + + + - 0'),
    row(`POST ${path}/import`, '+ + + - - - 0', () => ({ body: { catalogue_ids: [roots[name]] } })),
    row(`POST ${path}/compare`, '+ - - - - - 0', async () => ({ body: { url: await published() } })),
    row(`PUT ${path}`, '+ - - - - - 0', () => ({
      body: { catalogue_version: '1', nodes: [{ id: roots[name], names: { en: `Top of ${name}` } }] },
    })),
    row(`DELETE ${path}`, '+ - - - - - 0', async ({ t }) => {
      await t.services
        .db('reference_catalogues')
        .insert({ kind: name.replace('-', '_'), catalogue_version: '1', source: 'test', nodes: '[]' })
        .onConflict('kind')
        .ignore();
      return {};
    }),
  ];
});
