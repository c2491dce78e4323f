import type { Page } from 'playwright-core';
import { person } from '../support/accounts.ts';
import { survivingWorker } from '../support/jobs.ts';
import { eventually, names, openInventory, parameter } from './inventory.ts';

// pages of a busy machine are slow
vi.setConfig({ testTimeout: 180_000 });

const { t, admin, create, open } = await openInventory();
const startWorker = survivingWorker(() => t.services);

const heads = async (page: Page) =>
  (await page.getByRole('columnheader').allTextContents()).filter((text) => text !== '');

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
  await eventually(() => heads(page)).toEqual(['Name', 'Number of Users', 'Quality']);
  await page.keyboard.press('Shift+ArrowRight');
  await eventually(() => parameter(page, 'cols')).toContain('attributes.numberOfUsers:126');
  const before = (await users.boundingBox())!;
  await page.mouse.move(before.x + before.width - 1, before.y + 10);
  await page.mouse.down();
  await page.mouse.move(before.x + before.width + 39, before.y + 10, { steps: 4 });
  await page.mouse.up();
  await eventually(() => parameter(page, 'cols')).toContain('attributes.numberOfUsers:166');
  await users.hover();
  await page.getByRole('button', { name: 'Quality: column menu' }).click();
  await page.getByRole('menuitem', { name: 'Hide' }).click();
  await eventually(() => heads(page)).toEqual(['Name', 'Number of Users']);
  // the foot adds up all cards of the filter
  await page.getByRole('row').last().getByText('412').waitFor();
  await page.getByRole('button', { name: 'Number of Users', exact: true }).click();
  await eventually(() => names(page)).toEqual(['Ledger archive', 'Claims desk', 'Ledger']);
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
  await eventually(focused).toBe('1,1');
  await page.keyboard.press('j');
  await eventually(focused).toBe('2,1');
  await page.keyboard.press('x');
  await page.getByRole('row', { name: /Ledger archive/, selected: true }).waitFor();
  await page.keyboard.press('Control+Home');
  await eventually(focused).toBe('0,0');
  await page.keyboard.press('Shift+ArrowDown');
  expect(await page.locator('[data-range="true"]').count()).toBe(2);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a view is saved, changed, shared and deleted', async () => {
  const colleague = await person(t, { role: 'member', display_name: 'Cleo Colleague' });
  const { page, problems, accessibility } = await open(
    '/inventory?type=Application&filter=attributes.hostingType%20in%20(onPremise)',
  );
  await page.getByText('1 card').waitFor();
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save as view' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save as view' });
  await dialog.getByLabel('Name').fill('On our machines');
  await dialog.getByRole('radio', { name: 'Chosen people' }).check();
  await dialog.getByRole('combobox', { name: 'Add a person' }).fill('cleo');
  await page.getByRole('option', { name: 'Cleo Colleague' }).click();
  expect(await accessibility()).toEqual([]);
  await dialog.getByRole('switch', { name: /Feed/ }).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'On our machines' }).waitFor();
  const id = parameter(page, 'view');

  await page.getByRole('button', { name: 'Quality', exact: true }).click();
  await page.getByText('Edited').waitFor();
  await page.getByRole('button', { name: 'Reset' }).click();
  await page.getByText('Edited').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Quality', exact: true }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Edited').waitFor({ state: 'detached' });

  // whom it is shared with sees it in the menu, and by an address that only names it
  const other = await open(`/inventory?view=${id}`, {}, colleague.email);
  await other.page.getByRole('heading', { level: 1, name: 'On our machines' }).waitFor();
  await other.page.getByText('1 card').waitFor();
  expect(parameter(other.page, 'sort')).toBe('data_quality');
  await other.page.getByRole('button', { name: 'Views' }).click();
  await other.page.getByText('Shared with me').waitFor();
  await other.page.context().close();

  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Copy feed address' }).waitFor();
  await page.getByRole('menuitem', { name: 'Delete view' }).click();
  await page.getByRole('heading', { level: 1, name: 'Application' }).waitFor();
  expect([...problems, ...other.problems]).toEqual([]);
  await page.context().close();
});

