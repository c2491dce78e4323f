import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import ExcelJS from 'exceljs';
import { openDatabase } from '../../../platform/database.ts';
import { withSnapshot } from '../../../platform/snapshot.ts';
import { planExtraction } from '../../../reports/exchange/extraction/extraction.plan.ts';
import { cardSource, readRows } from '../../../reports/exchange/extraction/extraction.rows.ts';
import { readTable } from '../../../reports/kernel/formats/binary-rows.ts';
import type { Cell, ColumnType } from '../../../reports/kernel/formats/formats.types.ts';
import { exportRequest } from '../../support/exports.ts';
import { benchContext } from '../harness/context.ts';
import { timed } from '../harness/measure.ts';
import { answerMessages } from '../harness/programs.ts';

const YIELD_EVERY = 2_000;

type Value = string | number | boolean | Date | null;

function valueIn(cell: Cell, type: ColumnType): Value {
  if (cell === null || cell === undefined) return null;
  if (type === 'date' || type === 'datetime') return new Date(cell as string);
  return Array.isArray(cell) ? cell.join(';') : (cell as Value);
}

/** All cells of an export of all cards, read into memory before the clock starts. */
async function readAll(databaseUrl: string): Promise<{ headers: string[]; rows: Value[][] }> {
  const db = openDatabase({ url: databaseUrl, name: 'bench baseline', poolMax: 2 });
  const ctx = await benchContext(db);
  try {
    const plan = await planExtraction(ctx, exportRequest({ format: 'xlsx' }));
    return await withSnapshot(db, async (snapshot) => {
      const table = readTable(await readRows(snapshot, cardSource(ctx, plan.cards), plan.columns));
      const rows: Value[][] = [];
      for await (const batch of table.batches) {
        for (const cells of batch) rows.push(cells.map((cell, at) => valueIn(cell, table.columns[at]!.type)));
      }
      return { headers: table.columns.map(({ header }) => header), rows };
    });
  } finally {
    await db.destroy();
  }
}

/** Writes the cells by the streaming writer of exceljs, without shared strings and styles. */
async function write(file: string, headers: string[], rows: Value[][]): Promise<void> {
  const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({
    stream: createWriteStream(file),
    useSharedStrings: false,
    useStyles: false,
    zip: { zlib: { level: 1 } },
  } as never);
  const sheet = workbook.addWorksheet('Cards');
  sheet.columns = headers.map((header) => ({ header }));
  for (const [at, row] of rows.entries()) {
    sheet.addRow(row).commit();
    if (at % YIELD_EVERY === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await sheet.commit();
  await workbook.commit();
}

/** Milliseconds of the writer alone, from the first row to the closed file. */
answerMessages(async ({ databaseUrl }: { databaseUrl: string }): Promise<number> => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-bench-xlsx-'));
  try {
    const { headers, rows } = await readAll(databaseUrl);
    return await timed(() => write(path.join(folder, 'cards.xlsx'), headers, rows));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
