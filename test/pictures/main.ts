import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Resvg } from '@resvg/resvg-js';
import { type Service, startService } from '../bench/harness/service.ts';
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

/** The card in the middle of a picture. */
const CENTER = 'PolicyDesk';

async function cardNamed({ api }: Service, name: string): Promise<string> {
  const { items } = await api.get<{ items: { id: string; name: string }[] }>(
    `/cards?type=Application&search=${encodeURIComponent(name)}`,
  );
  const found = items.find((item) => item.name === name);
  if (!found) throw new Error(`the demo landscape has no ${name}`);
  return found.id;
}

/**
 * Writes a picture of each report and of some queries on the demo landscape to docs/pictures; with a folder as argument also as PNG
 * there, to be looked at.
 */
async function writePictures(pngFolder: string | undefined): Promise<void> {
  const folder = path.resolve(import.meta.dirname, '../../docs/pictures');
  await mkdir(folder, { recursive: true });
  await using service = await startService({ DEMO: 'true' });
  await storeSnapshots(service.client);
  await takeOnWork(service.api);
  await drawProcesses(service.api);
  const around = `dependencies?depth=1&center_id=${await cardNamed(service, CENTER)}`;
  const accept = 'image/svg+xml';
  const write = async (name: string, answer: Response) => {
    const svg = await answer.text();
    await writeFile(path.join(folder, `${name}.svg`), svg);
    if (pngFolder === undefined) return;
    await writeFile(path.join(pngFolder, `${name}.png`), new Resvg(svg).render().asPng());
  };
  for (const [name, report] of Object.entries({ ...pictures, 'dependencies-around': around }))
    await write(name, await service.api.fetch(`/reports/${report}`, { headers: { accept } }));
  for (const [name, query] of Object.entries(queries))
    await write(name, await service.api.send('POST', '/reports/query', query, { accept }));
}

await writePictures(process.argv[2]);
