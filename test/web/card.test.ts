import { person } from '../support/accounts.ts';
import { answered, openApp } from '../support/harness.ts';
import { listen, logIn, startBrowser, visit } from './browser.ts';

const { t, admin } = await openApp(['admin']);
const origin = await listen(t);
const browser = await startBrowser();
afterAll(() => browser.close());
const owner = await person(t, { role: 'admin', display_name: 'Ada Owner' });
const reader = await person(t, { role: 'viewer', display_name: 'Rolf Reader' });

const made = async (path: string, body: object): Promise<{ id: string }> =>
  (await answered(admin.post(`/api/v1${path}`, body), 201)).body;

const platform = await made('/cards', { type: 'Application', name: 'Harbour platform' });
const card = await made('/cards', {
  type: 'Application',
  name: 'Harbour',
  parent_id: platform.id,
  attributes: { numberOfUsers: 310, businessCriticality: 'missionCritical' },
  lifecycle: { active: '2015-01-01', endOfLife: '2028-01-01' },
});
const below = await made('/cards', { type: 'Application', name: 'Harbour pilot', parent_id: card.id });

/** Answers that pages show; browsers write them to the console. */
const unexpected = (problems: string[]) => problems.filter((problem) => !/409|412|422/.test(problem));

test.each([
  { width: 1440, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const)('each part of a card has an address and is accessible, $width px, $colorScheme', async (look) => {
  const { page, problems, accessibility } = await visit(browser, origin, look);
  await logIn(page, owner.email, `/cards/${card.id}`);
  await page.getByRole('heading', { level: 1, name: 'Harbour' }).waitFor();
  expect(await accessibility()).toEqual([]);
  for (const tab of ['Comments', 'To-dos', 'People', 'Documents', 'Graph', 'Used in', 'History']) {
    await page
      .getByRole('navigation', { name: 'Parts of the card' })
      .getByRole('link', { name: tab })
      .click();
    await page.locator(`[aria-current=page]`, { hasText: tab }).waitFor();
    await page.waitForFunction(() => !document.querySelector('main [aria-busy=true]'));
    expect(await accessibility(), tab).toEqual([]);
  }
  expect(new URL(page.url()).searchParams.get('tab')).toBe('history');
  await page.goBack();
  await page.locator(`[aria-current=page]`, { hasText: 'Used in' }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a card is renamed, gets a subtype, is starred, approved, and changes since then are named', async () => {
  const { page, problems } = await visit(browser, origin);
  await logIn(page, owner.email, `/cards/${card.id}`);
  await page.getByRole('button', { name: 'Harbour', exact: true }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Harbour desk');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Harbour desk' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('heading', { level: 1, name: 'Harbour', exact: true }).waitFor();

  await page.getByRole('button', { name: /^Subtype/ }).click();
  await page.getByRole('menuitem', { name: 'Microservice' }).click();
  await page.getByRole('button', { name: 'Subtype: Microservice' }).waitFor();
  await page.getByRole('button', { name: 'Star', exact: true }).click();
  await page.getByRole('button', { name: 'Remove the star' }).waitFor();

  await page.getByRole('button', { name: 'Change the approval' }).click();
  await page.getByRole('menuitem', { name: 'Approve' }).click();
  await page.getByText('Approved').first().waitFor();
  await page.getByRole('button', { name: /^Number of Users/ }).click();
  await page.getByRole('textbox', { name: 'Number of Users' }).fill('320');
  await page.keyboard.press('Enter');
  const attention = page.getByRole('complementary');
  await attention.getByText('Changed since the approval').waitFor();
  expect(await attention.getByText('Number of Users 310').first().textContent()).toContain('320');
  await attention.getByRole('button', { name: 'Approve again' }).click();
  await attention.getByText('Changed since the approval').waitFor({ state: 'detached' });
  expect(unexpected(problems)).toEqual([]);
  await page.context().close();
});

test('two people change one field: the second one chooses', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, `/cards/${card.id}`);
  await page.getByRole('button', { name: /^Number of Users/ }).click();
  const field = page.getByRole('textbox', { name: 'Number of Users' });
  await field.fill('400');
  // another field does not matter
  await answered(
    admin.patch(`/api/v1/cards/${card.id}`, { alias: 'HB', attributes: { numberOfUsers: 350 } }),
    200,
  );
  await field.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Somebody else has changed this card' });
  await dialog.getByRole('row', { name: /Number of Users/ }).waitFor();
  expect(await dialog.getByRole('row').count()).toBe(2);
  expect(await accessibility()).toEqual([]);
  await dialog.getByRole('radio', { name: 'Number of Users: Theirs' }).check();
  await dialog.getByRole('button', { name: 'Save my choice' }).click();
  await page.getByRole('button', { name: 'Number of Users 350' }).click();
  await field.fill('400');
  await answered(admin.patch(`/api/v1/cards/${card.id}`, { attributes: { numberOfUsers: 360 } }), 200);
  await field.press('Enter');
  await dialog.getByRole('button', { name: 'Save my choice' }).click();
  await page.getByRole('button', { name: 'Number of Users 400' }).waitFor();
  expect(unexpected(problems)).toEqual([]);
  await page.context().close();
});

test('a card is archived with what is below it, and restored', async () => {
  const { page, problems } = await visit(browser, origin);
  await logIn(page, owner.email, `/cards/${card.id}`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: 'Archive it too' }).check();
  await dialog.getByRole('button', { name: 'Archive 2 cards' }).click();
  const banner = page.getByRole('status').filter({ hasText: /^Archived/ });
  await banner.waitFor();
  // nothing can be changed but that
  expect(await page.getByRole('button', { name: /^Number of Users/ }).count()).toBe(0);
  await banner.getByRole('button', { name: 'Restore' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restore 2 cards' }).click();
  await banner.waitFor({ state: 'detached' });
  expect((await answered(admin.get(`/api/v1/cards/${below.id}`), 200)).body.status).toBe('ACTIVE');
  expect(unexpected(problems)).toEqual([]);
  await page.context().close();
});

test('a reader sees the card and is offered nothing', async () => {
  const { page, problems } = await visit(browser, origin);
  await logIn(page, reader.email, `/cards/${card.id}`);
  await page.getByRole('heading', { level: 1, name: 'Harbour', exact: true }).waitFor();
  for (const name of [/^Number of Users/, 'Change the approval', /^Subtype/, 'Edit dates'])
    expect(await page.getByRole('button', { name }).count(), String(name)).toBe(0);
  await page.getByRole('button', { name: 'More actions' }).click();
  expect(await page.getByRole('menuitem').allTextContents()).toEqual([
    'Copy link',
    expect.stringMatching(/^Copy APP-/),
    'Follow',
  ]);
  expect(problems).toEqual([]);
  await page.context().close();
});
