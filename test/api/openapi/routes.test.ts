import { expect, test } from 'vitest';
import { openApp } from '../../support/harness.ts';

const { t } = await openApp();

test('the description is public, and 304 for those who hold it', async () => {
  const first = await t.anonymous.get('/api/openapi.json');
  expect(first.status).toBe(200);
  expect(first.body).toEqual(JSON.parse(JSON.stringify(t.app.swagger())));
  const again = await t.anonymous.get('/api/openapi.json', { 'if-none-match': first.headers.etag! });
  expect(again.status).toBe(304);
  expect(again.text).toBe('');
});

test('the page has nothing inline, nothing from elsewhere, and a policy that says so', async () => {
  const page = await t.anonymous.get('/api/docs');
  expect(page.status).toBe(200);
  const policy = page.headers['content-security-policy']!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(page.text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|https?:/);

  const files = [...page.text.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, file]) => `/api/${file}`);
  expect(files.length).toBeGreaterThan(3);
  for (const url of files) {
    const file = await t.app.inject({ url });
    expect(file.statusCode, url).toBe(200);
    expect(file.headers['x-content-type-options'], url).toBe('nosniff');
    const again = await t.app.inject({ url, headers: { 'if-none-match': String(file.headers.etag) } });
    expect(again.statusCode, url).toBe(304);
  }
});

test('the page is found with a slash at the end too', async () => {
  const answer = await t.app.inject({ url: '/api/docs/' });
  expect([answer.statusCode, answer.headers.location]).toEqual([308, '../docs']);
});

test('only the files of the page are served', async () => {
  for (const name of ['page.files.ts', 'constructor', '..%2Fwrite.ts', 'none.js']) {
    const answer = await t.app.inject({ url: `/api/docs/${name}` });
    expect(answer.statusCode, name).toBe(404);
  }
});
