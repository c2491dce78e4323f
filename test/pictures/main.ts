import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Service, startService } from '../bench/harness/service.ts';
import { importFolder } from './inventory.ts';
import { storeSnapshots } from './snapshots.ts';
import { drawProcesses, takeOnWork } from './work.ts';

/** The picture that is made of each report, by name of the file. */
const pictures: Record<string, string> = {
  dashboard: 'dashboard',
  'my-workspace': 'my-workspace',
  'admin-dashboard': 'admin-dashboard',
  'stakeholder-directory': 'stakeholder-directory',
  'data-quality': 'data-quality',
  landscape: 'landscape',
  portfolio: 'portfolio?size_field=costTotalAnnual',
  'app-portfolio': 'app-portfolio',
  matrix: 'matrix?row_type=Application&col_type=BusinessCapability',
  'matrix-data-flows': 'matrix?row_type=Application&col_type=Application&related_by=data_flow',
  'matrix-interfaces': 'matrix?row_type=Application&col_type=Interface',
  roadmap: 'roadmap?type=Application',
  eol: 'eol',
  cost: 'cost',
  'cost-treemap': 'cost-treemap?group_by=BusinessCapability',
  'capability-heatmap': 'capability-heatmap',
  'capability-heatmap-costs': 'capability-heatmap?metric=total_cost',
  dependencies: 'dependencies',
  kpis: 'kpis',
  'bpm-dashboard': 'bpm/dashboard',
  'bpm-capability-process-matrix': 'bpm/capability-process-matrix',
  'bpm-process-application-matrix': 'bpm/process-application-matrix',
  'bpm-process-dependencies': 'bpm/process-dependencies',
  'bpm-capability-heatmap': 'bpm/capability-heatmap',
  'bpm-element-application-map': 'bpm/element-application-map',
  'bpm-process-map': 'bpm/process-map',
  'bpm-value-stream-matrix': 'bpm/value-stream-matrix',
  'ppm-dashboard': 'ppm/dashboard',
  'ppm-gantt': 'ppm/gantt',
};

const cost = { fn: 'sum', field: 'attributes.costTotalAnnual' };

/** The picture that is made of each query, by name of the file. */
const queries: Record<string, object> = {
  'query-figures': {
    from: ['Application'],
    measures: [{ fn: 'count' }, cost, { fn: 'avg', field: 'data_quality' }],
  },
  'query-bars': {
    from: ['Application'],
    dimensions: [{ field: 'attributes.businessCriticality' }],
    measures: [{ fn: 'count' }, cost, { ...cost, fn: 'percentile', p: 0.5 }],
  },
  'query-stacked': {
    from: ['Application'],
    dimensions: [{ field: 'relation.relAppToITC.target.name' }, { field: 'attributes.businessCriticality' }],
  },
  'query-lines': {
    from: ['Application', 'ITComponent'],
    dimensions: [{ field: 'lifecycle.active', bucket: 'year' }, { field: 'type' }],
  },
};

/** Sizes and schemes in which pictures are looked at. */
const looks = ['width=1200', 'width=390', 'width=1200&theme=dark'];
/** The card in the middle of a picture. */
const CENTER = 'PolicyDesk';

/** The id of a card, or of the application with the most relations where none has this name. */
async function cardInMiddle({ api }: Service, name: string): Promise<string> {
  const { items } = await api.get<{ items: { id: string; name: string }[] }>(
    `/cards?type=Application&search=${encodeURIComponent(name)}`,
  );
  const found = items.find((item) => item.name === name);
  if (found) return found.id;
  const { nodes } = await api.get<{ nodes: { id: string; type: string }[] }>(
    '/reports/dependencies?type=Application',
  );
  const app = nodes.find(({ type }) => type === 'Application') ?? nodes[0];
  if (!app) throw new Error('the inventory has no cards');
  return app.id;
}

interface Asked {
  /** Folder for PNG of every size and scheme; absent: SVG to docs/pictures. */
  out: string | undefined;
  /** Folder of CSV files to import in place of the demo landscape. */
  data: string | undefined;
}

/**
 * Writes a picture of each report and of some queries: on the demo landscape as SVG to docs/pictures, or, to be looked at, as PNG in
 * several sizes and both schemes to a folder (`--out <folder>`), also of another inventory (`--data <folder of CSV files>`).
 */
async function writePictures({ out, data }: Asked): Promise<void> {
  const folder = out ?? path.resolve(import.meta.dirname, '../../docs/pictures');
  await mkdir(folder, { recursive: true });
  await using service = await startService({ DEMO: String(data === undefined) });
  if (data !== undefined) await importFolder(service, data);
  else {
    await storeSnapshots(service.client);
    await takeOnWork(service.api);
    await drawProcesses(service.api);
  }
  const around = `dependencies?depth=1&center_id=${await cardInMiddle(service, CENTER)}`;
  const write = async (name: string, pathOf: (look: string) => string, body?: object) => {
    const ask = async (look: string, accept: string) => {
      const at = `/reports/${pathOf(look)}`;
      const answer = body
        ? await service.api.send('POST', at, body, { accept })
        : await service.api.fetch(at, { headers: { accept } });
      return Buffer.from(await answer.arrayBuffer());
    };
    if (out === undefined)
      return await writeFile(path.join(folder, `${name}.svg`), await ask('', 'image/svg+xml'));
    for (const look of looks) {
      const file = `${name}-${look.replaceAll(/width=|theme=/g, '').replace('&', '-')}.png`;
      await writeFile(path.join(folder, file), await ask(look, 'image/png'));
    }
  };
  for (const [name, report] of Object.entries({ ...pictures, 'dependencies-around': around }))
    await write(name, (look) => (look ? `${report}${report.includes('?') ? '&' : '?'}${look}` : report));
  for (const [name, query] of Object.entries(queries))
    await write(name, (look) => (look ? `query?${look}` : 'query'), query);
}

const { values } = parseArgs({ options: { out: { type: 'string' }, data: { type: 'string' } } });
await writePictures({ out: values.out, data: values.data });
