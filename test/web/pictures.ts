import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { startService } from '../docs/service.ts';
import { startBrowser } from './browser.ts';

const folder = path.resolve(import.meta.dirname, '../../docs/guide/pictures');

/** Each picture of the guide with the page that it shows; `ID` is the card of an application. */
const pictures: Record<string, string> = {
  home: '/',
  inventory: '/inventory?type=Application',
  card: '/cards/ID',
  map: '/map',
  explorer: '/explorer?center=ID',
  portfolio: '/reports/portfolio',
  query: '/query',
  account: '/me?tab=tokens',
};

/** Draws the pictures of the guide anew, with the demo landscape: `npm run guide:pictures`. */
async function drawPictures(): Promise<void> {
  await mkdir(folder, { recursive: true });
  const service = await startService();
  const browser = await startBrowser();
  try {
    const context = await browser.newContext({
      baseURL: service.base.replace('127.0.0.1', 'localhost'),
      viewport: { width: 1280, height: 800 },
      locale: 'en',
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    await page.goto('/login');
    await page.getByLabel('E-mail address').fill(service.email);
    await page.getByLabel('Password', { exact: true }).fill(service.password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL((url) => url.pathname === '/');
    await page.goto('/cards/APP-00001');
    await page.waitForURL(/[-0-9a-f]{36}/);
    const id = new URL(page.url()).pathname.split('/').at(-1)!;
    for (const [name, address] of Object.entries(pictures)) {
      await page.goto(address.replace('ID', id));
      await page.waitForLoadState('load');
      await page.locator('main').first().waitFor();
      // what is asked for after the first view, such as pictures of reports
      await page.waitForTimeout(4_000);
      await page.screenshot({ path: path.join(folder, `${name}.png`) });
    }
  } finally {
    await browser.close();
    await service.stop();
  }
}

await drawPictures();
