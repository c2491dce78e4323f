import type { Page } from 'playwright-core';
import { person } from '../support/accounts.ts';
import { answered, openApp } from '../support/harness.ts';
import { listen, logIn, startBrowser, visit } from './browser.ts';

/** Pages of a busy machine are slow. */
const PAGE_MS = 30_000;

/** Waits until what a page shows is as expected. */
export const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, { timeout: PAGE_MS });

/** A workspace with a few applications, and a browser that its people open pages in. */
export async function openInventory() {
  const { t, admin } = await openApp(['admin']);
  const origin = await listen(t);
  const browser = await startBrowser();
  afterAll(() => browser.close());
  const owner = await person(t, { role: 'admin', display_name: 'Ada Owner' });
  const create = async (type: string, name: string, more: object = {}): Promise<string> =>
    (await answered(admin.post('/api/v1/cards', { type, name, ...more }), 201)).body.id;

  const server = await create('ITComponent', 'Database server');
  const ledger = await create('Application', 'Ledger', {
    attributes: { numberOfUsers: 310, hostingType: 'onPremise', businessCriticality: 'missionCritical' },
  });
  await create('Application', 'Ledger archive', { parent_id: ledger, attributes: { numberOfUsers: 12 } });
  await create('Application', 'Claims desk', { attributes: { numberOfUsers: 90, hostingType: 'cloudSaaS' } });
  await admin.create('/api/v1/relations', { type: 'relAppToITC', source_id: ledger, target_id: server });

  /** Opens a page of a person who is logged in. */
  const open = async (path: string, options: Parameters<typeof visit>[2] = {}, email = owner.email) => {
    const visited = await visit(browser, origin, options);
    await logIn(visited.page, email, path);
    await visited.page.getByRole('heading', { level: 1 }).waitFor();
    return visited;
  };
  return { t, admin, create, open };
}

/** The names of the rows. */
export const names = (page: Page) => page.getByRole('gridcell').getByRole('link').allTextContents();

/** A parameter of the address. */
export const parameter = (page: Page, key: string) => new URL(page.url()).searchParams.get(key);
