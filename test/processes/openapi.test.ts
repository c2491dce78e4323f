import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '../../api/openapi/write.ts';
import { startChild } from '../support/child.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'estate-openapi-'));
afterAll(() => rmSync(folder, { recursive: true }));
test('the description is written without a database, and a stale or missing one is reported', async () => {
  const file = path.join(folder, 'openapi.json');
  const program = path.resolve(import.meta.dirname, '../../api/openapi/write.ts');
  expect((await startChild(program, [file]).ended()).code).toBe(0);
  expect(await run(['--check', file])).toBeUndefined();
  const document = JSON.parse(readFileSync(file, 'utf8'));
  document.paths['/api/health'].get.summary = 'Something else';
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
  for (const name of [file, path.join(folder, 'none.json')]) {
    expect(await run(['--check', name])).toMatch(
      /^.*json does not match the routes: run npm run openapi and commit it\.$/,
    );
  }
});
