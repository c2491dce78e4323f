import { person } from '../support/accounts.ts';
import { openApp } from '../support/harness.ts';
import { listen, logIn, startBrowser, visit } from './browser.ts';

const { t } = await openApp(['admin']);
const origin = await listen(t);
const browser = await startBrowser();
afterAll(() => browser.close());
const owner = await person(t, { role: 'admin', display_name: 'Ada Owner' });

test.each([
  { width: 1440, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const)('a channel is added, and a saved report is scheduled to it, $width px', async (look) => {
  const { page, problems, accessibility } = await visit(browser, origin, look);
  const name = `Team of ${look.width}`;
  await logIn(page, owner.email, '/me?tab=notifications');
  await page.getByRole('button', { name: 'Add channel' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Address of the webhook').fill('https://example.com/hook');
  await dialog.getByRole('button', { name: 'Add channel' }).click();
  await dialog.getByText(/hooks\.slack\.com,/).waitFor();
  await dialog.getByLabel('Address of the webhook').fill('https://hooks.slack.com/services/T0/B0/x');
  expect(await accessibility()).toEqual([]);
  await dialog.getByRole('button', { name: 'Add channel' }).click();
  await page.getByRole('switch', { name: `Notifications to ${name}` }).waitFor();
  expect(await accessibility()).toEqual([]);

  const saved = {
    name: `Costs ${look.width}`,
    report_type: 'cost',
    config: { path: '/reports/cost', search: {} },
  };
  await page.evaluate(
    async (body) =>
      await fetch('/api/v1/saved-reports', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'X-Estate-Client': 'web' },
        body,
      }),
    JSON.stringify(saved),
  );
  await page.goto('/reports?tab=saved');
  await page.getByRole('button', { name: `Actions for ${saved.name}` }).click();
  await page.getByRole('menuitem', { name: 'Send regularly' }).click();
  await dialog.getByRole('combobox', { name: 'To' }).click();
  await page.getByRole('option', { name }).click();
  expect(await accessibility()).toEqual([]);
  await dialog.getByRole('button', { name: 'Schedule' }).click();
  await page.getByText(`${saved.name} will be sent`).waitFor();
  const stored = await t.services.db('extraction_schedules').where({ name: saved.name }).first();
  expect(stored).toMatchObject({ report: { format: 'pdf' }, destination: { kind: 'channel' } });

  await page.getByRole('button', { name: `Actions for ${saved.name}` }).click();
  await page.getByRole('menuitem', { name: 'Send regularly' }).click();
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill(`${saved.name} by SFTP`);
  await dialog.getByRole('combobox', { name: 'To' }).click();
  await page.getByRole('option', { name: 'a folder of an SFTP server' }).click();
  await dialog.getByRole('textbox', { name: 'Server', exact: true }).fill('10.0.0.1');
  await dialog.getByLabel('Folder').fill('/incoming');
  await dialog.getByLabel('Fingerprint of the server’s key').fill(`SHA256:${'A'.repeat(43)}`);
  await dialog.getByLabel('User name').fill('estate');
  await dialog.locator('input[type=password]').fill('a secret of the test');
  await dialog.getByRole('button', { name: 'Schedule' }).click();
  await dialog.getByText(/OUTBOUND_ALLOW/).waitFor();
  expect(await accessibility()).toEqual([]);
  await dialog.getByRole('textbox', { name: 'Server', exact: true }).fill('files.example.com');
  await dialog.getByRole('button', { name: 'Schedule' }).click();
  await page.getByText(`${saved.name} by SFTP will be sent`).waitFor();
  const bySftp = await t.services
    .db('extraction_schedules')
    .where({ name: `${saved.name} by SFTP` })
    .first();
  expect(bySftp.destination).toEqual({
    kind: 'sftp',
    host: 'files.example.com',
    port: 22,
    username: 'estate',
    folder: '/incoming',
    host_key: `SHA256:${'A'.repeat(43)}`,
    password: '********',
  });
  // the addresses that were refused are an answer with an error, which browsers write to the console
  expect(problems.filter((problem) => !/422/.test(problem))).toEqual([]);
  await page.context().close();
});
