import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { person } from '../support/accounts.ts';
import type { TestApp } from '../support/harness.ts';
import { listen, logIn, startBrowser, type Visit, visit } from './browser.ts';

const factors = {
  landscape: ['empty', 'demo', 'large'],
  role: ['admin', 'member', 'viewer'],
  language: ['en', 'de'],
  colorScheme: ['light', 'dark'],
  width: [1440, 390],
} as const;
type Factor = keyof typeof factors;
/** One way to use the pages. */
type Combination = { [F in Factor]: (typeof factors)[F][number] };
type Landscape = Combination['landscape'];

/** Every combination. */
const allCombinations = Object.entries(factors).reduce<Record<string, unknown>[]>(
  (made, [factor, values]) =>
    made.flatMap((one) => values.map((value: unknown) => ({ ...one, [factor]: value }))),
  [{}],
) as Combination[];

/** The pairs of values of a combination. */
function pairsOf(combination: Combination): string[] {
  const parts = Object.values(combination);
  return parts.flatMap((one, at) => parts.slice(at + 1).map((other) => `${one} ${other}`));
}

/** Few combinations in which any two values occur together: each time the one with most new pairs. */
function pairwise(): Combination[] {
  const missing = new Set(allCombinations.flatMap(pairsOf));
  const chosen: Combination[] = [];
  const newIn = (one: Combination) => pairsOf(one).filter((pair) => missing.has(pair)).length;
  while (missing.size > 0) {
    const next = allCombinations.reduce((most, one) => (newIn(one) > newIn(most) ? one : most));
    chosen.push(next);
    for (const pair of pairsOf(next)) missing.delete(pair);
  }
  return chosen;
}

/** What is shown of a landscape: its part of the pairs, or with `npm run test:web -- --all` everything. */
const combinationsOf = (landscape: Landscape) =>
  (process.env.WEB_TEST_ALL ? allCombinations : pairwise()).filter((one) => one.landscape === landscape);

/** An address of a page, and a selector of what it shows of cards, and of what it shows without any. */
interface Place {
  address: string;
  content: string;
  /** The same as `content` if it is left out; null for a page that needs cards. */
  empty?: string | null;
  /** A request that the service must refuse. */
  refused?: RegExp;
}

const form = 'form button[type=submit]';

/** Pages before the login, by their route. */
const publicPlaces: Record<string, Place[]> = {
  '/login': [{ address: '/login', content: form }],
  '/forgot-password': [{ address: '/forgot-password', content: form }],
  '/reset-password': [
    { address: '/reset-password?token=x', content: '[role=alert]', refused: /validate-reset/ },
  ],
  '/set-password': [{ address: '/set-password?token=x', content: '[role=alert]', refused: /validate-setup/ }],
  '/register': [{ address: '/register', content: form }],
  '/confirm-registration': [{ address: '/confirm-registration?token=x', content: form }],
  '/sso/callback': [{ address: '/sso/callback?error=denied', content: 'text=denied' }],
};

const rows = '[role=gridcell] a, main li a';

/** Pages behind the login, by their route; `CARD` and `DASHBOARD` are ids. */
const places: Record<string, Place[]> = {
  '/two-factor': [{ address: '/two-factor', content: form }],
  '/': [
    { address: '/', content: 'main a strong' },
    { address: '/?tab=mine', content: 'main section h2' },
    { address: '/?tab=people', content: 'main input' },
    // who may not see it gets the overview
    { address: '/?tab=admin', content: 'main strong' },
  ],
  '/notifications': [{ address: '/notifications', content: 'main p' }],
  '/inventory': [
    { address: '/inventory', content: rows, empty: 'main h2' },
    { address: '/inventory?type=Application&group=attributes.timeModel', content: rows, empty: 'main h2' },
  ],
  '/cards/$id': [{ address: '/cards/CARD', content: 'main nav [aria-current=page]', empty: null }],
  '/map': [{ address: '/map', content: 'main section[aria-label]', empty: 'main p' }],
  '/explorer': [
    { address: '/explorer', content: 'main h2' },
    { address: '/explorer?center=CARD', content: 'main aside h2', empty: null },
  ],
  '/dashboards/$id': [
    { address: '/dashboards/DASHBOARD', content: 'main section[aria-label] svg text', empty: 'main p' },
  ],
  '/import': [{ address: '/import', content: 'h1' }],
  '/query': [{ address: '/query', content: 'main form input' }],
  '/reports/$': [
    { address: '/reports', content: 'main a img, main a strong' },
    { address: '/reports/portfolio', content: 'main svg text', empty: 'main' },
  ],
  '/me': [{ address: '/me', content: 'main [role=tabpanel] h2' }],
};

