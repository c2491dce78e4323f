import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { password } from '../../support/accounts.ts';
import { logIn, startBrowser } from '../../web/browser.ts';
import type { Api } from '../harness/api.ts';
import { type Row, under } from '../harness/rows.ts';
import type { Context, Scenario } from '../harness/scenario.ts';
import { type Service, startService } from '../harness/service.ts';
import { copyLandscape } from '../landscape/copy.ts';

const email = 'web@bench.example';
const HEIGHT = 900;
/** The graph is drawn by WebGL, which works without a graphics card by this. */
const WITH_WEBGL = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'];
/** Rows that are scrolled past, and rows in each frame. */
const SCROLLED = 20_000;
const ROWS_A_FRAME = 20;
/** Times of a machine that does other things as well vary: the best of so many counts. */
const ROUNDS = 3;
/** After this time in milliseconds a figure is given up, so that the others are still measured. */
const LIMIT_MS = 600_000;

/** A page of somebody who is logged in, with nothing in its cache. */
async function open(browser: Browser, url: string) {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1440, height: HEIGHT } });
  const page = await context.newPage();
  await logIn(page, email);
  return { page, cdp: await context.newCDPSession(page), close: () => context.close() };
}

/** The least of the figures of all rounds. */
async function best(measure: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) least = Math.min(least, await measure());
  return least;
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
  // the end of the page before is no part of the start
  await page.goto('about:blank');
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
  await page.goto('about:blank');
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
  return (await figuresOf(cdp)).JSHeapUsedSize! / 1_000_000;
}

/** What the browser counts of a page. */
async function figuresOf(cdp: CDPSession): Promise<Record<string, number>> {
  await cdp.send('Performance.enable');
  const { metrics } = await cdp.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

/**
 * Megabytes of the process that draws the page, without files that it shares with other processes, such as the program of the
 * browser: what the browser's own task manager shows. `measureUserAgentSpecificMemory` needs an isolation of the page that the
 * service does not ask for.
 */
async function processMemory(browser: Browser, cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage');
  const { processInfo } = await (await browser.newBrowserCDPSession()).send('SystemInfo.getProcessInfo');
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))![1]);
  // the others wait for pages that may be opened
  return (Math.max(...sizes.map(Number)) * 1024) / 1_000_000;
}

/** Beginnings of names that are searched for. */
const SEARCHED = 5;

/** Names of cards of which each has a word of its own to search for. */
async function wordsOf(api: Api): Promise<string[]> {
  const words: string[] = [];
  for (let page = 1; page <= SEARCHED; page += 1) {
    const path = `/cards?page_size=1&page=${page * 150}&fields=name`;
    const [first] = (await api.get<{ items: { name: string }[] }>(path)).items;
    words.push(first!.name.split(' ')[0]!);
  }
  return words;
}

/** Milliseconds from the last letter of a word in the palette to its cards. */
async function search(page: Page, word: string): Promise<number> {
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Search or jump to' });
  await field.waitFor();
  await page.evaluate(
    // nothing is returned, since a promise would be waited for
    `void (globalThis.found = new Promise((resolve) => {
      addEventListener('input', () => {
        const typedAt = performance.now();
        const look = () => {
          // only cards have the icon of a type; areas of the application need no answer
          if (document.querySelector('[role=option] [role=img]')) resolve(performance.now() - typedAt);
          else requestAnimationFrame(look);
        };
        look();
      }, { capture: true, once: true });
    }))`,
  );
  // all letters at once, so that none before the last is searched for
  await page.keyboard.insertText(word);
  const ms = await page.evaluate<number>('globalThis.found');
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  return ms;
}

/** The slowest search of some words. */
async function slowestSearch(page: Page, words: readonly string[]): Promise<number> {
  let slowest = 0;
  for (const word of words) slowest = Math.max(slowest, await search(page, word));
  return slowest;
}

