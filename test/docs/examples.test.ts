import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pages, shellBlocks } from './blocks.ts';
import { type StartedService, startService } from './service.ts';

const root = path.resolve(import.meta.dirname, '../..');
const all = pages();
const first = all.find(({ name }) => name === 'README.md')!.blocks[0]!;
const LOGIN = /^LOGIN=[\s\S]*?^TOKEN=\$\(curl[^)]*\)$/m;
/** The other pages continue after this block; its login is replaced by a shared token, since logins are limited. */
const login = { ...first, text: first.text.replace(LOGIN, 'TOKEN=$GIVEN_TOKEN') };

describe('examples', () => {
  let service: StartedService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service?.stop());

  test.each(all)('$name runs as it stands', async ({ name, blocks }) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'estate-examples-'));
    const script = [...(name === 'README.md' ? [] : [login]), ...blocks]
      .map(({ line, text }) => `echo "=== ${name}, line ${line}" >&2\n${text}`)
      .join('\n');
    const { BASE, EMAIL, PASSWORD } = {
      BASE: service.base,
      EMAIL: service.email,
      PASSWORD: service.password,
    };
    const env = { ...process.env, BASE, EMAIL, PASSWORD, GIVEN_TOKEN: await tokenFor(service) };
    const run = await runScript(script, folder, env);
    rmSync(folder, { recursive: true });
    const output = `${run.stdout}\n${run.stderr}`.slice(-4_000);
    expect(run.error, output).toBeNull();
    if (name === 'README.md') {
      const change = /event: card\.updated\ndata: (.*)$/m.exec(run.stdout)?.[1];
      expect(JSON.parse(change ?? '{}'), output).toMatchObject({
        data: { changes: { alias: { new: 'Payday' } } },
      });
    }
  });
});

let token = '';

/** The current token; a new one if a page has ended its session. */
async function tokenFor({ base, email, password }: StartedService): Promise<string> {
  const me = await fetch(`${base}/api/v1/auth/me`, { headers: { authorization: `Bearer ${token}` } });
  await me.body?.cancel();
  if (me.ok) return token;
  const answer = await fetch(`${base}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  token = ((await answer.json()) as { access_token: string }).access_token;
  return token;
}

/** Runs beside this process, which has to go on reading what the service prints: a full pipe would stop the service. */
function runScript(script: string, cwd: string, env: NodeJS.ProcessEnv) {
  return new Promise<{ error: Error | null; stdout: string; stderr: string }>((resolve) => {
    execFile('bash', ['-eu', '-c', script], { cwd, env, timeout: 50_000 }, (error, stdout, stderr) =>
      resolve({ error, stdout, stderr }),
    );
  });
}

test('only fences marked sh are run, and know their lines', () => {
  const text = 'a\n```sh\none\ntwo\n```\n```console\nnpm ci\n```sh\n```\n\n```\nx\n```\n```sh\nthree\n```\n';
  expect(shellBlocks(text)).toEqual([
    { line: 3, text: 'one\ntwo\n' },
    { line: 15, text: 'three\n' },
  ]);
});

test('links between pages and into the repository lead somewhere', () => {
  const files = ['README.md', 'CONTRIBUTING.md', ...all.map(({ name }) => name), 'docs/architecture.md'];
  const dead = [...new Set(files)].flatMap((file) => {
    // code is not a link
    const text = readFileSync(path.join(root, file), 'utf8').replace(/`[^`\n]*`/g, '');
    return [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)]
      .filter(([, target, anchor]) => {
        const page = target ? path.join(root, path.dirname(file), target) : path.join(root, file);
        return !existsSync(page) || (anchor && !headings(page).includes(anchor));
      })
      .map(([link]) => `${file}: ${link}`);
  });
  expect(dead).toEqual([]);
});

/** The anchors of a page, as GitHub makes them. */
function headings(page: string): string[] {
  return readFileSync(page, 'utf8')
    .split('\n')
    .filter((line) => /^#+ /.test(line))
    .map((line) =>
      line
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} -]/gu, '')
        .replaceAll(' ', '-'),
    );
}
