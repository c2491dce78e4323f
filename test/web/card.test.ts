import { person } from '../support/accounts.ts';
import { answered, openApp } from '../support/harness.ts';
import { listen, logIn, startBrowser, visit } from './browser.ts';

const { t, admin, sql } = await openApp(['admin']);
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
] as const)(
  'each part of a card has an address and is accessible, $width px, $colorScheme',
  async (look) => {
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
      await page.locator('main [aria-busy=true]').first().waitFor({ state: 'detached' });
      expect(await accessibility(), tab).toEqual([]);
    }
    expect(new URL(page.url()).searchParams.get('tab')).toBe('history');
    await page.goBack();
    await page.locator(`[aria-current=page]`, { hasText: 'Used in' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  },
  120_000,
);

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
  expect(await accessibility('[role=dialog]')).toEqual([]);
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

test('cards are related by search, made and related, described, removed and taken back', async () => {
  await made('/cards', { type: 'BusinessCapability', name: 'Berthing' });
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, `/cards/${card.id}`);
  const relations = page.getByRole('region', { name: 'Relations' });
  await relations.getByRole('button', { name: 'Relate' }).click();
  await page.getByRole('menuitem', { name: /Business Capability/ }).click();
  // it lists before anything is typed
  await page.getByRole('option', { name: 'Berthing' }).click();
  await relations.getByRole('link', { name: 'Berthing' }).waitFor();
  await relations.getByRole('button', { name: 'Add Business Capability' }).click();
  await page.getByRole('combobox', { name: 'Find Business Capability' }).fill('Mooring');
  await page.getByRole('option', { name: 'Create “Mooring”' }).click();
  await relations.getByRole('link', { name: 'Mooring' }).waitFor();
  await relations.getByRole('button', { name: 'Relation to Berthing' }).click();
  await page.getByRole('menuitem', { name: 'Details' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /^Support Type/ }).click();
  await page.getByRole('option', { name: 'Leading' }).click();
  await dialog.getByRole('button', { name: 'Support Type Leading' }).waitFor();
  expect(await accessibility('[role=dialog]')).toEqual([]);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await relations.getByRole('link', { name: 'Berthing leading' }).waitFor();

  await relations.getByRole('button', { name: 'Relation to Mooring' }).click();
  await page.getByRole('menuitem', { name: 'Remove relation' }).click();
  await relations.getByRole('link', { name: 'Mooring' }).waitFor({ state: 'detached' });
  await page
    .getByRole('alert')
    .filter({ hasText: 'Mooring removed' })
    .getByRole('button', { name: 'Undo' })
    .click();
  await relations.getByRole('link', { name: 'Mooring' }).waitFor();
  expect(unexpected(problems)).toEqual([]);
  await page.context().close();
});

