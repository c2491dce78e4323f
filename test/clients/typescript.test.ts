import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startService } from '../docs/service.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../clients/typescript');

const service = await startService();
afterAll(() => service.stop());
const folder = await mkdtemp(path.join(tmpdir(), 'estate-client-'));
afterAll(() => rm(folder, { recursive: true }));

/** Runs a program beside the installed package. */
async function runProgram(name: string): Promise<string> {
  const login = await fetch(`${service.base}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: service.email, password: service.password }),
  });
  expect(login.status).toBe(200);
  const { access_token } = (await login.json()) as { access_token: string };
  const env = { ...process.env, ESTATE_URL: service.base, ESTATE_TOKEN: access_token };
  return (await run(process.execPath, [name], { cwd: folder, env })).stdout;
}

// generating and compiling all operations takes long on a machine that does other things as well
beforeAll(async () => {
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
  const archive = stdout.trim().split('\n').at(-1);
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${archive}`], { cwd: folder });
}, 300_000);

test('the packed client runs the example of its README', async () => {
  const example = /```ts\n(.*?)```/s.exec(await readFile(path.join(root, 'README.md'), 'utf8'))![1]!;
  await writeFile(path.join(folder, 'example.ts'), example);
  const printed = await runProgram('example.ts');
  expect(printed).toMatch(/^created APP-\d{5}\n/);
  expect(printed).toContain('\nExample ledger\n');
  expect(printed).toMatch(/exported to \/api\/v1\/jobs\/[-\w]+\/result\ncard\.created\n$/);
});

test('it follows the stream, reads the feed to its end, and throws errors with their fields', async () => {
  await copyFile(path.join(import.meta.dirname, 'behaviour.mjs'), path.join(folder, 'behaviour.mjs'));
  await runProgram('behaviour.mjs');
});
