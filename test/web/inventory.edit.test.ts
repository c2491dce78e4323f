import { answered } from '../support/harness.ts';
import { eventually, openInventory } from './inventory.ts';

// pages of a busy machine are slow
vi.setConfig({ testTimeout: 180_000 });

const { admin, create, open } = await openInventory();

test('a card is created: a name that is taken, likely the same cards, and undo', async () => {
  const { page, problems, accessibility } = await open('/inventory?type=Application&create=true');
  const dialog = page.getByRole('dialog', { name: 'New card' });
  await dialog.getByLabel('Name').fill('Ledger');
  await dialog.getByRole('link', { name: 'Ledger', exact: true }).waitFor();
  expect(await accessibility()).toEqual([]);
  await dialog.getByRole('button', { name: 'Create Application' }).click();
  await dialog.getByText(/name/i).last().waitFor();
  await dialog.getByLabel('Name').fill('Ledger 2');
  await dialog.getByRole('combobox', { name: 'Parent' }).fill('ledger');
  await page.getByRole('option', { name: /^Application\s*Ledger$/ }).click();
  await dialog.getByRole('button', { name: 'Create Application' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page
    .getByRole('complementary', { name: 'Card', exact: true })
    .getByRole('link', { name: 'Ledger', exact: true })
    .first()
    .waitFor();
  await page.getByText('4 cards').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('3 cards').waitFor();
  expect(problems.filter((problem) => !/409|422|404/.test(problem))).toEqual([]);
  await page.context().close();
});

test('selected cards are tagged, related, approved, archived and restored', async () => {
  const group = await admin.create('/api/v1/tag-groups', { name: 'Wave' });
  await admin.create(`/api/v1/tag-groups/${group.id}/tags`, { name: 'First' });
  const one = await create('Application', 'Wave one');
  await create('Application', 'Wave two');
  await create('Application', 'Below one', { parent_id: one });
  const { page, problems, accessibility } = await open('/inventory?type=Application&search=wave');
  const choose = async () => {
    await page.getByRole('checkbox', { name: 'Select Wave one' }).check();
    await page.getByRole('checkbox', { name: 'Select Wave two' }).check();
  };
  const act = async (action: string) => {
    await page.getByRole('toolbar').getByRole('button', { name: action, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    return dialog;
  };
  await choose();
  let dialog = await act('Tag');
  await dialog.getByRole('combobox', { name: 'Add tags' }).click();
  await page.getByRole('option', { name: 'First' }).click();
  await dialog.getByText('2 of 2 change.').waitFor();
  expect(await accessibility()).toEqual([]);
  await dialog.getByRole('button', { name: 'Change 2 cards' }).click();
  await dialog.waitFor({ state: 'detached' });

  await choose();
  dialog = await act('Relate');
  await dialog.getByRole('combobox', { name: 'Relation to' }).fill('IT Comp');
  await page.getByRole('option', { name: 'IT Component' }).click();
  await dialog.getByRole('combobox', { name: 'Other card' }).click();
  await page.getByRole('option', { name: 'Database server' }).click();
  await dialog.getByRole('button', { name: 'Relate 2 cards' }).click();
  await dialog.waitFor({ state: 'detached' });

  await choose();
  dialog = await act('Approval');
  await dialog.getByText('2 of 2 change.').waitFor();
  await dialog.getByRole('button', { name: 'Approve 2 cards' }).click();
  await dialog.waitFor({ state: 'detached' });

  await choose();
  dialog = await act('Archive');
  await dialog.getByText('There is 1 card below them').waitFor();
  expect(await accessibility()).toEqual([]);
  await dialog.getByRole('button', { name: 'Archive 3 cards' }).click();
  await page.getByRole('heading', { name: 'No card matches the filter' }).waitFor();
  await page.getByRole('checkbox', { name: 'Archived cards' }).check();
  await choose();
  dialog = await act('Restore');
  await dialog.getByRole('button', { name: 'Restore 2 cards' }).click();
  await page.getByRole('checkbox', { name: 'Archived cards' }).uncheck();
  await page.getByText('2 cards').last().waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('two cards are merged, with the values that are chosen', async () => {
  await create('Application', 'Twin A', { attributes: { numberOfUsers: 1 } });
  await create('Application', 'Twin B', { attributes: { numberOfUsers: 2 }, alias: 'Second' });
  const { page, problems, accessibility } = await open(
    '/inventory?type=Application&search=twin&cols=["name","attributes.numberOfUsers"]',
  );
  await page.getByRole('checkbox', { name: 'Select Twin A' }).check();
  await page.getByRole('checkbox', { name: 'Select Twin B' }).check();
  await page.getByRole('button', { name: 'Merge' }).click();
  const dialog = page.getByRole('dialog', { name: 'Merge 2 cards' });
  await dialog.getByRole('radio', { name: '2', exact: true }).check();
  expect(await accessibility()).toEqual([]);
  await dialog.getByRole('button', { name: 'Merge 2 cards' }).click();
  await page.getByText('1 card').waitFor();
  await page.locator('[data-line="0"]').getByText('2', { exact: true }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

const editable =
  '/inventory?type=Application&search=edit&cols=' +
  encodeURIComponent(
    '["name","attributes.numberOfUsers","attributes.hostingType","subtype","lifecycle","description"]',
  );

test('cells are edited in their place, refused with the reason, and taken back', async () => {
  const id = await create('Application', 'Edit me', { attributes: { numberOfUsers: 7 } });
  const { page, problems, accessibility } = await open(editable);
  const users = page.locator('[data-line="0"][data-column="1"]');
  await users.click();
  await page.keyboard.type('many');
  await page.keyboard.press('Enter');
  await eventually(() => users.getAttribute('aria-invalid')).toBe('true');
  expect(await users.getAttribute('title')).toMatch(/number/);
  expect(await accessibility()).toEqual([]);
  // what was typed is kept for another try
  await users.click();
  await page.keyboard.press('Enter');
  const field = page.getByRole('textbox', { name: 'Number of Users' });
  expect(await field.inputValue()).toBe('many');
  await field.fill('12');
  await page.keyboard.press('Tab');
  await eventually(() => users.textContent()).toBe('12');
  await eventually(async () => (await admin.get(`/api/v1/cards/${id}`)).body.attributes.numberOfUsers).toBe(
    12,
  );
  // Tab has gone to the right, typing finds an option
  await page.keyboard.type('on-p');
  await page.getByRole('option', { name: 'On-Premise' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const hosting = page.locator('[data-line="0"][data-column="2"]');
  await eventually(() => hosting.textContent()).toBe('On-Premise');
  // the offer of this change, not that of the one before
  await page.getByRole('alert').filter({ hasText: 'Hosting Type' }).waitFor();
  await hosting.click();
  await page.keyboard.press('Control+z');
  await eventually(() => hosting.textContent()).toBe('–');
  await users.click();
  await page.keyboard.press('F2');
  await page.keyboard.press('Escape');
  await eventually(() => users.textContent()).toBe('12');
  expect(problems.filter((problem) => !/422/.test(problem))).toEqual([]);
  await page.context().close();
});

test('a cell that somebody else changed is compared before it is written', async () => {
  const id = await create('Application', 'Edit both', { attributes: { numberOfUsers: 1 } });
  const { page, problems, accessibility } = await open(`${editable}&filter=name%20~%20both`);
  const users = page.locator('[data-line="0"][data-column="1"]');
  await users.click();
  await page.keyboard.type('3');
  // the page learns of it only when it saves
  await page.route('**/events/stream', (route) => route.abort());
  await answered(admin.patch(`/api/v1/cards/${id}`, { attributes: { numberOfUsers: 2 } }), 200);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Somebody else has changed this card' });
  await dialog.waitFor();
  expect(await dialog.getByRole('cell').allTextContents()).toEqual(['1', '2', '3']);
  expect(await accessibility()).toEqual([]);
  await dialog.getByRole('button', { name: 'Save my choice' }).click();
  await eventually(async () => (await admin.get(`/api/v1/cards/${id}`)).body.attributes.numberOfUsers).toBe(
    3,
  );
  expect(problems.filter((problem) => !/stream|ERR_FAILED|412/.test(problem))).toEqual([]);
  await page.context().close();
});

test('ranges are copied, pasted with a preview, filled down and taken back', async () => {
  for (const name of ['Edit range a', 'Edit range b', 'Edit range c'])
    await create('Application', name, { attributes: { numberOfUsers: 1, hostingType: 'hybrid' } });
  const { page, problems, accessibility } = await open(
    `${editable.replace('search=edit&', '')}&filter=name%20~%20range`,
  );
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('[data-line="0"][data-column="0"]').click();
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Control+c');
  await eventually(() => page.evaluate('navigator.clipboard.readText()')).toBe(
    'Edit range a\t1\tHybrid\nEdit range b\t1\tHybrid',
  );

  await page.evaluate(`navigator.clipboard.writeText('10\tOn-Premise\\n20\tnowhere\\n30\tCloud (SaaS)')`);
  await page.locator('[data-line="0"][data-column="1"]').click();
  await page.keyboard.press('Control+v');
  const dialog = page.getByRole('dialog', { name: 'Paste' });
  await dialog.getByText('2 of 3 change, 1 is refused.').waitFor();
  expect(await accessibility()).toEqual([]);
  await dialog.getByRole('button', { name: 'Change 2 cards' }).click();
  const values = async (column: number) =>
    await page.locator(`[data-column="${column}"][data-line]`).allTextContents();
  await eventually(() => values(1)).toEqual(['10', '1', '30']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(() => values(1)).toEqual(['1', '1', '1']);

  await page.locator('[data-line="0"][data-column="1"]').click();
  await page.keyboard.type('5');
  await page.keyboard.press('Enter');
  await eventually(() => values(1)).toEqual(['5', '1', '1']);
  await page.locator('[data-line="0"][data-column="1"]').click();
  await page.locator('[data-line="2"][data-column="1"]').click({ modifiers: ['Shift'] });
  await page.keyboard.press('Control+d');
  await page
    .getByRole('dialog', { name: 'Fill down' })
    .getByRole('button', { name: 'Change 2 cards' })
    .click();
  await eventually(() => values(1)).toEqual(['5', '5', '5']);
  expect(problems.filter((problem) => !/422/.test(problem))).toEqual([]);
  await page.context().close();
});

test('fields of selected cards are changed at once', async () => {
  await create('Application', 'Mass a', { attributes: { hostingType: 'hybrid' } });
  await create('Application', 'Mass b');
  const { page, problems, accessibility } = await open('/inventory?type=Application&filter=name%20~%20mass');
  await page.getByRole('link', { name: 'Mass b' }).waitFor();
  await page.getByRole('checkbox', { name: 'Select all rows' }).check();
  await page.getByRole('button', { name: 'Edit fields' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit 2 cards' });
  await dialog.getByRole('combobox', { name: 'Add a field' }).fill('hosting');
  await page.getByRole('option', { name: 'Hosting Type' }).click();
  await dialog.getByRole('combobox', { name: 'Hosting Type' }).click();
  await page.getByRole('option', { name: 'Hybrid' }).click();
  await dialog.getByText('1 of 2 change.').waitFor();
  await dialog.getByRole('rowheader', { name: 'Mass b' }).waitFor();
  expect(await accessibility()).toEqual([]);
  await dialog.getByRole('button', { name: 'Change 1 card' }).click();
  await page.getByText('1 card changed').waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});
