import { type Downloaded, drain, exportByJob, type Measured, measureWork } from '../harness/export.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';

const MB = 1_000_000;
const ROUNDS = 3;

async function run(context: Context): Promise<Row[]> {
  const { service, client } = context;
  const { api } = service;
  const unit = await context.unit();
  const { rows } = await client.query<{ lines: number }>('select count(*)::int + 1 as lines from cards');
  let short = 0;
  const count = ({ lineBreaks }: Downloaded) => {
    if (lineBreaks < rows[0]!.lines) short += 1;
  };
  const job = await measureWork(service.pid, ROUNDS, async () => count(await exportByJob(api, 'csv')));
  const streamed = await measureWork(service.pid, ROUNDS, async () =>
    count(await drain(await api.fetch('/cards/export/csv'))),
  );
  const figures = (name: string, { ms, growthBytes }: Measured): Row[] => [
    under({ figure: name, value: ms, unit: 'ms', floor: unit }, 4),
    under({ figure: `${name}, memory growth`, value: growthBytes / MB, unit: 'MB' }, 100),
  ];
  return [
    ...figures('CSV of all, by a job', job),
    ...figures('CSV of all, streamed', streamed),
    within({ figure: 'CSV files that lack lines', value: short, unit: 'files' }, 0, 0),
  ];
}

/** All cards as CSV: by a job, request to last byte, and streamed at once. */
export const exportCsv = { name: 'export-csv', run };