/** Milliseconds for which the page's main thread works after the map shows another number of levels. */
async function changeLevel(page: Page, cdp: CDPSession): Promise<number> {
  await page.goto('/map');
  await page.getByRole('region').first().waitFor();
  await delay(2_000);
  const worked = async () => (await figuresOf(cdp)).TaskDuration! * 1_000;
  let most = 0;
  for (const level of ['1', '2', '3']) {
    const before = await worked();
    await page.getByRole('radiogroup', { name: 'Levels' }).getByText(level, { exact: true }).click();
    await delay(2_000);
    most = Math.max(most, (await worked()) - before);
  }
  return most;
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
  return await page.evaluate<number>(
    'frames.length > 0 ? Math.max(...frames.map(({ spent }) => spent)) : NaN',
  );
}

/** Cards that are changed, so that the start page has changes to show. */
const CHANGED = 10;

/** A service with a landscape, and somebody who may do everything. */
async function serviceWith(size: { cards: number; relations: number; seed: number }): Promise<Service> {
  const service = await startService();
  await copyLandscape(service.client, size);
  await service.api.send('POST', '/users', { email, display_name: 'Web', role: 'admin', password });
  const { items } = await service.api.get<{ items: { id: string }[] }>(
    `/cards?page_size=${CHANGED}&fields=id`,
  );
  for (const { id } of items) await service.api.patch(`/cards/${id}`, { description: 'Changed.' });
  return service;
}

const originOf = ({ url }: Service) => url.replace('127.0.0.1', 'localhost');

/** The graph of a workspace of its own. */
async function graphOf(browser: Browser, seed: number): Promise<number> {
  await using service = await serviceWith({ ...GRAPH, seed });
  const { page, close } = await open(browser, originOf(service));
  const longest = await best(() => moveGraph(page));
  await close();
  return longest;
}

/** The pages in a browser, with the landscape of the bench, which is copied: how it is imported does not matter here. */
export const web: Scenario = {
  name: 'web',
  onlyNamed: true,
  loadsItself: true,
  async run({ args, log }: Context): Promise<Row[]> {
    await using service = await serviceWith(args);
    const words = await wordsOf(service.api);
    const browser = await startBrowser();
    // drawing without a graphics card takes a processor, also for pages that draw nothing with it
    const drawing = await startBrowser(WITH_WEBGL);
    const rows: Row[] = [];
    /** A figure that fails or does not come to an end is missing, and the others are measured nevertheless. */
    const add = async (figure: string, unit: string, bound: number, measure: () => Promise<number>) => {
      const given = delay(LIMIT_MS, undefined, { ref: false }).then(() => {
        throw new Error(`not measured within ${LIMIT_MS} ms`);
      });
      const value = await Promise.race([measure(), given]).catch((error: unknown) => {
        log(`${figure}: ${error}`);
        return Number.NaN;
      });
      log(`${figure}: ${value} ${unit}, load of the machine ${loadavg()[0]!.toFixed(1)}`);
      rows.push(under(figure, value, unit, bound));
    };
    try {
      const { page, cdp, close } = await open(browser, originOf(service));
      await add('compressed script of the first view of the start page', 'KB', 300, () =>
        scriptOf(page, cdp),
      );
      await add('start page with a processor four times slower', 'ms', 1_500, () =>
        best(() => slowStart(page, cdp)),
      );
      await add('first rows of the inventory after the answer of the API', 'ms', 100, () =>
        best(() => firstRows(page)),
      );
      await add(`longest gap while ${SCROLLED} rows are scrolled past`, 'ms', 200, () => longestGap(page));
      await add('memory of the inventory after that: process', 'MB', 250, () => processMemory(browser, cdp));
      await add('memory of the inventory after that: JavaScript objects', 'MB', 250, () => heapOf(cdp));
      await add('search, from the last letter to its result', 'ms', 150, () => slowestSearch(page, words));
      await add('work of the page after a change of the levels of the map', 'ms', 100, () =>
        changeLevel(page, cdp),
      );
      await close();
      const graph = `a graph of ${GRAPH.cards} cards and ${GRAPH.relations} relations`;
      await add(`scripts of a frame while ${graph} is moved`, 'ms', 16, () => graphOf(drawing, args.seed));
      return rows;
    } finally {
      await browser.close();
      await drawing.close();
    }
  },
};
