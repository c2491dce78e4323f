import type { Page } from 'playwright-core';
import { person } from '../support/accounts.ts';
import { answered, openApp } from '../support/harness.ts';
import { listen, logIn, startBrowser, visit } from './browser.ts';

// pages of a busy machine are slow
vi.setConfig({ testTimeout: 180_000 });

const { t, admin } = await openApp(['admin']);
const origin = await listen(t);
const browser = await startBrowser();
afterAll(() => browser.close());
await admin.create('/api/v1/cards', { type: 'Application', name: 'Ledger' });

const figures = (page: Page) => page.getByRole('link', { name: /Cards 1/ });

test('a tab follows the session that another tab ends or replaces', async () => {
  const ada = await person(t, { role: 'admin', display_name: 'Ada Owner' });
  const viewer = await person(t, { role: 'viewer', display_name: 'Vic Viewer' });
  const { page } = await visit(browser, origin);
  await logIn(page, ada.email);
  await page.goto('/');
  await figures(page).waitFor();
  const other = await page.context().newPage();
  await other.goto('/');
  await figures(other).waitFor();
  await other.getByRole('button', { name: 'Ada Owner' }).click();
  await other.getByRole('menuitem', { name: 'Log out' }).click();
  await page.waitForURL(/\/login/);
  // a login meanwhile would lead the other tab from its login page
  await other.getByLabel('E-mail address').waitFor();

  await logIn(page, ada.email);
  await page.goto('/');
  await figures(page).waitFor();
  await page.context().clearCookies();
  await logIn(other, viewer.email);
  await other.goto('/');
  await page.getByRole('button', { name: 'Ada Owner' }).waitFor({ state: 'detached' });
  await page.context().close();
});

test('other rights of the account replace what a page shows, when it is looked at again', async () => {
  const member = await person(t, { role: 'member', display_name: 'Mia Member' });
  const { page } = await visit(browser, origin);
  await logIn(page, member.email);
  await page.goto('/');
  await page.getByRole('link', { name: 'Import' }).waitFor();
  await answered(admin.patch(`/api/v1/users/${member.id}`, { role: 'viewer' }), 200);
  // recent checks are not repeated
  await page.waitForTimeout(5_500);
  await page.evaluate("dispatchEvent(new Event('focus'))");
  await page.getByRole('link', { name: 'Import' }).waitFor({ state: 'detached' });
  await page.context().close();
});

test('what a page could not read is said and asked for again', async () => {
  const ada = await person(t, { role: 'admin', display_name: 'Ada Owner' });
  const { page } = await visit(browser, origin);
  await logIn(page, ada.email);
  const problem = { status: 500, code: 'internal', detail: 'It failed.', request_id: 'request-7' };
  const again = page.getByRole('button', { name: 'Try again' });
  // fails until the button is used: a live event may ask again before it, or while the page is left
  await page.route('**/reports/dashboard*', async (route) =>
    (await page.evaluate('globalThis.hasAskedAgain === true').catch(() => false))
      ? route.continue()
      : route.fulfill({
          status: 500,
          contentType: 'application/problem+json',
          body: JSON.stringify(problem),
        }),
  );
  await page.goto('/');
  await page.getByRole('alert').getByText('request-7').waitFor();
  await page.evaluate(
    "addEventListener('click', () => (globalThis.hasAskedAgain = true), { capture: true })",
  );
  await again.click();
  await figures(page).waitFor();
  await page.unrouteAll();

  // a service that does not answer
  await page.route('**/api/v1/**', () => undefined);
  await page.goto('/', { waitUntil: 'commit' });
  await page.getByRole('status', { name: 'Loading' }).waitFor();
  await page.unrouteAll();

  // code that does not arrive
  await page.route('**/assets/kit-*.js', (route) => route.abort());
  await page.goto('/');
  await page.getByRole('alert').getByText('Estate could not be loaded').waitFor();
  await page.unrouteAll();

  await page.goto('/');
  await figures(page).waitFor();
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'Capability map' }).click();
  await page.getByRole('alert').getByText('The service does not respond').waitFor();
  await page.context().setOffline(false);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Colour', { exact: true }).waitFor();
  await page.context().close();
});