test.each([1440, 390])('a card is shown beside the list, %i px', async (width) => {
  const { page, problems, accessibility } = await open('/inventory?type=Application', { width });
  if (width > 1200) {
    await page.locator('[data-line="0"][data-column="1"]').click();
    await page.keyboard.press(' ');
  } else {
    await page.getByRole('listitem').filter({ hasText: 'Claims desk' }).waitFor();
    expect(await accessibility()).toEqual([]);
    await page.getByRole('button', { name: 'Show Claims desk here' }).click();
  }
  const panel = page.getByRole(width > 1200 ? 'complementary' : 'dialog', { name: 'Card', exact: true });
  await panel.getByRole('heading', { name: 'Claims desk' }).waitFor();
  expect(await accessibility()).toEqual([]);
  if (width > 1200) {
    await page.keyboard.press('j');
    await panel.getByRole('heading', { name: 'Ledger' }).waitFor();
    await panel.getByRole('link', { name: 'Database server' }).waitFor();
  }
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  expect(parameter(page, 'peek')).toBe(null);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('the filter is built of chips, as text and by facets, which all show one expression', async () => {
  const { page, problems, accessibility } = await open('/inventory?type=Application&search=filter');
  await create('Application', 'Filter one', { attributes: { hostingType: 'onPremise', numberOfUsers: 4 } });
  await create('Application', 'Filter two', { attributes: { hostingType: 'hybrid', numberOfUsers: 40 } });
  await create('Application', 'Filter three');
  await page.goto('/inventory?type=Application&search=filter');
  await page.getByText('3 cards').waitFor();
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('textbox', { name: 'Find a field' }).fill('number of');
  await page.getByRole('menuitem', { name: 'Number of Users' }).click();
  await page.getByRole('textbox', { name: 'Number of Users' }).fill('10');
  await page.keyboard.press('Enter');
  await page.getByText('1 card').waitFor();
  expect(parameter(page, 'filter')).toBe('attributes.numberOfUsers >= 10');
  await page.getByRole('button', { name: 'Number of Users at least 10' }).waitFor();
  expect(await accessibility()).toEqual([]);

  await page.getByRole('button', { name: 'Text', exact: true }).click();
  const text = page.getByRole('textbox', { name: 'Text', exact: true });
  await text.fill('attributes.hostingType = nowhere');
  await page
    .getByRole('status')
    .getByText(/nowhere/)
    .waitFor();
  expect(await page.locator('.cm-fault').textContent()).toBe('nowhere');
  await text.fill('');
  await text.pressSequentially('attributes.hosting');
  await page.getByRole('option', { name: /hostingType/ }).click();
  await eventually(() => text.textContent()).toBe('attributes.hostingType');
  await text.press('End');
  await text.pressSequentially(' = hyb', { delay: 50 });
  // asked for: on a busy machine the list of what was typed can close again
  await text.press('Control+Space');
  await page.getByRole('option', { name: /hybrid/ }).waitFor();
  await page.keyboard.press('Escape');
  await text.fill('attributes.hostingType = hybrid or name ~ "one"');
  await page.getByRole('status').getByText('2 cards').waitFor();
  expect(await accessibility()).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Advanced', exact: true }).waitFor();
  await page.getByRole('row').last().getByText('2 cards').waitFor();
  await page.getByRole('button', { name: 'Remove condition on Advanced' }).click();

  await page.getByRole('checkbox', { name: /Hybrid/ }).click({ modifiers: ['Alt'] });
  await eventually(() => parameter(page, 'filter')).toBe('attributes.hostingType not in (hybrid)');
  await page.getByRole('row').last().getByText('2 cards').waitFor();
  await page
    .getByRole('checkbox', { name: /No value/ })
    .first()
    .waitFor();
  expect(problems.filter((problem) => !/422/.test(problem))).toEqual([]);
  await page.context().close();
});

test('rows are grouped, shown as a tree, and written into a file', async () => {
  const top = await create('Application', 'Shape top', {
    attributes: { hostingType: 'onPremise', numberOfUsers: 2 },
  });
  await create('Application', 'Shape below', {
    parent_id: top,
    attributes: { hostingType: 'hybrid', numberOfUsers: 3 },
  });
  const columns = encodeURIComponent('["name","attributes.numberOfUsers"]');
  const { page, problems, accessibility } = await open(
    `/inventory?type=Application&filter=name%20~%20shape&cols=${columns}`,
  );
  await page.getByRole('button', { name: 'Group', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Hosting Type' }).click();
  const group = page.getByRole('row', { name: /On-Premise 1/ });
  await group.getByText('2', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Shape below' }).waitFor();
  expect(await accessibility()).toEqual([]);
  await group.getByRole('button', { name: /On-Premise/ }).click();
  await page.getByRole('link', { name: 'Shape top' }).waitFor({ state: 'detached' });

  await startWorker();
  await page.getByText('Tree', { exact: true }).click();
  await eventually(() => names(page)).toEqual(['Shape top', 'Shape below']);
  await page.getByRole('button', { name: 'Export' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  const { readFile } = await import('node:fs/promises');
  const file = await readFile(await (await download).path(), 'utf8');
  expect(file.split(/\r?\n/)[0]).toBe('\uFEFFid,type,name,attributes.numberOfUsers');
  expect(file).toContain('Shape below,3');
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a filter that the service refuses is mended where it stands', async () => {
  const { page, problems, accessibility } = await open('/inventory?type=Application&filter=users+%3D+%3D+3');
  await page.getByRole('heading', { name: 'The filter is not understood' }).waitFor();
  await page.getByRole('status').filter({ hasText: 'expected a value but found "="' }).waitFor();
  expect(await accessibility()).toEqual([]);
  expect(problems.splice(0).every((problem) => problem.includes('422'))).toBe(true);
  const editor = page.getByRole('textbox', { name: 'Text', exact: true });
  await editor.fill('attributes.numberOfUsers > 300');
  await editor.press('Enter');
  await eventually(() => names(page)).toEqual(['Ledger']);
  await page.context().close();
});

test('the title names the cards of a type, whose rare icon is read from a small file', async () => {
  await admin.patch('/api/v1/metamodel/types/Application', { icon: 'skateboarding' });
  const { page, problems } = await open('/');
  const sizes: number[] = [];
  page.on('response', async (response) => {
    if (/\/assets\/sk-/.test(response.url())) sizes.push((await response.body()).length);
  });
  await page.goto('/inventory?type=Application');
  await page.getByRole('heading', { level: 1, name: 'Applications' }).waitFor();
  await eventually(() => sizes.length).toBe(1);
  expect(sizes[0]).toBeLessThan(100_000);
  expect(problems).toEqual([]);
  await page.context().close();
});
