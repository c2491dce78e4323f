import type { Page } from 'playwright-core';
import { password, person } from '../support/accounts.ts';
import { answered, openApp } from '../support/harness.ts';
import { listen, startBrowser, visit } from './browser.ts';

const { t, admin } = await openApp(['admin']);
const origin = await listen(t);
const browser = await startBrowser();
afterAll(() => browser.close());
const owner = await person(t, { role: 'admin', display_name: 'Ada Owner' });

const create = async (type: string, name: string, more: object = {}): Promise<string> =>
  (await answered(admin.post('/api/v1/cards', { type, name, ...more }), 201)).body.id;

const server = await create('ITComponent', 'Database server');
const ledger = await create('Application', 'Ledger', {
  attributes: { numberOfUsers: 310, hostingType: 'onPremise', businessCriticality: 'missionCritical' },
});
await create('Application', 'Ledger archive', { parent_id: ledger, attributes: { numberOfUsers: 12 } });
await create('Application', 'Claims desk', { attributes: { numberOfUsers: 90, hostingType: 'cloudSaaS' } });
await admin.create('/api/v1/relations', { type: 'relAppToITC', source_id: ledger, target_id: server });

/** Opens a page of a person who is logged in. */
async function open(path: string, options: Parameters<typeof visit>[2] = {}, email = owner.email) {
  const visited = await visit(browser, origin, options);
  await visited.page.goto(`/login?next=${encodeURIComponent(path)}`);
  await visited.page.getByLabel('E-mail address').fill(email);
  await visited.page.getByLabel('Password', { exact: true }).fill(password);
  await visited.page.getByRole('button', { name: 'Log in' }).click();
  await visited.page.getByRole('heading', { level: 1 }).waitFor();
  return visited;
}

const names = (page: Page) => page.getByRole('gridcell').getByRole('link').allTextContents();
const heads = async (page: Page) =>
  (await page.getByRole('columnheader').allTextContents()).filter((text) => text !== '');
const parameter = (page: Page, key: string) => new URL(page.url()).searchParams.get(key);

test('columns are chosen, moved, resized and hidden, and the address keeps them', async () => {
  const { page, problems, accessibility } = await open('/inventory?type=Application');
  await page.getByRole('link', { name: 'Claims desk' }).waitFor();
  await page.getByRole('button', { name: /^\d+ of \d+$/ }).click();
  await page.getByRole('textbox', { name: 'Find a column' }).fill('component');
  await page.getByRole('checkbox', { name: 'IT Component', exact: true }).check();
  await page.getByRole('textbox', { name: 'Find a column' }).fill('path');
  await page.getByRole('checkbox', { name: 'Path' }).check();
  expect(await accessibility()).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('gridcell', { name: 'Database server' }).waitFor();
  await page
    .getByRole('row', { name: /Ledger archive/ })
    .getByRole('gridcell', { name: 'Ledger', exact: true })
    .waitFor();

  await page.goto('/inventory?type=Application&cols=["name","data_quality","attributes.numberOfUsers"]');
  await page.getByRole('link', { name: 'Claims desk' }).waitFor();
  expect(await heads(page)).toEqual(['Name', 'Quality', 'Number of Users']);
  const users = page.getByRole('columnheader', { name: /Number of Users/ });
  await users.getByRole('button').first().focus();
  await page.keyboard.press('Alt+ArrowLeft');
  await expect.poll(() => heads(page)).toEqual(['Name', 'Number of Users', 'Quality']);
  await page.keyboard.press('Shift+ArrowRight');
  await expect.poll(() => parameter(page, 'cols')).toContain('attributes.numberOfUsers:126');
  const before = (await users.boundingBox())!;
  await page.mouse.move(before.x + before.width - 1, before.y + 10);
  await page.mouse.down();
  await page.mouse.move(before.x + before.width + 39, before.y + 10, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => parameter(page, 'cols')).toContain('attributes.numberOfUsers:166');
  await users.hover();
  await page.getByRole('button', { name: 'Quality: column menu' }).click();
  await page.getByRole('menuitem', { name: 'Hide' }).click();
  await expect.poll(() => heads(page)).toEqual(['Name', 'Number of Users']);
  // the foot adds up all cards of the filter
  await page.getByRole('row').last().getByText('412').waitFor();
  await page.getByRole('button', { name: 'Number of Users', exact: true }).click();
  await expect.poll(() => names(page)).toEqual(['Ledger archive', 'Claims desk', 'Ledger']);
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('the table is worked by keyboard', async () => {
  const { page, problems } = await open('/inventory?type=Application');
  const grid = page.getByRole('grid', { name: 'Inventory' });
  await page.getByRole('link', { name: 'Claims desk' }).waitFor();
  expect(await grid.getAttribute('aria-rowcount')).toBe('5');
  const focused = async () => {
    const cell = page.locator(':focus');
    return `${await cell.getAttribute('data-line')},${await cell.getAttribute('data-column')}`;
  };
  await page.locator('[data-line="0"][data-column="1"]').click();
  await page.keyboard.press('ArrowDown');
  await expect.poll(focused).toBe('1,1');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('j');
  await expect.poll(focused).toBe('2,2');
  await page.keyboard.press('x');
  await page.getByRole('row', { name: /Ledger archive/, selected: true }).waitFor();
  await page.keyboard.press('Control+Home');
  await expect.poll(focused).toBe('0,0');
  await page.keyboard.press('Shift+ArrowDown');
  expect(await page.locator('[data-range="true"]').count()).toBe(2);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});
