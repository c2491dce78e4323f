import ExcelJS from 'exceljs';

export type Cell = ExcelJS.CellValue;

/** A workbook with these sheets, row by row. */
export async function workbook(sheets: Record<string, Cell[][]>): Promise<Buffer> {
  const book = new ExcelJS.Workbook();
  for (const [name, rows] of Object.entries(sheets)) {
    const sheet = book.addWorksheet(name);
    for (const row of rows) sheet.addRow(row);
  }
  return Buffer.from(await book.xlsx.writeBuffer());
}

/** A small snapshot as LeanIX writes one, with some of all that can go wrong in it. */
export const snapshot: Record<string, Cell[][]> = {
  ReadMe: [['Workspace', 'Acme'], ['Snapshot version', '4.2'], ['Made of hand']],
  Application: [
    [
      'id',
      'type',
      'displayName',
      'name',
      'description',
      'lifecycle:plan',
      'lifecycle:active',
      'businessCriticality',
      'costTotalAnnual',
      'tags',
      'tags:Region',
      'subscriptions:RESPONSIBLE',
      'relToParent',
      'relApplicationToITComponent',
      'relApplicationToProcess',
      'customScore',
      'status',
    ],
    ['ID', 'Type', 'Display name', 'Name', 'Description', 'Plan', 'Active', 'Criticality'],
    [
      'app-1',
      'Application',
      'Suite',
      'Suite',
      '=SUM(1;2)',
      null,
      new Date(Date.UTC(2020, 0, 31)),
      'Mission Critical',
      1200.5,
      'Phase: One; Loose',
      'North',
      'Ann <ann@estate.example>',
      null,
      'it-1; PostgreSQL',
      'Hire',
      7,
      'ACTIVE',
    ],
    [
      'app-2',
      'Application',
      'Suite / Payroll',
      'Payroll',
      { formula: 'A1', result: 'Pays people' } as Cell,
      '2019-01-01',
      '2020-02-30',
      'golden',
      'much',
      'Phase: One',
      null,
      'nobody@estate.example',
      'Suite',
      'it-1; Nowhere',
      null,
      null,
      null,
    ],
    [
      'app-3',
      'Application',
      'Old',
      'Old',
      null,
      null,
      null,
      null,
      null,
      null,
      null,
      null,
      null,
      null,
      null,
      null,
      'ARCHIVED',
    ],
    [
      'app-4',
      'Application',
      'Lost',
      'Lost',
      null,
      null,
      null,
      null,
      null,
      null,
      null,
      null,
      'No such parent',
    ],
    ['app-1', 'Application', 'Suite again', 'Suite again'],
    ['app-5', 'Application', 'Ring A', 'Ring A', null, null, null, null, null, null, null, null, 'app-6'],
    ['app-6', 'Application', 'Ring B', 'Ring B', null, null, null, null, null, null, null, null, 'app-5'],
    ['app-7', 'Application', ' ', ' '],
  ],
  ITComponent: [
    ['id', 'type', 'name', 'category', 'relITComponentToApplication', 'relToRequires'],
    ['it-1', 'ITComponent', 'PostgreSQL', 'software', 'app-1', 'it-2'],
    ['it-2', 'ITComponent', '@cmd', 'toaster'],
  ],
  Process: [
    ['id', 'type', 'name'],
    ['pr-1', 'Process', 'Hire'],
  ],
  Widget: [
    ['id', 'type', 'name'],
    ['w-1', 'Widget', 'Something else'],
  ],
};
