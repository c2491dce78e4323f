import { type BenchArgs, parseBenchArgs } from './harness/args.ts';
import { measureU } from './harness/database.ts';
import { formatRows, type Row } from './harness/rows.ts';
import type { Context, Scenario } from './harness/scenario.ts';
import { startService } from './harness/service.ts';
import { type LandscapeLoad, loadLandscape } from './harness/workspace.ts';
import * as analyses from './scenarios/analyses.ts';
import { analysisCrashes } from './scenarios/analysis-crashes.ts';
import { duplicates, duplicatesSize } from './scenarios/duplicates.ts';
import { eventLoop } from './scenarios/event-loop.ts';
import * as exports from './scenarios/exports.ts';
import * as itsm from './scenarios/itsm.ts';
import { largeReports } from './scenarios/large.ts';
import * as reads from './scenarios/reads.ts';
import * as reports from './scenarios/reports.ts';
import { stream } from './scenarios/stream.ts';
import { warnings } from './scenarios/warnings.ts';
import { web } from './scenarios/web.ts';
import * as writes from './scenarios/writes.ts';

/** In the order in which they run; the first that needs the landscape has it loaded. */
const scenarios: Scenario[] = [
  ...[writes.importAll, writes.landscape],
  ...[reads.list, reads.card, reads.search, reads.filter],
  ...[exports.exportCsv, exports.exportXlsx, exports.exportWorkbook, reads.odata, exports.extracts],
  ...[reports.dashboardComputed, reports.dashboardCached, reports.reports, reports.landscapeReports],
  ...[stream, writes.bulkUpdate, writes.rollback, writes.recalculate],
  ...[reports.past, analyses.portfolioAnalysis, reports.reportGraphs, analyses.architect, reports.eol],
  ...[itsm.itsmLimits, itsm.itsmPush, itsm.itsmSync, itsm.itsmUndo],
  ...[
    duplicates,
    duplicatesSize,
    warnings,
    analyses.compliance,
    analyses.complianceReadings,
    analysisCrashes,
  ],
  ...[reports.ppm, exports.workspace, largeReports, eventLoop, web],
];

const log = (text: string) => console.log(`# ${text}`);

/** Runs the scenarios; one that throws fails the bench, but not the ones after it. */
async function runAll(chosen: Scenario[], context: Context): Promise<boolean> {
  const rows: Row[] = [];
  const failures: string[] = [];
  for (const { name, loadsItself, run } of chosen) {
    log(name);
    try {
      if (!loadsItself) await context.loadLandscape();
      rows.push(...(await run(context)));
    } catch (error) {
      failures.push(`${name}: ${(error as Error).stack}`);
    }
  }
  if (rows.length > 0) console.log(formatRows(rows));
  for (const text of failures) console.log(`FAIL ${text}`);
  return failures.length === 0 && rows.every((row) => row.ok);
}

function chooseScenarios({ only }: BenchArgs): Scenario[] {
  const known = scenarios.map(({ name }) => name);
  const unknown = only.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new RangeError(`There is no scenario ${unknown.join(', ')}; there are ${known.join(', ')}.`);
  return scenarios.filter(({ name, onlyNamed = false }) =>
    only.length === 0 ? !onlyNamed : only.includes(name),
  );
}

async function bench(args: BenchArgs): Promise<boolean> {
  const chosen = chooseScenarios(args);
  log('starting the service');
  await using service = await startService();
  const { client, api } = service;
  let loaded: LandscapeLoad | undefined;
  const load = async () => {
    if (loaded) return loaded;
    log(`importing ${args.cards} cards and ${args.relations} relations, seed ${args.seed}`);
    loaded = await loadLandscape(service, args);
    return loaded;
  };
  return await runAll(chosen, {
    ...{ args, service, client, api, log },
    loadLandscape: load,
    unit: () => measureU(client),
  });
}

// an exit in order ends the processes that were started
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

process.exitCode = (await bench(parseBenchArgs(process.argv.slice(2)))) ? 0 : 1;
