import { person } from '../support/accounts.ts';
import { answered, openApp } from '../support/harness.ts';
import { listen, logIn, startBrowser, visit } from './browser.ts';

const { t, admin } = await openApp(['admin']);
const origin = await listen(t);
const browser = await startBrowser();
afterAll(() => browser.close());
const owner = await person(t, { role: 'admin', display_name: 'Ada Owner' });

const add = async (type: string, name: string): Promise<string> =>
  (await answered(admin.post('/api/v1/cards', { type, name }), 201)).body.id;
const relate = async (type: string, source_id: string, target_id: string) =>
  await answered(admin.post('/api/v1/relations', { type, source_id, target_id }), 201);
const [desk, ledger, claims, billing] = [
  await add('Application', 'Policy desk'),
  await add('Application', 'Ledger'),
  await add('BusinessCapability', 'Claims'),
  await add('BusinessCapability', 'Billing'),
];
await relate('relAppToBC', desk, claims);
await relate('relAppToBC', desk, billing);
await relate('relAppToBC', ledger, billing);
for (let n = 1; n <= 13; n += 1) await relate('relAppToITC', desk, await add('ITComponent', `Server ${n}`));

test.each([
  { width: 1440, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
] as const)('the explorer shows what is around a card, $width px, $colorScheme', async (look) => {
  const { page, problems, accessibility } = await visit(browser, origin, look);
  await logIn(page, owner.email, `/explorer?center=${desk}`);
  await page.getByRole('button', { name: / 2 Business Capabilities/ }).click();
  await page.getByRole('button', { name: 'Claims' }).first().waitFor();
  // more than twelve neighbours of one type are a bundle
  await page.getByRole('button', { name: / 13 IT Component/ }).click();
  await page.getByRole('button', { name: 'Server 12' }).first().waitFor();
  expect(await accessibility()).toEqual([]);

  await page.getByText('Impact', { exact: true }).click();
  await page.getByText('If Policy desk is switched off').waitFor();
  await page.getByText('2 cards lose something.').waitFor();

  await page.goto(`/explorer?center=${desk}&tab=path&to=${ledger}`);
  await page.getByText('Path 1 of 1, 2 steps').waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Ledger' }).first().waitFor();
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('the same graph is a list, another card comes to the middle, and types are left out', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, `/explorer?center=${desk}`);
  await page.getByRole('button', { name: / 13 IT Component/ }).waitFor();
  await page.locator('body').press('t');
  await page.getByRole('heading', { level: 2, name: 'Policy desk' }).first().waitFor();
  await page.getByRole('listitem').getByRole('link', { name: 'Billing' }).waitFor();
  expect(await accessibility()).toEqual([]);
  await page.getByRole('button', { name: /IT Components 13$/ }).click();
  expect(page.url()).toContain('hide=');
  await page.getByRole('button', { name: 'Centre here: Billing' }).click();
  await page.getByRole('heading', { level: 2, name: 'Billing' }).first().waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 2, name: 'Policy desk' }).first().waitFor();

  expect(problems).toEqual([]);
  await page.context().close();
});

test('an empty start finds a card by its name, and what is shown is put on a dashboard', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, '/explorer');
  await page.getByRole('heading', { name: 'Most connected' }).waitFor();
  await page.getByRole('button', { name: 'Policy desk' }).first().waitFor();
  expect(await accessibility()).toEqual([]);
  const around = page.getByRole('combobox', { name: 'Around' });
  await around.fill('ledger');
  await around.press('Enter');
  await page.getByRole('heading', { level: 2, name: 'Ledger' }).waitFor();
  await page.getByRole('button', { name: 'Pin', exact: true }).click();
  await page.getByRole('menuitem', { name: 'New dashboard' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Ours');
  await page.getByRole('button', { name: 'Save', exact: true }).last().click();
  await page.getByText(/Ours/).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a browser without graphics card shows the whole graph as a table', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, '/explorer?view=all');
  const table = page.getByRole('table', { name: 'Explorer' });
  await table.or(page.getByTestId('whole-graph')).first().waitFor();
  await page.getByText('17 cards, 16 relations').waitFor();
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});
