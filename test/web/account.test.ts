import { totpCode } from '../../domain/access/access.totp.ts';
import { mailProcessor, registrationProcessor } from '../../workers/processors.ts';
import { startWorkers } from '../../workers/runtime.ts';
import { loginAs, password, person, unthrottled } from '../support/accounts.ts';
import { closeAfterAll, ok, openApp } from '../support/harness.ts';
import { startSmtp, useSmtp } from '../support/smtp.ts';
import { until } from '../support/until.ts';
import { listen, logIn, startBrowser, visit } from './browser.ts';

const { t, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const smtp = closeAfterAll(await startSmtp());
closeAfterAll(await startWorkers(t.services, [mailProcessor, registrationProcessor]));
const origin = await listen(t);
const browser = await startBrowser();
afterAll(() => browser.close());

test('somebody registers, and confirms the address by the link of the mail', async () => {
  await useSmtp(t.services, smtp.port, { app_base_url: origin });
  await ok(admin.patch('/api/v1/settings/registration', { enabled: true }));
  const { page, problems, accessibility } = await visit(browser, origin);
  await page.goto('/login');
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByRole('heading', { name: 'Create an account' }).waitFor();
  await page.getByLabel('E-mail address').fill('grace@estate.example');
  await page.getByLabel('Name').fill('Grace New');
  await page.getByLabel('Password', { exact: true }).fill('short');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText(/characters/).waitFor();
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText(/A mail to grace@estate.example/).waitFor();
  expect(await accessibility()).toEqual([]);
  const link = await until(
    'the mail',
    async () => /http\S+confirm-registration\S+/.exec(smtp.mails.at(-1)?.text ?? '')?.[0],
  );
  await unthrottled(t);
  await page.goto(link);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText(/Grace/).first().waitFor();
  // the password that was too short is an answer with an error, which browsers write to the console
  expect(problems.filter((problem) => !/422/.test(problem))).toEqual([]);
  await page.context().close();
});

test('a person sets up a second factor, ends another session, and makes a token', async () => {
  const who = await person(t, { display_name: 'Ada Owner' });
  const { page, problems, accessibility } = await visit(browser, origin);
  const other = await visit(browser, origin, { width: 390 });
  await logIn(other.page, who.email);
  await unthrottled(t);
  await logIn(page, who.email, '/me?tab=security');
  await page.getByRole('button', { name: 'End' }).waitFor();
  expect(await accessibility()).toEqual([]);
  await page.getByRole('button', { name: 'End' }).click();
  await page.getByRole('button', { name: 'End' }).waitFor({ state: 'detached' });
  await other.page.goto('/inventory');
  await other.page.getByRole('heading', { name: 'Log in' }).waitFor();
  await other.page.context().close();

  await page.getByRole('button', { name: 'Set up' }).click();
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('img', { name: 'QR code for the authenticator' }).waitFor();
  const secret = await page.locator('code').innerText();
  await page.getByLabel('Code from the app').fill(totpCode(secret));
  await page.getByRole('button', { name: 'Activate' }).click();
  await page.getByText(/Each opens the account once/).waitFor();
  expect(await page.locator('ul li').count()).toBeGreaterThan(5);

  await page.getByRole('tab', { name: 'Tokens' }).click();
  await page.getByRole('button', { name: 'Create token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Nightly export');
  await dialog.getByRole('button', { name: 'Create token' }).click();
  const token = await page.getByRole('status').locator('code').innerText();
  const answer = await fetch(`${origin}/api/v1/cards`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  expect(await accessibility()).toEqual([]);
  await page
    .getByRole('row', { name: /Nightly export/ })
    .getByRole('button', { name: 'Revoke' })
    .click();
  await page.getByRole('row', { name: /Nightly export/ }).waitFor({ state: 'detached' });

  await page.getByRole('tab', { name: 'Notifications' }).click();
  const mentioned = page.getByRole('switch', { name: 'Somebody mentions me, By mail' });
  const before = await mentioned.isChecked();
  // the input lies below the track, which is what people click
  await mentioned.press('Space');
  await until('the switch', async () => (await mentioned.isChecked()) !== before);
  expect(await accessibility()).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});

test('where the workspace requires a second factor, its set-up comes first', async () => {
  await ok(admin.patch('/api/v1/settings/two-factor', { required: true }));
  const who = await person(t);
  expect((await loginAs(t, who)).body.two_factor_setup_required).toBe(true);
  await unthrottled(t);
  const { page } = await visit(browser, origin);
  await logIn(page, who.email, '/me');
  await page.getByText('This workspace requires a second factor.').waitFor();
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Code from the app').fill(totpCode(await page.locator('code').innerText()));
  await page.getByRole('button', { name: 'Activate' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
  await page.context().close();
  await ok(admin.patch('/api/v1/settings/two-factor', { required: false }));
});

test('an administrator views the service as another role', async () => {
  const who = await person(t, { role: 'admin', display_name: 'Ada Admin' });
  await unthrottled(t);
  const { page, problems } = await visit(browser, origin);
  await logIn(page, who.email);
  await page.getByRole('button', { name: 'Ada Admin' }).click();
  await page.getByRole('menuitem', { name: 'View as role' }).click();
  await page.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: 'Viewer' }).click();
  await page.getByRole('button', { name: 'View as role' }).click();
  await page.getByText('You see the service as Viewer.').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('You see the service as Viewer.').waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
  await page.context().close();
});

test('a file that is not there is not found, and that is not kept', async () => {
  for (const address of [
    '/assets/gone-Ab12.js',
    '/assets/..%2findex.html',
    '/assets/%2e%2e/x',
    '/assets/..%5cx',
  ]) {
    const answer = await fetch(origin + address);
    expect([address, answer.status]).toEqual([address, 404]);
    expect(answer.headers.get('cache-control') ?? '').not.toContain('immutable');
  }
});

test('people choose among the languages that the workspace offers', async () => {
  await ok(admin.patch('/api/v1/settings/languages', { languages: ['de', 'en'] }));
  const who = await person(t, { display_name: 'Grete Gast' });
  await unthrottled(t);
  const { page, problems } = await visit(browser, origin);
  await logIn(page, who.email, '/me');
  await page.getByText('Deutsch').click();
  await page.getByRole('heading', { name: 'Sprache' }).waitFor();
  await ok(admin.patch('/api/v1/settings/languages', { languages: ['de'] }));
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Konto' }).waitFor();
  expect(await page.getByRole('heading', { name: 'Sprache' }).count()).toBe(0);
  expect(problems).toEqual([]);
  await page.context().close();
  await ok(admin.patch('/api/v1/settings/languages', { languages: null }));
});
