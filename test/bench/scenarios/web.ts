import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { password } from '../../support/accounts.ts';
import { logIn, startBrowser } from '../../web/browser.ts';
import { type Row, under } from '../harness/rows.ts';
import type { Context, Scenario } from '../harness/scenario.ts';
import { startService } from '../harness/service.ts';
import { loadLandscape } from '../harness/workspace.ts';

const email = 'web@bench.example';
const HEIGHT = 900;
/** The graph is drawn by WebGL, which works without a graphics card by this. */
const WITH_WEBGL = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'];
/** Rows that are scrolled past, and rows in each frame. */
const SCROLLED = 20_000;
const ROWS_A_FRAME = 20;

/** A page of somebody who is logged in, with nothing in its cache. */
async function open(browser: Browser, url: string) {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1440, height: HEIGHT } });
  const page = await context.newPage();
  await logIn(page, email);
  return { page, cdp: await context.newCDPSession(page), close: () => context.close() };
}

/** Kilobytes of script that a page needs, as they are sent. */
async function scriptOf(page: Page, cdp: CDPSession): Promise<number> {
  const scripts = new Set<string>();
  let bytes = 0;
  cdp.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId);
  });
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength;
  });
  await cdp.send('Network.enable');
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
  await page.goto('/');
  await page.locator('main strong').first().waitFor();
  // what is loaded after the first view, such as icons of types, counts as well
  await delay(2_000);
  return bytes / 1000;
}

/** Milliseconds until the key figures of the start page are shown, by a processor that is four times slower. */
async function slowStart(page: Page, cdp: CDPSession): Promise<number> {
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await page.goto('/', { waitUntil: 'commit' });
  const ms = await page.evaluate<number>(
    `new Promise((resolve) => {
      const look = () =>
        /\\d/.test(document.querySelector('main strong')?.textContent ?? '')
          ? resolve(performance.now())
          : requestAnimationFrame(look);
      look();
    })`,
  );
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  return ms;
}

/** Milliseconds from the API's answer to the first rows of the inventory. */
async function firstRows(page: Page): Promise<number> {
  await page.goto('/inventory', { waitUntil: 'commit' });
  return await page.evaluate<number>(
    `new Promise((resolve) => {
      const look = () => {
        const answers = performance.getEntriesByType('resource').filter(({ name }) => /\\/cards\\?/.test(name));
        if (document.querySelector('[role=row] [role=gridcell] a') && answers.length > 0)
          resolve(performance.now() - Math.min(...answers.map(({ responseEnd }) => responseEnd)));
        else requestAnimationFrame(look);
      };
      look();
    })`,
  );
}

/** The longest time in milliseconds during which the row in the middle of the window had no content, while rows are scrolled past. */
async function longestGap(page: Page): Promise<number> {
  return await page.evaluate<number>(
    `new Promise((resolve) => {
      const row = document.querySelector('[role=row] [role=gridcell]').closest('[role=row]');
      let box = row;
      while (box.scrollHeight <= box.clientHeight || !/auto|scroll/.test(getComputedStyle(box).overflowY)) box = box.parentElement;
      const step = row.getBoundingClientRect().height * ${ROWS_A_FRAME};
      const { left, top, height } = box.getBoundingClientRect();
      let frames = ${SCROLLED / ROWS_A_FRAME};
      let filledAt = performance.now();
      let longest = 0;
      const scroll = () => {
        const shown = document.elementFromPoint(left + 200, top + height / 2)?.closest('[role=row]');
        if (shown?.querySelector('a')) filledAt = performance.now();
        longest = Math.max(longest, performance.now() - filledAt);
        if (frames-- === 0) return resolve(longest);
        box.scrollTop += step;
        requestAnimationFrame(scroll);
      };
      scroll();
    })`,
  );
}

/** Megabytes of JavaScript objects after a collection. */
async function heapOf(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage');
  return (await cdp.send('Runtime.getHeapUsage')).usedSize / 1_000_000;
}

