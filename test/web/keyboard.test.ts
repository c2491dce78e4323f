import { person } from '../support/accounts.ts';
import { answered, openApp } from '../support/harness.ts';
import { listen, logIn, startBrowser, visit } from './browser.ts';

vi.setConfig({ testTimeout: 120_000 });

const { t, admin } = await openApp(['admin']);
const origin = await listen(t);
const browser = await startBrowser();
afterAll(() => browser.close());
const owner = await person(t, { role: 'admin', display_name: 'Ada Owner' });

const made = async (name: string): Promise<string> =>
  (await answered(admin.post('/api/v1/cards', { type: 'Application', name }), 201)).body.id;
const harbour = await made('Harbour');
await made('Quay');

test('by keyboard alone: find a card, edit it, create one, look at reports, save a view', async () => {
  const { page, problems } = await visit(browser, origin);
  const { keyboard } = page;
  await logIn(page, owner.email);
  await page.getByRole('heading', { name: 'Browse by type' }).waitFor();
  // typed before the palette is there: none of its letters is a key of the page
  await keyboard.press('Control+k');
  await keyboard.type('harbour');
  await page.getByRole('option', { name: /Harbour/, selected: true }).waitFor();
  await keyboard.press('Enter');
  // the focus is where the page begins
  await page.locator('h1:focus', { hasText: 'Harbour' }).waitFor();

  await keyboard.press('e');
  await keyboard.press('Enter');
  await page.locator('input[aria-label="Hosting Type"]:focus').waitFor();
  await keyboard.press('ArrowDown');
  await keyboard.press('Enter');
  // and stays at the field
  await page.locator('[id="field-attributes.hostingType"] button:focus').waitFor();
  const { attributes } = (await admin.get(`/api/v1/cards/${harbour}`)).body;
  expect(attributes.hostingType).toBeTypeOf('string');

  await keyboard.press('g');
  await keyboard.press('i');
  await page.locator('h1:focus', { hasText: 'Inventory' }).waitFor();
  await page.getByRole('link', { name: 'Quay' }).waitFor();
  await keyboard.press('f');
  await page.locator('input[aria-label="Find a field"]:focus').waitFor();
  await keyboard.press('Escape');
  await page.locator('input[aria-label="Find a field"]').waitFor({ state: 'detached' });
  await keyboard.press('j');
  await page.locator('[role=gridcell]:focus').waitFor();
  await keyboard.press('n');
  await page.getByRole('dialog', { name: 'New card' }).getByLabel('Name').waitFor();
  await page.locator('[role=dialog] input:focus').waitFor();
  await keyboard.type('Jetty');
  await keyboard.press('Enter');
  await page.getByText('Jetty created').waitFor();

  await keyboard.press('g');
  await keyboard.press('m');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await save.focus();
  await keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Save as' }).waitFor();
  await page.locator('[role=dialog] input:focus').waitFor();
  await keyboard.press('Enter');
  await page.getByText(/Capability map is saved/).waitFor();
  // a dialog gives the focus back
  await page.locator('button:focus', { hasText: 'Save' }).waitFor();
  await keyboard.press('g');
  await keyboard.press('n');
  await page.locator('h1:focus', { hasText: 'Notifications' }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});
