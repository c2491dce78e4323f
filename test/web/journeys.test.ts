import { password, person } from '../support/accounts.ts';
import { answered, openApp } from '../support/harness.ts';
import { listen, startBrowser, visit } from './browser.ts';

// pages of a busy machine are slow
vi.setConfig({ testTimeout: 180_000 });

const { t, admin } = await openApp(['admin']);
const origin = await listen(t);
const browser = await startBrowser();
afterAll(() => browser.close());
const owner = await person(t, { role: 'admin', display_name: 'Ada Owner' });

const ids: string[] = [];
for (const [name, numberOfUsers] of [
  ['Ledger', 310],
  ['Ledger archive', 12],
  ['Claims desk', 90],
] as const) {
  const body = {
    type: 'Application',
    name,
    attributes: { numberOfUsers, hostingType: 'onPremise', businessCriticality: 'missionCritical' },
    lifecycle: { active: '2015-01-01', endOfLife: '2028-01-01' },
  };
  ids.push((await answered(admin.post('/api/v1/cards', body), 201)).body.id);
}

test.each([
  { width: 1440, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const)('a person logs in and looks around, $width px, $colorScheme', async (look) => {
  const { page, problems, accessibility } = await visit(browser, origin, look);
  await page.goto(`/cards/${ids[0]}`);
  await page.getByLabel('E-mail address').fill(owner.email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  expect(await accessibility()).toEqual([]);
  await page.getByRole('button', { name: 'Log in' }).click();
  // the page that was asked for
  await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
  expect(await accessibility()).toEqual([]);

  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto('/');
  await page.getByText('Ada').first().waitFor();
  await page.getByRole('link', { name: /Cards 3/ }).waitFor();
  expect(await accessibility()).toEqual([]);
  // what is asked for before the pages are compiled is not asked for again
  const read = asked.filter((url) => url.includes('/api/v1/'));
  expect(read).toEqual([...new Set(read)]);

  await page.goto('/inventory?type=Application&sort=-attributes.numberOfUsers');
  await page.getByRole('link', { name: 'Claims desk' }).waitFor();
  const rows =
    look.width === 390 ? page.getByRole('list', { name: 'Inventory' }) : page.getByRole('gridcell');
  const names = await rows.getByRole('link').allTextContents();
  expect(names).toEqual(['Ledger', 'Claims desk', 'Ledger archive']);
  expect(await accessibility()).toEqual([]);

  await page.goto('/reports/portfolio');
  await page.getByLabel(/items by/).waitFor();
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a field is edited in place and taken back, a facet filters, the palette finds', async () => {
  const { page, problems } = await visit(browser, origin);
  await page.goto(`/login?next=/cards/${ids[0]}`);
  await page.getByLabel('E-mail address').fill(owner.email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('button', { name: '310' }).click();
  const field = page.getByRole('textbox', { name: 'Number of Users' });
  await field.fill('many');
  await field.press('Enter');
  await page
    .getByText(/number/)
    .last()
    .waitFor();
  await field.fill('311');
  await field.press('Enter');
  await page.getByRole('button', { name: '311' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: '310' }).waitFor();

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search or jump to' }).fill('claims');
  await page.getByRole('option', { name: /Claims desk/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Claims desk' }).waitFor();

  await page.goto('/inventory?type=Application');
  await page.getByLabel('Find by name, id or text').fill('ledger');
  await page.getByRole('link', { name: 'Claims desk' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Clear filter' }).click();
  await page.getByRole('checkbox', { name: /On-Premise/ }).check();
  await page.getByText('3 cards').waitFor();

  await page.getByRole('button', { name: 'Ada Owner' }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  expect(await page.context().cookies()).toEqual([]);
  // the refused value is an answer with an error, which browsers write to the console
  expect(problems.filter((problem) => !/422/.test(problem))).toEqual([]);
  await page.context().close();
});
