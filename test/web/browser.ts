import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, chromium, type Page } from 'playwright-core';
import { password } from '../support/accounts.ts';
import type { TestApp } from '../support/harness.ts';

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Without them a browser of Debian looks up hosts of its maker at every start. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** @param more further arguments of the command line. */
export const startBrowser = (more: string[] = []): Promise<Browser> =>
  chromium.launch({ executablePath: EXECUTABLE, args: [...args, ...more] });

/** A page of the service, with everything that went wrong in it. */
export interface Visit {
  page: Page;
  /** Errors of the console, violations of the policy, failed and foreign requests. */
  problems: string[];
  /**
   * Violations of WCAG 2.2 AA, as `rule: element`.
   * @param part a selector of the part to check, such as a dialog, which covers parts of the others.
   */
  accessibility(part?: string): Promise<string[]>;
}

interface VisitOptions {
  width?: number;
  colorScheme?: 'light' | 'dark';
  /** The language of the browser. */
  locale?: string;
}

/** Opens a page of a service that listens on a port of its own. */
export async function visit(
  browser: Browser,
  origin: string,
  { width = 1440, colorScheme = 'light', locale = 'en' }: VisitOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    baseURL: origin,
    locale,
    colorScheme,
    viewport: { width, height: 900 },
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(45_000);
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) problems.push(`foreign: ${url}`);
  });
  return {
    page,
    problems,
    async accessibility(part = 'html') {
      const { violations } = await new AxeBuilder({ page })
        .include(part)
        // selectors of all that passes take most of the time
        .options({ resultTypes: ['violations'] })
        .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
        .analyze();
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
    },
  };
}

/** The address of a test application that listens. */
export async function listen(t: TestApp): Promise<string> {
  return (await t.app.listen({ host: '127.0.0.1', port: 0 })).replace('127.0.0.1', 'localhost');
}

/** Logs in with the password of every test person, and goes on to a page. */
export async function logIn(page: Page, email: string, next = '/'): Promise<void> {
  await page.goto(`/login?next=${encodeURIComponent(next)}`);
  await page.locator('input[type=email]').fill(email);
  await page.locator('input[type=password]').fill(password);
  await page.locator('form button[type=submit]').click();
  await page.waitForURL((url) => url.pathname !== '/login');
}
