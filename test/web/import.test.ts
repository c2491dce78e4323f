import { startWorkers } from '../../workers/runtime.ts';
import { closeAfterAll } from '../support/harness.ts';
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
  await eventually(() => namesOf('Payroll')).toEqual([]);
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});
