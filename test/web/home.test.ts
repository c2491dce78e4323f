import { person } from '../support/accounts.ts';
import { answered, openApp } from '../support/harness.ts';
import { listen, logIn, startBrowser, visit } from './browser.ts';

const { t, admin } = await openApp(['admin']);
const origin = await listen(t);
const browser = await startBrowser();
afterAll(() => browser.close());
const owner = await person(t, { role: 'admin', display_name: 'Ada Owner' });
await answered(admin.post('/api/v1/cards', { type: 'BusinessCapability', name: 'Ticketing' }), 201);
await answered(admin.post('/api/v1/cards', { type: 'BusinessCapability', name: 'Planning' }), 201);

test.each(['/', '/?tab=administration'])(
  'types are named in full where there is room: %s',
  async (address) => {
    const { page, problems } = await visit(browser, origin);
    await logIn(page, owner.email, address);
    const name = page.getByRole('main').getByRole('link').getByText('Business Capabilities', { exact: true });
    await name.first().waitFor();
    expect(await name.first().evaluate((shown) => shown.scrollWidth <= shown.clientWidth)).toBe(true);
    expect(problems).toEqual([]);
    await page.context().close();
  },
);