/** The paths of the routes, as the router declares them. */
export function routes(): string[] {
  const file = path.resolve(import.meta.dirname, '../../web/src/shell/router.tsx');
  return [...readFileSync(file, 'utf8').matchAll(/^ {2}path: '(.+)',$/gm)].map(([, route]) => route!);
}

/** The routes that are visited. */
export const visited = [...Object.keys(publicPlaces), ...Object.keys(places)];

/** Opens a page, and finds faults in it. */
async function look(
  { page, problems, accessibility }: Visit,
  place: Place,
  landscape: Landscape,
  width: number,
) {
  const { address, content, empty = content, refused } = place;
  await page.goto(address);
  await page
    .locator(landscape === 'empty' ? empty! : content)
    .first()
    .waitFor();
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  const faults = (await accessibility()).map((violation) => `accessibility: ${violation}`);
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  if (width === 390 && overflow > 0) faults.push(`${overflow} px wider than the window`);
  if (!(await page.title()).includes(' · ')) faults.push('the title of the window does not name the page');
  faults.push(...problems.splice(0).filter((problem) => !refused?.test(problem)));
  return faults.map((fault) => `${address}: ${fault}`);
}

/** Violations of the policy and requests that fail, besides what the console reports. */
function watch(page: Page, problems: string[]): void {
  page.on('requestfailed', (request) => {
    // a page that is left cancels what it asked for
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') problems.push(`failed: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`);
  });
}

/** Tests every page with a landscape, as `combinationsOf` says. */
export async function testPages(t: TestApp, landscape: Landscape): Promise<void> {
  const admin = await t.as('admin');
  const origin = await listen(t);
  const browser = await startBrowser();
  afterAll(() => browser.close());
  const tiles = [{ title: 'Portfolio', path: '/reports/portfolio', search: {}, width: 2 }];
  const { id: dashboard } = await admin.create('/api/v1/saved-reports', {
    ...{ name: 'Ours', report_type: 'dashboard', visibility: 'public' },
    config: { tiles: landscape === 'empty' ? [] : tiles },
  });
  const list = '/api/v1/cards?type=Application&page_size=1&fields=id';
  const card = landscape === 'empty' ? '' : (await admin.get(list)).body.items[0].id;
  const placed = ({ address, ...place }: Place): Place => ({
    ...place,
    address: address.replace('CARD', card).replace('DASHBOARD', dashboard),
  });

  test.each(combinationsOf(landscape))(
    'every page shows its content to a $role, $language, $colorScheme, $width px',
    { timeout: 300_000 },
    async ({ role, language, colorScheme, width }) => {
      const who = await person(t, { role, locale: language, display_name: 'Ada Owner' });
      const visited = await visit(browser, origin, { width, colorScheme, locale: language });
      watch(visited.page, visited.problems);
      const faults: string[] = [];
      for (const place of Object.values(publicPlaces).flat())
        faults.push(...(await look(visited, place, landscape, width)));
      await logIn(visited.page, who.email);
      for (const place of Object.values(places).flat()) {
        if (landscape !== 'empty' || place.empty !== null)
          faults.push(...(await look(visited, placed(place), landscape, width)));
      }
      expect(faults).toEqual([]);
      await visited.page.context().close();
    },
  );
}
