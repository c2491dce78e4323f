import { person } from '../support/accounts.ts';
import { answered, openApp } from '../support/harness.ts';
import { listen, logIn, startBrowser, visit } from './browser.ts';

const { t, admin } = await openApp(['admin']);
const origin = await listen(t);
const browser = await startBrowser();
afterAll(() => browser.close());
const owner = await person(t, { role: 'admin', display_name: 'Ada Owner' });

const add = async (body: object): Promise<string> =>
  (await answered(admin.post('/api/v1/cards', body), 201)).body.id;
const capability = (name: string, parent_id?: string) =>
  add({ type: 'BusinessCapability', name, ...(parent_id && { parent_id }) });
const claims = await capability('Claims');
const settlement = await capability('Settlement', claims);
const payment = await capability('Payment', settlement);
const damage = await capability('Damage', settlement);
await capability('Cheques', payment);
await capability('Recovery', claims);
const sales = await capability('Sales');

for (const [name, technicalSuitability, costTotalAnnual, capabilities] of [
  ['Ledger', 'inappropriate', 300_000, [payment, damage]],
  ['Claims desk', 'fullyAppropriate', 900_000, [damage]],
  ['Shop', 'adequate', 50_000, [sales]],
] as const) {
  const id = await add({ type: 'Application', name, attributes: { technicalSuitability, costTotalAnnual } });
  for (const target_id of capabilities) {
    await answered(admin.post('/api/v1/relations', { type: 'relAppToBC', source_id: id, target_id }), 201);
  }
}

test.each([
  { width: 1440, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const)('the map shows gaps and opens a box, $width px, $colorScheme', async (look) => {
  const { page, problems, accessibility } = await visit(browser, origin, look);
  await logIn(page, owner.email, '/map');
  await page.getByRole('heading', { level: 1, name: 'Capability map' }).waitFor();
  const claimsBox = page.getByRole('region', { name: 'Claims' });
  await claimsBox.getByText('2 gaps').first().waitFor();
  await page.getByRole('button', { name: /Inappropriate 2|Inappropriate 1/ }).waitFor();
  expect(await accessibility()).toEqual([]);

  // a box without parts that are drawn shows how many there are
  await page.getByRole('button', { name: '1 below' }).click();
  await page.getByRole('heading', { level: 1, name: 'Payment' }).waitFor();
  await page.getByText('Nothing inside').first().waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Damage' }).click();
  const panel = page.getByLabel('Damage').filter({ hasText: 'Annual cost' });
  await panel.getByRole('link', { name: 'Claims desk' }).waitFor();
  expect(page.url()).toContain(`peek=${damage}`);
  // no second panel with the card
  expect(await page.getByRole('link', { name: 'Open card' }).count()).toBe(0);
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('the address holds measure, rule and table, and numbers lead to the inventory', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, `/map?colour=costTotalAnnual&peek=${damage}`);
  await page.getByText('$1.2M').first().waitFor();
  await page.getByRole('link', { name: 'Open 2 in the inventory' }).click();
  await page.getByText('2 cards').waitFor();

  await page.goto('/map?colour=count&view=table&sort=-count');
  const table = page.getByRole('table', { name: 'Capability map' });
  await table.getByRole('row').nth(1).waitFor();
  // each application counts once for the boxes above
  expect(await table.getByRole('row').nth(1).innerText()).toMatch(/^Claims\s+–\s+2\s+2\s+\$1.2M\s+2/);
  expect(await accessibility()).toEqual([]);
  await page.locator('body').press('t');
  await page.getByRole('region', { name: 'Claims' }).waitFor();
  expect(page.url()).not.toContain('view=table');
  expect(problems).toEqual([]);
  await page.context().close();
});

test('the map is saved with its view, found in the gallery, and opens as it was', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, `/map?levels=2&colour=costTotalAnnual&root=${claims}`);
  await page.getByRole('heading', { level: 1, name: 'Claims' }).waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Save as' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Costs of claims');
  expect(await accessibility('[role=dialog]')).toEqual([]);
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });

  await page.goto('/reports?tab=saved');
  await page.getByRole('link', { name: 'Costs of claims' }).click();
  await page.getByRole('heading', { level: 1, name: 'Claims' }).waitFor();
  const { searchParams } = new URL(page.url());
  expect(Object.fromEntries(searchParams)).toMatchObject({
    levels: '2',
    colour: 'costTotalAnnual',
    root: claims,
  });
  expect(problems).toEqual([]);
  await page.context().close();
});

test('the map and the surroundings of a card are pictures on a dashboard, other maps are links', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, '/map');
  const pin = async (dashboard: string) => {
    await page.getByRole('button', { name: 'Pin', exact: true }).click();
    await page.getByRole('menuitem', { name: dashboard }).click();
  };
  await page.getByRole('region', { name: 'Claims' }).waitFor();
  await pin('New dashboard');
  await page.getByRole('textbox', { name: 'Name' }).fill('Ours');
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Pinned to Ours').waitFor();
  await page.goto(`/map?colour=costTotalAnnual&root=${claims}`);
  await page.getByRole('heading', { level: 1, name: 'Claims' }).waitFor();
  await pin('Ours');
  await page.getByText('Pinned to Ours').waitFor();
  await page.goto(`/explorer?center=${damage}`);
  await page.getByRole('heading', { level: 2, name: 'Damage' }).first().waitFor();
  await pin('Ours');
  await page.getByText('Pinned to Ours').waitFor();

  await page.goto('/reports?tab=dashboards');
  await page.getByRole('link', { name: 'Ours' }).click();
  await page.getByRole('heading', { level: 1, name: 'Ours' }).waitFor();
  await page
    .getByRole('region', { name: 'Capability map' })
    .locator('svg [role=option], svg text')
    .first()
    .waitFor();
  await page.getByRole('region', { name: 'Damage' }).locator('svg text').first().waitFor();
  expect(await accessibility()).toEqual([]);
  await page.getByRole('region', { name: 'Claims' }).getByRole('link', { name: /Open/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Claims' }).waitFor();
  expect(page.url()).toContain('colour=costTotalAnnual');
  expect(problems).toEqual([]);
  await page.context().close();
});
