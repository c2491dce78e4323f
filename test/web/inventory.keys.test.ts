import { eventually, names, openInventory, parameter } from './inventory.ts';

// pages of a busy machine are slow
vi.setConfig({ testTimeout: 180_000 });

const { admin, create, open } = await openInventory();

test('keys list themselves, lead to areas, and sort by a second column', async () => {
  const { page, problems, accessibility } = await open('/inventory?type=Application');
  await page.getByRole('link', { name: 'Ledger archive' }).waitFor();
  await page.locator('body').press('?');
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await dialog.getByText('Next refused cell').waitFor();
  expect(await accessibility()).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.locator('body').press('n');
  await page.getByRole('dialog', { name: 'New card' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('body').press('f');
  await page.getByRole('textbox', { name: 'Find a field' }).waitFor();
  await page.keyboard.press('Escape');

  const head = (name: string) => page.getByRole('columnheader', { name }).getByRole('button').first();
  await head('Hosting Type').click();
  await head('Name').click({ modifiers: ['Shift'] });
  await head('Name').click({ modifiers: ['Shift'] });
  await eventually(() => parameter(page, 'sort')).toBe('attributes.hostingType,-name');
  // options sort as the metamodel declares them
  await eventually(() => names(page)).toEqual(['Ledger', 'Claims desk', 'Ledger archive']);
  expect(await accessibility()).toEqual([]);

  await page.locator('body').press('g');
  await page.locator('body').press('m');
  await page.getByRole('heading', { level: 1, name: 'Capability map' }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('what others change is marked, and new cards wait until they are asked for', async () => {
  const { page, problems, accessibility } = await open('/inventory?type=Application');
  await page.getByRole('link', { name: 'Ledger archive' }).waitFor();
  const [ledger] = (await admin.get('/api/v1/cards?search=ledger&page_size=1')).body.items;
  await admin.patch(`/api/v1/cards/${ledger.id}`, { name: 'Zedger' });
  await create('Application', 'Aardvark');
  await page.getByRole('button', { name: '1 new, show' }).waitFor();
  await page.getByRole('img', { name: 'Changed by somebody else' }).waitFor();
  expect(await names(page)).toEqual(['Claims desk', 'Zedger', 'Ledger archive']);
  expect(await accessibility()).toEqual([]);
  await page.getByRole('button', { name: '1 new, show' }).click();
  await eventually(() => names(page)).toEqual(['Aardvark', 'Claims desk', 'Ledger archive', 'Zedger']);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('pasted rows change cards and become new ones in one dialog, unless they exist or are refused', async () => {
  await create('Application', 'Paste one');
  const { page, problems, accessibility } = await open(
    '/inventory?type=Application&filter=name%20~%20paste&cols=%5B%22name%22%2C%22attributes.numberOfUsers%22%5D',
  );
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('[data-line="0"][data-column="0"]').click();
  await page.evaluate(
    `navigator.clipboard.writeText('Paste one\\t7\\nPaste two\\t8\\nPaste bad\\tmany\\nClaims desk\\t9')`,
  );
  await page.keyboard.press('Control+v');
  const added = page.getByRole('dialog', { name: '3 new cards' });
  await added.getByRole('link', { name: 'Claims desk' }).waitFor();
  expect(await added.getByRole('checkbox', { name: 'Claims desk' }).isChecked()).toBe(false);
  const refused = added.getByRole('row', { name: /Paste bad/ });
  await refused.getByText('must be a number').waitFor();
  expect(await refused.getByRole('checkbox').isChecked()).toBe(false);
  await added.getByRole('row', { name: /Paste two.*8/ }).waitFor();
  expect(await accessibility('[role=dialog]')).toEqual([]);
  await added.getByRole('button', { name: 'Create 1 Application, change 1' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText('2 cards').last().waitFor();
  const { items } = (await admin.get('/api/v1/cards?search=paste&fields=name,attributes')).body;
  expect(new Set(items.map((card: { name: string }) => card.name))).toEqual(
    new Set(['Paste one', 'Paste two']),
  );
  const users = Object.fromEntries(
    items.map((card: { name: string; attributes: { numberOfUsers: number } }) => [
      card.name,
      card.attributes.numberOfUsers,
    ]),
  );
  expect(users).toEqual({ 'Paste one': 7, 'Paste two': 8 });
  expect(problems).toEqual([]);
  await page.context().close();
});

test('F8 leads from one refused cell to the next, and round again', async () => {
  const cols = encodeURIComponent(JSON.stringify(['name', 'attributes.numberOfUsers']));
  const { page, problems, accessibility } = await open(`/inventory?type=Application&cols=${cols}`);
  await page.getByRole('link', { name: 'Aardvark' }).waitFor();
  const cell = (line: number, column = 1) => page.locator(`[data-line="${line}"][data-column="${column}"]`);
  for (const line of [0, 2]) {
    await cell(line).click();
    await page.keyboard.press('Enter');
    await page.keyboard.type('many');
    await page.keyboard.press('Enter');
    await cell(line).and(page.locator('[aria-invalid=true]')).waitFor();
  }
  expect(await accessibility()).toEqual([]);
  const focused = () => page.evaluate<string | undefined>('document.activeElement.dataset.line');
  await cell(1, 0).click({ position: { x: 2, y: 2 } });
  for (const line of ['2', '0', '2']) {
    await page.keyboard.press('F8');
    await eventually(focused).toBe(line);
  }
  // the refused values are answers with an error, which browsers write to the console
  expect(problems.filter((problem) => !/422/.test(problem))).toEqual([]);
  await page.context().close();
});
