import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { importFile } from './harness/api.ts';
import { type BenchArgs, parseBenchArgs } from './harness/args.ts';
import { connect, measureU, settle } from './harness/database.ts';
import { loadDirect } from './harness/load-direct.ts';
import { formatRows, type Row } from './harness/rows.ts';
import type { Context, LandscapeLoad, Scenario } from './harness/scenario.ts';
import { type Service, startService } from './harness/service.ts';
import { prepareWorkspace } from './harness/workspace.ts';
import { type LandscapeFiles, writeLandscape } from './landscape/csv.ts';
import { benchMatching } from './matching/bench.ts';
import { analysisDeaths } from './scenarios/analysis-deaths.ts';
import { architect } from './scenarios/architect.ts';
import { bulkUpdate } from './scenarios/bulk-update.ts';
import { card } from './scenarios/card.ts';
import { compliance } from './scenarios/compliance.ts';
import { complianceReadings } from './scenarios/compliance-readings.ts';
import { dashboardCached } from './scenarios/dashboard-cached.ts';
import { dashboardComputed } from './scenarios/dashboard-computed.ts';
import { duplicates } from './scenarios/duplicates.ts';
import { eol } from './scenarios/eol.ts';
import { exportCsv } from './scenarios/export-csv.ts';
import { exportXlsx } from './scenarios/export-xlsx.ts';
import { extracts } from './scenarios/extracts.ts';
import { filter } from './scenarios/filter.ts';
import { importAll } from './scenarios/import.ts';
import { itsmLimits } from './scenarios/itsm-limits.ts';
import { itsmPush } from './scenarios/itsm-push.ts';
import { itsmSync } from './scenarios/itsm-sync.ts';
import { itsmUndo } from './scenarios/itsm-undo.ts';
import { landscape } from './scenarios/landscape.ts';
import { landscapeReports } from './scenarios/landscape-reports.ts';
import { list } from './scenarios/list.ts';
import { odata } from './scenarios/odata.ts';
import { past } from './scenarios/past.ts';
import { portfolioAnalysis } from './scenarios/portfolio-analysis.ts';
import { ppm } from './scenarios/ppm.ts';
import { recalculate } from './scenarios/recalculate.ts';
import { reportGraphs } from './scenarios/report-graphs.ts';
import { reports } from './scenarios/reports.ts';
import { rollback } from './scenarios/rollback.ts';
import { search } from './scenarios/search.ts';
import { stream } from './scenarios/stream.ts';
import { workspace } from './scenarios/workspace.ts';

/** In the order in which they run; the first that needs the landscape pays for loading it. */
const scenarios: Scenario[] = [
  importAll,
  landscape,
  list,
  card,
  search,
  filter,
  exportCsv,
  exportXlsx,
  odata,
  extracts,
  dashboardComputed,
  dashboardCached,
  reports,
  landscapeReports,
  stream,
  bulkUpdate,
  rollback,
  recalculate,
  past,
  portfolioAnalysis,
  reportGraphs,
  architect,
  eol,
  itsmLimits,
  itsmPush,
  itsmSync,
  itsmUndo,
  duplicates,
  compliance,
  complianceReadings,
  analysisDeaths,
  ppm,
  workspace,
];

const log = (text: string) => console.log(`# ${text}`);

/** The value of the first call, for all calls. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

async function loadInto(service: Service, files: LandscapeFiles, args: BenchArgs): Promise<LandscapeLoad> {
  if (args.load === 'direct') {
    log('loading cards and relations past the import');
    return await loadDirect(service.databaseUrl, args);
  }
  log('importing cards');
  const start = performance.now();
  await importFile(service.api, 'cards', files.cardsFile);
  const between = performance.now();
  log('importing relations');
  await importFile(service.api, 'relations', files.relationsFile);
  return { cardsMs: between - start, relationsMs: performance.now() - between };
}

/** Runs the scenarios; one that throws fails the bench, but not the ones after it. */
async function runAll(chosen: Scenario[], context: Context): Promise<{ rows: Row[]; broken: string[] }> {
  const rows: Row[] = [];
  const broken: string[] = [];
  for (const scenario of chosen) {
    log(scenario.name);
    try {
      rows.push(...(await scenario.run(context)));
    } catch (error) {
      broken.push(
        `${scenario.name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
    }
  }
  return { rows, broken };
}

function chooseScenarios({ only }: BenchArgs): Scenario[] {
  const unknown = only.filter((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown.length > 0) {
    const known = scenarios.map((scenario) => scenario.name).join(', ');
    throw new RangeError(`There is no scenario ${unknown.join(', ')}; there are ${known}.`);
  }
  return scenarios.filter(({ name, onlyNamed = false }) =>
    only.length === 0 ? !onlyNamed : only.includes(name),
  );
}

async function bench(args: BenchArgs): Promise<boolean> {
  const chosen = chooseScenarios(args);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-bench-files-'));
  try {
    log(`writing ${args.cards} cards and ${args.relations} relations, seed ${args.seed}`);
    const files = await writeLandscape({ out: folder, ...args });
    log('starting the service');
    await using resources = new AsyncDisposableStack();
    const service = resources.adopt(await startService(), (started) => started.stop());
    const client = resources.adopt(await connect(service.databaseUrl), (connection) => connection.end());
    await prepareWorkspace(client);
    const loadLandscape = once(async () => {
      const loaded = await loadInto(service, files, args);
      await settle(client);
      return loaded;
    });
    const unit = async () => {
      await loadLandscape();
      return await measureU(client);
    };
    const { rows, broken } = await runAll(chosen, { args, service, client, files, loadLandscape, unit, log });
    if (rows.length > 0) console.log(formatRows(rows));
    for (const text of broken) console.log(`FAIL ${text}`);
    return broken.length === 0 && rows.every((row) => row.ok);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

// leaving in order lets the processes that were started end too
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const [first, ...others] = process.argv.slice(2);
// matching needs no service
if (first === 'matching') benchMatching(others);
else process.exitCode = (await bench(parseBenchArgs(process.argv.slice(2)))) ? 0 : 1;