/** Milliseconds from a key press in the palette to its cards. */
async function search(page: Page): Promise<number> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search or jump to' }).waitFor();
  await page.evaluate(
    `globalThis.found = new Promise((resolve) => {
      let pressedAt;
      addEventListener('keydown', () => {
        pressedAt ??= performance.now();
        const look = () => {
          // more than the areas of the application, which need no answer
          if (document.querySelectorAll('[role=option]').length > 8) resolve(performance.now() - pressedAt);
          else requestAnimationFrame(look);
        };
        look();
      }, { capture: true, once: true });
    })`,
  );
  await page.keyboard.press('a');
  return await page.evaluate<number>('globalThis.found');
}

/** Cards and relations of the graph that is moved. */
const GRAPH = { cards: 5_000, relations: 15_000 };
/** Frames for which it is moved. */
const MOVED = 120;

/** The longest time in milliseconds that the scripts of a frame take while the graph of all cards is moved. */
async function moveGraph(page: Page): Promise<number> {
  await page.addInitScript(`
    globalThis.frames = [];
    const request = requestAnimationFrame.bind(globalThis);
    globalThis.requestAnimationFrame = (draw) => request((time) => {
      const begin = performance.now();
      draw(time);
      const spent = performance.now() - begin;
      const last = frames.at(-1);
      if (last?.time === time) last.spent += spent;
      else frames.push({ time, spent });
    });
  `);
  await page.goto('/explorer?view=all');
  const graph = page.getByTestId('whole-graph');
  await graph.locator('canvas').first().waitFor({ state: 'attached' });
  await delay(2_000);
  const { x, y, width, height } = (await graph.boundingBox())!;
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.evaluate('frames.length = 0');
  for (let step = 1; step <= MOVED; step += 1) {
    const turn = (step / MOVED) * 4 * Math.PI;
    await page.mouse.move(x + width / 2 + 200 * Math.sin(turn), y + height / 2 + 100 * (1 - Math.cos(turn)));
  }
  await page.mouse.up();
  return await page.evaluate<number>('Math.max(...frames.map(({ spent }) => spent))');
}

/** The graph of a workspace of its own. */
async function graphOf(browser: Browser, seed: number): Promise<number> {
  await using service = await startService();
  await loadLandscape(service, { ...GRAPH, seed });
  await service.api.send('POST', '/users', { email, display_name: 'Web', role: 'admin', password });
  const { page, close } = await open(browser, service.url.replace('127.0.0.1', 'localhost'));
  const longest = await moveGraph(page);
  await close();
  return longest;
}

/** The pages in a browser, with the landscape of the bench. */
export const web: Scenario = {
  name: 'web',
  onlyNamed: true,
  async run({ service, api, args, log }: Context): Promise<Row[]> {
    await api.send('POST', '/users', { email, display_name: 'Web', role: 'admin', password });
    const browser = await startBrowser(WITH_WEBGL);
    try {
      const url = service.url.replace('127.0.0.1', 'localhost');
      const { page, cdp, close } = await open(browser, url);
      const script = await scriptOf(page, cdp);
      const start = await slowStart(page, cdp);
      const rows = await firstRows(page);
      const gap = await longestGap(page);
      const heap = await heapOf(cdp);
      const found = await search(page);
      await close();
      const frame = await graphOf(browser, args.seed);
      log(
        `load of the machine: ${loadavg()
          .map((load) => load.toFixed(1))
          .join(', ')}`,
      );
      return [
        under('compressed script of the first view of the start page', script, 'KB', 300),
        under('start page with a processor four times slower', start, 'ms', 1_500),
        under('first rows of the inventory after the answer of the API', rows, 'ms', 100),
        under(`longest gap while ${SCROLLED} rows are scrolled past`, gap, 'ms', 200),
        under('memory of the inventory after that', heap, 'MB', 250),
        under('search, from the key press to its result', found, 'ms', 150),
        under(
          `scripts of a frame while a graph of ${GRAPH.cards} cards and ${GRAPH.relations} relations is moved`,
          frame,
          'ms',
          16,
        ),
      ];
    } finally {
      await browser.close();
    }
  },
};
