import type { Page } from 'playwright-core';
import { loadDemo } from '../../domain/app/demo/demo.load.ts';
import {
  cardTypeSeeds,
  germanTexts,
  relationTypeSeeds,
} from '../../domain/inventory/metamodel/metamodel.seeds.data.ts';
import { costKinds } from '../../domain/kernel/settings/settings.costs.ts';
import { flowFrequencies } from '../../domain/kernel/settings/settings.data-flows.ts';
import { person } from '../support/accounts.ts';
import { openApp } from '../support/harness.ts';
import { listen, logIn, startBrowser, visit } from './browser.ts';

const { t, db, admin } = await openApp(['admin']);
await loadDemo(await t.ctx(), new Date().toISOString().slice(0, 10));
const origin = await listen(t);
const browser = await startBrowser();
afterAll(() => browser.close());
const reader = await person(t, { role: 'admin', display_name: 'Ada Leserin' });
await db('users').where({ id: reader.id }).update({ locale: 'de' });

/** Every label that is delivered, at any depth. */
const labelsOf = (part: unknown): string[] => {
  if (typeof part !== 'object' || part === null) return [];
  if (Array.isArray(part)) return part.flatMap(labelsOf);
  return Object.entries(part).flatMap(([key, value]) =>
    /^(label|reverse_label|section)$/.test(key) && typeof value === 'string' ? [value] : labelsOf(value),
  );
};
const delivered = [cardTypeSeeds, relationTypeSeeds, costKinds.default, flowFrequencies.default].flatMap(
  labelsOf,
);
const german = new Set(Object.values(germanTexts));
/** Those that are no German word too, such as `Status`, nor a part of one. */
const english = [...new Set(delivered)].filter(
  (label) => germanTexts[label] !== label && ![...german].some((text) => text.includes(label)),
);

/** What the page says: its texts, and the names of its controls. */
const textsOf = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) texts.push(node.textContent);
    for (const element of document.querySelectorAll('[aria-label], [title], [placeholder]'))
      for (const name of ['aria-label', 'title', 'placeholder']) texts.push(element.getAttribute(name) ?? '');
    return texts.map((text) => text.trim()).filter((text) => text !== '');
  })()`);

/** The English labels that stand alone, or begin or end a text. */
const foundIn = (texts: readonly string[]) =>
  english.filter((label) => texts.some((text) => text === label || text.startsWith(`${label}: `)));

const { items } = (await admin.get('/api/v1/cards?type=Application&page_size=5&fields=id,name')).body;
const [card] = items as { id: string }[];

test.each([
  '/',
  '/inventory?type=Application',
  `/cards/${card!.id}`,
  '/map',
  `/explorer?center=${card!.id}&peek=${card!.id}`,
  '/reports/portfolio',
  '/reports/bpm/capability-heatmap?view=table',
  '/reports/cost-periods?view=table',
  '/reports/landscape?view=table',
  '/reports/ppm/gantt?view=table',
  '/reports/data-quality?view=table',
  '/import',
])('%s has none of the English labels in German', async (path) => {
  const { page, problems } = await visit(browser, origin);
  await logIn(page, reader.email, path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('[aria-busy=true]').waitFor({ state: 'detached' });
  await page.waitForLoadState('networkidle');
  const texts = await textsOf(page);
  expect(foundIn(texts)).toEqual([]);
  // dates are written as in German
  expect(
    texts.filter((text) => /\b\d\d (Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez) \d{4}/.test(text)),
  ).toEqual([]);
  expect(problems).toEqual([]);
  await page.context().close();
});
