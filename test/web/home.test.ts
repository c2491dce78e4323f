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

test('the root is the page for all that take anything, and addresses of the API stay JSON', async () => {
  const read = async (address: string, accept: string) => {
    const answer = await fetch(`${origin}${address}`, { headers: { accept } });
    return [answer.status, answer.headers.get('content-type')];
  };
  const page = [200, 'text/html; charset=utf-8'];
  for (const accept of ['*/*', 'text/*', 'text/html, */*;q=0.8'])
    expect(await read('/', accept)).toEqual(page);
  expect(await read('/?tab=people', '*/*')).toEqual(page);
  const problem = [404, expect.stringMatching(/^application\/problem\+json/)];
  expect(await read('/', 'application/json')).toEqual(problem);
  expect(await read('/api/v1/nothing', '*/*')).toEqual(problem);
  expect(await read('/nothing', '*/*')).toEqual(problem);
});