test('the parent changes, a card is made below, data flows to another card', async () => {
  const { page, problems } = await visit(browser, origin);
  await logIn(page, owner.email, `/cards/${card.id}`);
  const hierarchy = page.getByRole('region', { name: 'Hierarchy' });
  await hierarchy.getByRole('button', { name: 'Remove' }).click();
  await hierarchy.getByText('No parent').waitFor();
  await hierarchy.getByRole('button', { name: 'Set parent' }).click();
  await page.getByRole('option', { name: 'Harbour platform' }).click();
  await hierarchy.getByRole('link', { name: 'Harbour platform' }).waitFor();
  await hierarchy.getByRole('button', { name: 'Add a card below' }).click();
  await page.getByRole('combobox', { name: 'Find or create a card' }).fill('Harbour test');
  await page.getByRole('option', { name: 'Create “Harbour test”' }).click();
  await hierarchy.getByRole('link', { name: 'Harbour test' }).waitFor();

  const flows = page.getByRole('region', { name: 'Data flows' });
  await flows.getByRole('button', { name: 'Data flow' }).click();
  const dialog = page.getByRole('dialog', { name: 'New data flow' });
  await dialog.getByText('Receives from').click();
  await dialog.getByRole('combobox', { name: 'With' }).fill('platform');
  await page.getByRole('option', { name: 'Application Harbour platform' }).click();
  await dialog.getByRole('combobox', { name: 'Frequency' }).click();
  await page.getByRole('option', { name: 'Daily' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await flows.getByRole('img', { name: 'Receives from' }).waitFor();
  await flows.getByRole('cell', { name: 'Daily' }).waitFor();
  expect(unexpected(problems)).toEqual([]);
  await page.context().close();
});

test('people comment, name each other, answer, give roles and tags', async () => {
  const group = await made('/tag-groups', { name: 'Wave', mode: 'single' });
  for (const name of ['First', 'Second']) await made(`/tag-groups/${group.id}/tags`, { name });
  const { page, problems, accessibility } = await visit(browser, origin);
  await logIn(page, owner.email, `/cards/${card.id}?tab=comments`);
  await page.getByRole('textbox', { name: 'Write a comment' }).fill('Is it **done**, @Rolf');
  await page.getByRole('option', { name: /Rolf Reader/ }).click();
  await page.keyboard.press('Control+Enter');
  await page.locator('article strong', { hasText: 'done' }).waitFor();
  const { items } = (await answered(admin.get(`/api/v1/cards/${card.id}/comments`), 200)).body;
  expect(items[0].mentions).toEqual([reader.id]);
  await page.getByRole('button', { name: 'Reply' }).click();
  await page.getByRole('textbox', { name: 'Reply' }).fill('- tomorrow\n- <b>no</b>');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('listitem').filter({ hasText: '<b>no</b>' }).waitFor();
  expect(await accessibility()).toEqual([]);

  await page
    .getByRole('navigation', { name: 'Parts of the card' })
    .getByRole('link', { name: 'Card' })
    .click();
  await page.getByRole('link', { name: 'Add a person' }).click();
  const finder = page.getByRole('combobox', { name: 'Find a person by name or mail' });
  await finder.waitFor();
  // what is typed at once is searched for
  await page.keyboard.type('gec');
  expect(await finder.inputValue()).toBe('gec');
  await page.keyboard.press('Escape');
  await finder.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Add Responsible' }).click();
  await page.getByRole('combobox', { name: 'Find a person by name or mail' }).fill('Rolf');
  await page.getByRole('option', { name: /Rolf Reader/ }).click();
  const responsible = page.getByRole('region', { name: 'Responsible' });
  await responsible.getByText('Rolf Reader').waitFor();
  await responsible.getByRole('button', { name: 'Rolf Reader, Responsible' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await responsible.getByText('Nobody yet').waitFor();

  await page.getByRole('button', { name: 'Tag', exact: true }).click();
  await page.getByRole('checkbox', { name: 'First' }).click();
  await page.getByRole('checkbox', { name: 'First', checked: true }).waitFor();
  await page.getByRole('checkbox', { name: 'Second' }).click();
  await page.getByRole('checkbox', { name: 'First', checked: false }).waitFor();
  await page.getByRole('checkbox', { name: 'Second', checked: true }).waitFor();
  expect(unexpected(problems)).toEqual([]);
  await page.context().close();
});

test('a to-do repeats, a link and a file are added, the file is downloaded', async () => {
  const { page, problems } = await visit(browser, origin);
  await logIn(page, owner.email, `/cards/${card.id}?tab=todos`);
  await page.getByRole('button', { name: 'Add a to-do' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'What is to be done' }).fill('Renew the contract');
  await dialog.getByLabel('Due').fill('2027-01-31');
  await dialog.getByRole('combobox', { name: 'Repeats' }).click();
  await page.getByRole('option', { name: 'Months' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('monthly').waitFor();
  await page.getByRole('checkbox', { name: 'Done: Renew the contract' }).click();
  await page.getByText('2027-02-28').or(page.getByText('28 Feb 2027')).waitFor();

  await page.getByRole('link', { name: 'Documents' }).click();
  const links = page.getByRole('region', { name: 'Links' });
  await links.getByRole('button', { name: 'Add link' }).click();
  await links.getByRole('textbox', { name: 'Address' }).fill('ftp://example.com');
  await links.getByRole('textbox', { name: 'Name' }).fill('Runbook');
  await links.getByRole('button', { name: 'Add link' }).last().click();
  await links.getByText(/http/).first().waitFor();
  await links.getByRole('textbox', { name: 'Address' }).fill('https://example.com/runbook');
  await links.getByRole('button', { name: 'Add link' }).last().click();
  await links.getByRole('link', { name: 'Runbook' }).waitFor();

  const files = page.getByRole('region', { name: 'Files' });
  const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Call the desk first.') };
  await files.locator('input[type=file]').setInputFiles(notes);
  const download = page.waitForEvent('download');
  await files.getByRole('button', { name: 'Download notes.txt' }).click();
  expect((await download).suggestedFilename()).toBe('notes.txt');
  expect(unexpected(problems)).toEqual([]);
  await page.context().close();
});

test('values and the whole card are restored from the history, and the past is shown', async () => {
  const { page, problems, accessibility } = await visit(browser, origin);
  const ofCard = {
    id: (await made('/cards', { type: 'Application', name: 'Quay', description: 'Old text' })).id,
  };
  const change = (body: object) => answered(admin.patch(`/api/v1/cards/${ofCard.id}`, body), 200);
  await sql.run`update events set at = at - interval '10 days' where card_id = ${ofCard.id}::uuid`;
  await sql.run`update cards set created_at = created_at - interval '10 days' where id = ${ofCard.id}::uuid`;
  await change({ description: 'New text', attributes: { numberOfUsers: 5 } });
  await change({ name: 'Quay wall', attributes: { numberOfUsers: 6 } });

  await logIn(page, owner.email, `/cards/${ofCard.id}?tab=history&kind=fields`);
  await page.getByRole('button', { name: 'Restore Description' }).click();
  await page.getByText('Old text').first().waitFor();
  await page.getByRole('button', { name: 'Restore the card as it was before this' }).nth(1).click();
  const dialog = page.getByRole('dialog');
  expect(await accessibility('[role=dialog]')).toEqual([]);
  await dialog.getByRole('button', { name: 'Restore 3 fields' }).click();
  await page.getByRole('heading', { level: 1, name: 'Quay', exact: true }).waitFor();

  const day = new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10);
  await change({ name: 'Quay wall' });
  await page.goto(`/cards/${ofCard.id}?asOf=${day}`);
  await page.getByRole('heading', { level: 1, name: 'Quay', exact: true }).waitFor();
  await page.getByText('Nothing can be changed').waitFor();
  expect(await page.getByRole('button', { name: /^Number of Users/ }).count()).toBe(0);
  expect(await accessibility()).toEqual([]);
  await page.getByRole('button', { name: 'Back to today' }).click();
  await page.getByRole('heading', { level: 1, name: 'Quay wall' }).waitFor();
  expect(unexpected(problems)).toEqual([]);
  await page.context().close();
});

test('a card is archived with what is below it, and restored', async () => {
  const { page, problems } = await visit(browser, origin);
  await logIn(page, owner.email, `/cards/${card.id}`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /^Archive .* too$/ }).check();
  await dialog.getByRole('button', { name: /^Archive \d cards$/ }).click();
  const banner = page.getByRole('status').filter({ hasText: /^Archived/ });
  await banner.waitFor();
  // nothing can be changed but that
  expect(await page.getByRole('button', { name: /^Number of Users/ }).count()).toBe(0);
  await banner.getByRole('button', { name: 'Restore' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Restore \d cards$/ })
    .click();
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
