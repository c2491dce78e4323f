import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type ExcelJS from 'exceljs';
import { loadDemo } from '../../../../domain/app/demo/demo.load.ts';
import type { ExportRequest } from '../../../../domain/exchange/exports/export.job.ts';
import type { ImportOptions } from '../../../../domain/exchange/imports/imports.run.ts';
import { exported } from '../../../support/exports.ts';
import { askImport, importResult, openImports } from '../../../support/imports.ts';
import { readWorkbook } from '../../../support/workbook.ts';

/*
 * Workbooks that LibreOffice has saved. With INVENTORIES, a folder with `*.cards.csv` and `*.relations.csv`, their rows come in
 * before the demonstration landscape goes out.
 */

const run = promisify(execFile);
const SAVE_MS = 300_000;
const JOB_MS = 300_000;

await run('soffice', ['--version']).catch((error) => {
  throw new Error('soffice is missing: install libreoffice-calc, as .ci/run does', { cause: error });
});

/** The workbook as LibreOffice saves it. */
async function savedByOffice(file: Buffer): Promise<Buffer> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'estate-office-'));
  try {
    await writeFile(path.join(folder, 'in.xlsx'), file);
    await run(
      'soffice',
      [
        `-env:UserInstallation=file://${folder}/profile`,
        ...['--headless', '--convert-to', 'xlsx:Calc MS Excel 2007 XML', '--outdir', `${folder}/out`],
        `${folder}/in.xlsx`,
      ],
      { timeout: SAVE_MS, cwd: folder },
    );
    return await readFile(path.join(folder, 'out', 'in.xlsx'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const { t, imports } = await openImports();
const hard = [
  ['=SUM(A1)', "'+1"],
  ['_x000D_ and _x0041_', 'trailing '],
  [' leading', 'two\nlines\n'],
  ['dos\r\nlines', '\ttab'],
  ['😀 Größe', '0042'],
  ['1e5', 'TRUE'],
  ['2020-01-01', "'"],
].flat();

const imported = async (file: Buffer, options: Partial<ImportOptions>) =>
  await importResult(t.services, await askImport(await t.ctx(), t.services, file, options), JOB_MS);

async function fill() {
  await loadDemo(await t.ctx(), '2026-01-15');
  const rows = hard.map((text, n) => ({
    type: 'Application',
    external_id: `HARD-${n}`,
    name: `Hard ${n}`,
    description: text,
    lifecycle: { plan: '1850-02-28', active: '2020-02-29' },
    attributes: { costTotalAnnual: 123_456_789.123_456_7, commercialApplication: n % 2 === 0 },
  }));
  expect((await imports.run(rows)).faults).toEqual({});
  const folder = process.env.INVENTORIES;
  for (const kind of ['cards', 'relations'] as const) {
    const names = folder ? (await readdir(folder)).filter((name) => name.endsWith(`.${kind}.csv`)) : [];
    for (const name of names) {
      const { job } = await imported(await readFile(path.join(folder!, name)), { format: 'csv', kind });
      console.info(name, job.counts);
    }
  }
}

const exportOf = async (more: Partial<ExportRequest>): Promise<Buffer> => {
  const asked = { format: 'xlsx', layout: 'sheet_per_type', ...more } as const;
  return (await exported(t, await t.ctx(), asked, JOB_MS)).content;
};

interface Reported {
  external_id: string | null;
  changes: Record<string, { old: unknown; new: unknown }>;
}

/** What changes with a card. */
const derived = new Set(['data_quality', 'approval_status']);

/** The changes that the edits below do not explain. */
const unexplained = (report: Reported[]) =>
  report.filter(({ changes }) =>
    Object.entries(changes).some(
      ([field, { new: value }]) =>
        !derived.has(field) && !(field === 'description' && String(value).startsWith('edited in')),
    ),
  );

async function brought(file: Buffer, kind: 'cards' | 'relations') {
  const options = { format: 'xlsx', kind, mode: 'upsert', report: 'changes' } as const;
  const { job, report, faults } = await imported(file, options);
  return { counts: job.counts!, report: report as unknown as Reported[], faults };
}

const EDITS = 50;

/** The library reads escaped signs, among them the carriage return, and writes them without escaping them again. */
function keepEscapes(sheet: ExcelJS.Worksheet): void {
  sheet.eachRow((row) =>
    row.eachCell((cell) => {
      if (typeof cell.value === 'string')
        cell.value = cell.value.replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_').replaceAll('\r', '_x000D_');
    }),
  );
}

/** Writes into the descriptions of so many cards and relations, some of each sheet. */
function edit(book: ExcelJS.Workbook, title: string): { cards: number; relations: number } {
  const edited = { cards: 0, relations: 0 };
  const sheets = book.worksheets.filter(({ state, rowCount }) => state === 'visible' && rowCount > 1);
  for (const sheet of sheets) keepEscapes(sheet);
  for (let row = 2; edited.cards + edited.relations < EDITS; row += 1) {
    for (const sheet of sheets) {
      if (row > sheet.rowCount || edited.cards + edited.relations === EDITS) continue;
      const at = (sheet.getRow(1).values as unknown[]).indexOf(title);
      sheet.getRow(row).getCell(at).value = `edited in row ${row} of ${sheet.name}, ${title}`;
      edited[/^(Relations|Beziehungen)$/.test(sheet.name) ? 'relations' : 'cards'] += 1;
    }
  }
  return edited;
}

describe('a workbook that LibreOffice has saved', () => {
  beforeAll(fill, 600_000);

  for (const [headers, language, title] of [
    ['keys', 'en', 'description'],
    ['labels', 'en', 'Description'],
    ['labels', 'de', 'Beschreibung'],
  ] as const) {
    it(`comes back with ${headers} in ${language}: nothing changes but what is edited`, async () => {
      const saved = await savedByOffice(await exportOf({ headers, language }));
      for (const kind of ['cards', 'relations'] as const) {
        const { counts, report, faults } = await brought(saved, kind);
        expect({ report: report.slice(0, 20), faults }).toEqual({ report: [], faults: {} });
        expect(counts).toMatchObject({ created: 0, updated: 0, failed: 0 });
        expect(counts.unchanged).toBeGreaterThan(0);
      }
      const book = await readWorkbook(saved);
      const edited = edit(book, title);
      const file = Buffer.from(await book.xlsx.writeBuffer());
      for (const kind of ['cards', 'relations'] as const) {
        const { counts, report, faults } = await brought(file, kind);
        expect({ report: unexplained(report), faults }).toEqual({ report: [], faults: {} });
        expect(counts).toMatchObject({ created: 0, updated: edited[kind], failed: 0 });
      }
    }, 900_000);
  }
});
