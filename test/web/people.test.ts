import { readFile } from 'node:fs/promises';
import { startModels } from '../emulators/openai.ts';
import { person } from '../support/accounts.ts';
import { answered, ok, openApp } from '../support/harness.ts';
import { tellAll } from '../support/notifications.ts';
import { listen, logIn, startBrowser, visit } from './browser.ts';

vi.setConfig({ testTimeout: 120_000 });

const { t, admin, db } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const origin = await listen(t);
const browser = await startBrowser();
afterAll(() => browser.close());
const owner = await person(t, { role: 'admin', display_name: 'Ada Owner' });
const grace = await person(t, { display_name: 'Grace Keeper' });

const made = async (path: string, body: object): Promise<{ id: string }> =>
  (await answered(admin.post(`/api/v1${path}`, body), 201)).body;

const card = await made('/cards', { type: 'Application', name: 'Harbour' });
const component = await made('/cards', { type: 'ITComponent', name: 'Quay database' });
await made('/relations', { type: 'relAppToITC', source_id: card.id, target_id: component.id });
for (const [who, role] of [
  [owner, 'observer'],
  [grace, 'responsible'],
] as const) {
  await made(`/cards/${card.id}/stakeholders`, { user_id: who.id, role });
}

test.each([
  { width: 1440, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const)('the bell counts what is new, live, and leads to it, $width px, $colorScheme', async (look) => {
  const { page, problems, accessibility } = await visit(browser, origin, look);
  await db('notifications').delete();
  await logIn(page, owner.email);
  await page.getByRole('heading', { name: 'Browse by type' }).waitFor();
  if (look.width === 390) await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
  await ok(admin.patch(`/api/v1/cards/${card.id}`, { alias: `Port ${look.width}` }));
  await tellAll(t.services);
  await page.getByRole('button', { name: 'Notifications, 1 unread', exact: true }).click();
  const panel = page.getByRole('dialog', { name: 'Notifications' });
  await panel.getByText('Harbour was changed').waitFor();
  expect(await accessibility()).toEqual([]);
  await panel.getByRole('link', { name: 'Harbour was changed' }).click();
  await page.getByRole('heading', { level: 1, name: 'Harbour' }).waitFor();
  // where mails lead that name several
  await page.goto('/notifications');
  await page.getByText('Harbour was changed').waitFor();
  expect(await accessibility()).toEqual([]);
  expect(await page.getByRole('button', { name: 'Mark all as read' }).isDisabled()).toBe(true);
  await page.getByText('Unread', { exact: true }).click();
  await page.getByText('You have read everything.').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('addresses of mails lead to the pages that show it', async () => {
  const { page } = await visit(browser, origin);
  await logIn(page, owner.email, '/settings/notifications');
  await page.getByRole('tab', { name: 'Notifications', selected: true }).waitFor();
  await page.goto('/todos');
  await page.waitForURL((url) => url.pathname === '/');
  await page.context().close();
});

test('a name opens who that is, and which cards the person answers for', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, `/cards/${card.id}?tab=people`);
  const people = page.getByRole('main');
  await people.getByRole('button', { name: 'Grace Keeper', exact: true }).click();
  const shown = page.getByRole('dialog', { name: 'Grace Keeper' });
  await shown.getByRole('link', { name: grace.email }).waitFor();
  await shown.getByRole('link', { name: /Harbour/ }).waitFor();
  expect(await accessibility()).toEqual([]);
  await shown.getByRole('link', { name: 'All cards of this person' }).click();
  await page.getByRole('link', { name: 'People', exact: true }).waitFor();
  expect(new URL(page.url()).searchParams.get('person')).toBe(grace.id);
  await page
    .getByRole('main')
    .getByRole('link', { name: /Harbour/ })
    .waitFor();
  expect(await accessibility()).toEqual([]);
  await page.getByText('By role').click();
  await page.getByLabel('Find a person').fill('keeper');
  await page.getByRole('main').getByRole('link', { name: 'Grace Keeper 1 card' }).waitFor();
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('the start page has own cards, and begins with the tab that is chosen for it', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  const who = await person(t, { display_name: 'Mara Maker' });
  await logIn(page, who.email, '/?tab=mine');
  await page.getByText('You have not made a card yet.').waitFor();
  expect(await page.getByRole('link', { name: 'Administration' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Begin here from now on' }).click();
  await page.getByRole('button', { name: 'Begin here from now on' }).waitFor({ state: 'detached' });
  await page.goto('/');
  await page.getByRole('heading', { name: 'Cards that I made' }).waitFor();
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('an administrator sees what nobody answers for', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, '/?tab=admin');
  await page.getByRole('link', { name: /Nobody responsible 1/ }).waitFor();
  expect(await accessibility()).toEqual([]);
  await page.getByRole('link', { name: /Nobody responsible 1/ }).click();
  await page.getByRole('link', { name: 'Quay database' }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a person without an account is invited where somebody is chosen', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, `/cards/${card.id}?tab=people`);
  await page.getByRole('button', { name: /^Add / }).first().click();
  await page.getByRole('combobox').fill('nora.new@estate.example');
  await page.getByRole('option', { name: /Invite/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Invite a person' });
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Nora New');
  expect(await accessibility('[role=dialog]')).toEqual([]);
  await dialog.getByRole('button', { name: 'Invite' }).click();
  // there is no mail server
  const link = await page.getByLabel(/Pass this link on/).inputValue();
  await page.getByRole('button', { name: 'Close' }).last().click();
  await page.getByText('Nora New added').waitFor();
  await page.getByRole('main').getByRole('button', { name: 'Nora New', exact: true }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();

  const invited = await visit(browser, origin);
  await invited.page.goto(link);
  await invited.page.getByRole('heading', { name: 'Choose a password' }).waitFor();
  await invited.page.context().close();
});

test('what others changed since the last visit has a dot', async () => {
  const { page, problems } = await visit(browser, origin);
  await logIn(page, owner.email, `/cards/${card.id}?tab=history`);
  await page.getByRole('heading', { level: 1, name: 'Harbour' }).waitFor();
  await page.goto('/');
  await made(`/cards/${card.id}/comments`, { content: 'The quay is full.' });
  await page.goto(`/cards/${card.id}?tab=history`);
  const parts = page.getByRole('navigation', { name: 'Parts of the card' });
  await parts.getByRole('link', { name: /Comments.*Changed by others/ }).waitFor();
  expect(await parts.getByRole('link', { name: /Changed by others/ }).count()).toBe(1);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a language model proposes values, of which those that are right are taken over', async () => {
  const models = await startModels('the key');
  await ok(
    admin.patch('/api/v1/settings/ai', {
      ...{ enabled: true, provider_type: 'openai', provider_url: models.url, api_key: 'the key' },
      ...{ model: 'small', enabled_types: ['Application'] },
    }),
  );
  models.answer = () => ({
    suggestions: [{ field: 'description', value: 'Plans berths and quays.', confidence: 0.6, source: null }],
  });
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, `/cards/${card.id}`);
  await page.getByRole('button', { name: 'Suggest values' }).click();
  const dialog = page.getByRole('dialog', { name: 'Suggested values' });
  await dialog.getByText('Plans berths and quays.').waitFor();
  expect(await accessibility('[role=dialog]')).toEqual([]);
  await dialog.getByRole('button', { name: 'Take over 1 value' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect((await admin.get(`/api/v1/cards/${card.id}`)).body.description).toBe('Plans berths and quays.');
  expect(problems).toEqual([]);
  await page.context().close();
  await models.close();
});

test('a graph becomes a diagram, in the workspace or as a file', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, `/explorer?center=${card.id}`);
  await page.getByRole('button', { name: 'Diagram' }).click();
  const dialog = page.getByRole('dialog', { name: 'Make a diagram' });
  await dialog.getByLabel('Name').waitFor();
  expect(await accessibility('[role=dialog]')).toEqual([]);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Download for draw.io' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('Harbour.drawio');
  expect(await readFile((await download.path())!, 'utf8')).toContain('Quay database');
  await page.getByRole('button', { name: 'Diagram' }).click();
  await dialog.getByRole('button', { name: 'Save in the workspace' }).click();
  await page.getByText(/Harbour is saved/).waitFor();
  expect((await admin.get('/api/v1/diagrams')).body.items).toMatchObject([{ name: 'Harbour' }]);
  expect(problems).toEqual([]);
  await page.context().close();
});
