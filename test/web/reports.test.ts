import { person } from '../support/accounts.ts';
import { answered, openApp } from '../support/harness.ts';
import { listen, logIn, startBrowser, visit } from './browser.ts';

const { t, admin } = await openApp(['admin']);
const origin = await listen(t);
const browser = await startBrowser();
afterAll(() => browser.close());
const owner = await person(t, { role: 'admin', display_name: 'Ada Owner' });

for (const [name, technicalSuitability, functionalSuitability, timeModel, costTotalAnnual] of [
  ['Ledger', 'inappropriate', 'unreasonable', 'eliminate', 300_000],
  ['Claims desk', 'fullyAppropriate', 'perfect', 'invest', 900_000],
  ['Shop', 'fullyAppropriate', 'perfect', 'tolerate', 50_000],
] as const) {
  const attributes = { technicalSuitability, functionalSuitability, timeModel, costTotalAnnual };
  await answered(admin.post('/api/v1/cards', { type: 'Application', name, attributes }), 201);
}

test.each([
  { width: 1440, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const)('a report answers to keys, leaves out a group and shows its numbers, $width px', async (look) => {
  const { page, problems, accessibility } = await visit(browser, origin, look);
  await logIn(page, owner.email, '/reports/portfolio?color_field=timeModel&size_field=costTotalAnnual');
  await page.getByRole('heading', { level: 1, name: 'Portfolio' }).waitFor();
  const chart = page.getByRole('listbox', { name: /3 items by/ });
  await chart.waitFor();
  expect(await accessibility()).toEqual([]);
  await page.getByRole('option', { name: /^Ledger: .*Eliminate$/ }).waitFor({ state: 'attached' });

  await chart.focus();
  await chart.press('End');
  await page.getByText('Enter leaves it out').waitFor();
  await chart.press('Enter');
  await page.getByText('Left out:').waitFor();
  await page.getByRole('listbox', { name: /2 items by/ }).waitFor();
  expect(page.url()).toContain('hide=');

  await page.locator('body').press('t');
  const table = page.getByRole('table').first();
  await table.getByRole('row').nth(2).waitFor();
  expect(await table.getByRole('row').count()).toBe(3);
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a report is saved, pinned and found again, and a question becomes a query', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, '/reports/cost?type=Application');
  await page.getByRole('listbox').waitFor();
  // a new workspace has no earlier days to show
  await page.getByRole('button', { name: 'As of today' }).click();
  await page.getByText('The history of this workspace begins today.').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Save and download' }).click();
  await page.getByRole('menuitem', { name: 'Save as' }).click();
  await page.getByLabel('Name').fill('What we pay');
  await page.getByText('Public', { exact: true }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('What we pay').waitFor();
  expect(page.url()).toContain('saved=');

  await page.getByRole('button', { name: 'Pin' }).click();
  await page.getByRole('menuitem', { name: 'New dashboard' }).click();
  await page.getByLabel('Name').fill('Board');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Pinned to Board').waitFor();

  await page.goto('/reports?tab=dashboards');
  await page.getByRole('link', { name: 'Board' }).click();
  await page.getByRole('heading', { level: 1, name: 'Board' }).waitFor();
  await page.getByRole('region', { name: 'Cost' }).getByRole('listbox').waitFor();
  expect(await accessibility()).toEqual([]);
  await page.getByRole('button', { name: 'Actions for Cost' }).click();
  await page.getByRole('menuitem', { name: 'Take off' }).click();
  await page.getByText('Nothing is pinned here yet').waitFor();

  await page.goto('/reports?tab=public');
  await page.getByRole('link', { name: 'What we pay' }).waitFor();
  expect(await accessibility()).toEqual([]);

  await page.goto('/query');
  await page.getByLabel('Ask').first().fill('How many shiny applications by TIME model?');
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'This word is not understood: shiny.' }).waitFor();
  await page.getByRole('button', { name: /^Ask instead/ }).waitFor();
  expect(problems.splice(0)).toEqual([expect.stringContaining('409')]);
  await page.getByLabel('Ask').first().fill('How many applications by TIME model?');
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.getByRole('listbox', { name: /3 rows|of 3/ }).waitFor();
  await page.locator('body').press('t');
  await page.getByText('3 groups').waitFor();

  await page.getByLabel('Ask').first().fill('Top 2 applications by total annual cost');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByText('The first 2 of 3 groups').waitFor();
  await page.locator('body').press('t');
  const largest = page.getByRole('option', { name: /^Claims desk: / });
  await largest.waitFor({ state: 'attached' });
  expect(await page.getByRole('option', { name: /[0-9a-f]{8}-/ }).count()).toBe(0);
  expect(await page.getByRole('option', { name: /^Shop: / }).count()).toBe(0);
  expect(await page.getByRole('combobox', { name: 'Limit' }).inputValue()).toBe('First 2');
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('in German too, a cell opens its cards, an empty report says what to do, and a refused question shows no result', async () => {
  const german = await person(t, { role: 'admin', locale: 'de' });
  const { page, problems, accessibility } = await visit(browser, origin, { locale: 'de', width: 390 });
  await logIn(page, german.email, '/reports/portfolio?size_field=costTotalAnnual');
  const chart = page.getByRole('listbox', { name: /3 Einträge/ });
  await chart.waitFor();
  const cell = page.getByRole('option', { name: 'Sehr gut geeignet, Voll geeignet: 2' });
  await cell.waitFor({ state: 'attached' });
  await chart.focus();
  while ((await cell.getAttribute('aria-selected')) !== 'true') await chart.press('ArrowRight');
  await chart.press('Enter');
  await page.waitForURL(/\/inventory\?.*filter=/);
  await page.getByText('Claims desk').waitFor();

  await page.goto('/reports/portfolio?type=Platform');
  await page.getByRole('link', { name: 'Werte im Inventar ergänzen' }).click();
  await page.waitForURL(/\/inventory\?type=Platform/);

  await page.goto('/query');
  await page.getByRole('img').first().waitFor();
  await page.getByRole('textbox', { name: 'Fragen' }).fill('Wie spät ist es in Frobnistan');
  await page.getByRole('button', { name: 'Fragen' }).click();
  const refusal = page.getByRole('alert');
  await refusal.waitFor();
  expect(await refusal.textContent()).not.toMatch(/\b(the|not|understood)\b/);
  expect(await page.locator('main svg text').count()).toBe(0);
  expect(await accessibility()).toEqual([]);
  expect(problems.filter((problem) => !/ai\/question/.test(problem))).toEqual([]);
  await page.context().close();
});

test('a saved report says that what it names is gone', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  const search = { type: 'Application', size_field: 'goneCost' };
  const config = { path: '/reports/portfolio', search };
  const saved = { name: 'Old costs', report_type: 'portfolio', visibility: 'public', config };
  const { id } = await admin.create('/api/v1/saved-reports', saved);
  await logIn(page, owner.email, `/reports/portfolio?${new URLSearchParams({ ...search, saved: id })}`);
  const alert = page.getByRole('alert').filter({ hasText: 'no longer exists in the metamodel' });
  await alert.waitFor();
  expect(await alert.textContent()).toContain('"goneCost" is not a field of Application');
  expect(await accessibility()).toEqual([]);
  expect(problems.splice(0)).toEqual([expect.stringContaining('422')]);
  await page.context().close();
});
