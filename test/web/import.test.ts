import { readFile } from 'node:fs/promises';
import { startWorkers } from '../../workers/runtime.ts';
import { person } from '../support/accounts.ts';
import { closeAfterAll } from '../support/harness.ts';
import { readWorkbook, workbook, XLSX } from '../support/workbook.ts';
import { eventually, openInventory } from './inventory.ts';

const { t, admin, open } = await openInventory();
closeAfterAll(await startWorkers(t.services));

const file = (text: string) => ({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
const namesOf = async (search: string) => {
  const { items } = (await admin.get(`/api/v1/cards?type=Application&search=${search}&fields=name`)).body;
  return (items as { name: string }[]).map(({ name }) => name);
};

test.each([
  { width: 1440, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const)('a file is matched, mended, shown, imported and taken back, $width px', async (look) => {
  const { page, problems, accessibility } = await open('/import?type=Application', look);
  expect(await accessibility()).toEqual([]);
  await page
    .locator('input[type=file]')
    .setInputFiles(
      file(
        'Name;Hosting Type;Number of Users;Colour\nLedger;Cloud (SaaS);311;red\nPayroll;Cloud (SaS);40;blue\nBadge office;On-Premise;12;\n',
      ),
    );
  await page.getByText('3 of 4 columns matched').waitFor();

  // what was probably meant is offered for all rows with the same value
  await page.getByRole('button', { name: 'Use “Cloud (SaaS)”' }).click();
  await page.getByRole('radio', { name: 'Changed 1' }).waitFor({ state: 'attached' });
  await page.getByRole('row', { name: /Ledger.*Number of Users.*310.*311/ }).waitFor();
  expect(await accessibility()).toEqual([]);
  await page.getByRole('button', { name: 'Apply 3 of 3 rows' }).click();
  await page.getByRole('heading', { name: 'The file is imported' }).waitFor();
  expect(await namesOf('Payroll')).toEqual(['Payroll']);
  await page.getByRole('button', { name: 'Undo the import' }).click();
  await page.getByRole('heading', { name: 'The import is undone' }).waitFor();
  await page.getByText('3 rows are as before the import.').waitFor();
  expect(await page.getByText('New', { exact: true }).count()).toBe(0);
  await eventually(() => namesOf('Payroll')).toEqual([]);
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a sheet of a workbook is chosen, matched by headers in German, and imported', async () => {
  const { page, problems, accessibility } = await open('/import?type=Application');
  const buffer = await workbook({
    Overview: [['Our landscape'], ['made in spring']],
    Applications: [
      ['Name', 'Externe ID', 'Aktiv', 'Anzahl Nutzende', 'Hosting Type'],
      ['Tax register', 'X-1', new Date('2024-02-29T00:00Z'), 1234.5, 'On-Premise'],
      [],
      ['Badge office', 'X-2', null, 12, 'Cloud (SaS)'],
      ['Gate', 'X-3', 'soon', 1, 'On-Premise'],
    ],
  });
  await page.locator('input[type=file]').setInputFiles({ name: 'ours.xlsx', mimeType: XLSX, buffer });
  await page.getByText('0 of 1 column').waitFor();
  await page.getByRole('combobox', { name: 'Sheet' }).click();
  await page.getByRole('option', { name: 'Applications' }).click();
  await page.getByText('5 of 5 columns matched').waitFor();
  expect(await accessibility()).toEqual([]);

  // rows have the numbers of the sheet
  await page.getByRole('row', { name: /^4 Badge office/ }).waitFor();
  await page.getByRole('button', { name: 'Use “Cloud (SaaS)”' }).click();
  await page.getByRole('button', { name: 'Apply 2 of 3 rows' }).click();
  await page.getByRole('heading', { name: 'The file is imported' }).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Report of the refused rows' }).click();
  const refused = await readWorkbook(await readFile(await (await download).path()));
  expect(refused.worksheets[0]!.getRow(2).values).toContain('Gate');
  const fields = 'external_id,lifecycle,attributes';
  const { items } = (await admin.get(`/api/v1/cards?type=Application&search=Tax&fields=${fields}`)).body;
  expect(items).toContainEqual(
    expect.objectContaining({
      external_id: 'X-1',
      lifecycle: expect.objectContaining({ active: '2024-02-29' }),
      attributes: expect.objectContaining({ numberOfUsers: 1234.5, hostingType: 'onPremise' }),
    }),
  );
  expect(problems).toEqual([]);
  await page.context().close();
});

test('numbers of an export keep their decimal point on a German page', async () => {
  const { email } = await person(t, { role: 'admin', display_name: 'Nina German' });
  const { page, problems } = await open('/import?type=Application', { locale: 'de-DE' }, email);
  const text = 'external_id,name,attributes.numberOfUsers\nP-1,Point,1.234\n';
  await page.locator('input[type=file]').setInputFiles(file(text));
  await page.getByRole('row', { name: /Point.*1,23/ }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('all sheets of a workbook are imported at once in German, with their types and new tags', async () => {
  await t.services.db('tag_groups').insert({ name: 'Region' });
  const { email } = await person(t, { role: 'admin', display_name: 'Nora German' });
  const { page, problems, accessibility } = await open('/import', { locale: 'de-DE' }, email);
  const buffer = await workbook({
    Anwendungen: [['Hinweis']],
    Anwendung: [
      ['Name', 'Externe ID', 'Untertyp', 'Übergeordnet', 'Schlagwörter'],
      ['Steuer', 'Y-1', 'Microservice', null, 'Region/Nord'],
      ['Steuer Web', 'Y-2', 'Mikroservice', 'Steuer', null],
    ],
    Initiative: [
      ['Name', 'Externe ID', 'Status'],
      ['Ablösung', 'Y-3', 'Im Plan'],
    ],
  });
  await page.locator('input[type=file]').setInputFiles({ name: 'alle.xlsx', mimeType: XLSX, buffer });
  // one sheet has no such columns: its name and the column are named
  await page.getByRole('alert').filter({ hasText: 'Hinweis' }).waitFor();
  await page.getByRole('combobox', { name: 'Tabellenblatt' }).click();
  await page.getByRole('option', { name: 'Initiative' }).click();
  // the sheet is named after its type, and the column Status is its field
  await page.getByText('3 von 3 Spalten zugeordnet').waitFor();
  await page.getByRole('row', { name: /Ablösung.*Status.*Im Plan/ }).waitFor();

  const whole = await workbook({
    Anwendung: [
      ['Name', 'Externe ID', 'Untertyp', 'Übergeordnet', 'Schlagwörter'],
      ['Steuer', 'Y-1', 'Microservice', null, 'Region/Nord'],
      ['Steuer Web', 'Y-2', 'Mikroservice', 'Steuer', null],
      ['Steuer App', 'Y-4', null, 'Nirgends', null],
    ],
    Initiative: [
      ['Name', 'Externe ID', 'Status'],
      ['Ablösung', 'Y-3', 'Im Plan'],
    ],
  });
  await page.getByRole('button', { name: 'Andere Datei' }).click();
  await page.locator('input[type=file]').setInputFiles({ name: 'alle.xlsx', mimeType: XLSX, buffer: whole });
  await page.getByText('Alle Blätter:').waitFor();
  await page.getByRole('switch', { name: 'Fehlende Tags anlegen' }).setChecked(true, { force: true });
  await page.getByRole('row', { name: /Y-2.*ist kein Untertyp dieses Typs.*Microservice/ }).waitFor();
  await page.getByRole('row', { name: /Y-4.*Diese übergeordnete Karte gibt es nicht/ }).waitFor();
  expect(await accessibility()).toEqual([]);
  await page.getByRole('button', { name: '2 von 4 Zeilen übernehmen' }).click();
  await page.getByRole('heading', { name: 'Die Datei ist importiert' }).waitFor();
  expect(await t.services.db('tags').where({ name: 'Nord' })).toHaveLength(1);
  const [card] = await t.services.db('cards').where({ external_id: 'Y-3' });
  expect([card.type, card.attributes.initiativeStatus]).toEqual(['Initiative', 'onTrack']);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('texts that mean thousands or decimals are asked for', async () => {
  const { email } = await person(t, { role: 'admin', display_name: 'Nils German' });
  const { page, problems, accessibility } = await open(
    '/import?type=Application',
    { locale: 'de-DE' },
    email,
  );
  const buffer = await workbook({
    Cards: [
      ['Name', 'Externe ID', 'Anzahl Nutzende'],
      ['Viele', 'Z-1', '1.234'],
      ['Wenige', 'Z-2', 1.234],
    ],
  });
  await page.locator('input[type=file]').setInputFiles({ name: 'zahlen.xlsx', mimeType: XLSX, buffer });
  const question = page.getByRole('radiogroup', { name: /Anzahl Nutzende hat Texte wie “1.234”/ });
  await question.getByText('1234', { exact: true }).click();
  await page.getByRole('row', { name: /Viele.*1\.234/ }).waitFor();
  await page.getByRole('row', { name: /Wenige.*1,23/ }).waitFor();
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('what is no workbook says why', async () => {
  const { page, problems } = await open('/import');
  const buffer = Buffer.from('no archive');
  await page.locator('input[type=file]').setInputFiles({ name: 'ours.xlsx', mimeType: XLSX, buffer });
  await page.getByRole('alert').filter({ hasText: 'it is no workbook' }).waitFor();
  expect(problems).toEqual([expect.stringContaining('422')]);
  await page.context().close();
});

test('a workbook is exported, edited and imported as it is, cards and relations', async () => {
  const { page, problems, accessibility } = await open('/inventory?type=Application');
  await page.getByRole('button', { name: 'Export' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Excel to edit and import' }).click();
  const book = await readWorkbook(await readFile(await (await download).path()));
  const sheet = book.getWorksheet('Application')!;
  const names = sheet.getRow(1).values as string[];
  sheet.getRow(2).getCell(names.indexOf('Alias')).value = 'edited';
  const buffer = Buffer.from(await book.xlsx.writeBuffer());

  await page.goto(new URL('/import', page.url()).href);
  await page.locator('input[type=file]').setInputFiles({ name: 'edited.xlsx', mimeType: XLSX, buffer });
  await page.getByText('what was edited in its sheets').waitFor();
  await page.getByRole('row', { name: /Application.*Alias.*edited/ }).waitFor();
  expect(await accessibility()).toEqual([]);
  await page.getByRole('button', { name: /^Apply 1 of / }).click();
  await page.getByRole('heading', { name: 'The file is imported' }).waitFor();
  await page.getByText('Relations', { exact: true }).last().click();
  await page.getByRole('button', { name: /^Apply 0 of / }).waitFor();
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});
