import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** What one of the linters has to say about one place of the document. */
export interface Finding {
  linter: 'redocly' | 'spectral';
  rule: string;
  /** JSON pointer into the document. */
  at: string;
  message: string;
}

const root = path.resolve(import.meta.dirname, '../..');

/** Runs a linter, offline, and reads the JSON that it prints, whatever its exit code. */
function run(program: string, args: string[]): Promise<unknown> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [path.join(root, 'node_modules', program), ...args],
      { cwd: root, env, maxBuffer: 256 * 1024 * 1024 },
      (_, out, err) => {
        try {
          resolve(JSON.parse(out));
        } catch {
          reject(new Error(`${program} failed: ${err || out}`));
        }
      },
    );
  });
}

async function redocly(file: string): Promise<Finding[]> {
  const args = ['lint', file, '--config=redocly.yaml', '--format=json', '--max-problems=1000'];
  const { problems } = (await run('@redocly/cli/bin/cli.js', args)) as {
    problems: { ruleId: string; message: string; location: { pointer?: string }[] }[];
  };
  return problems.map(({ ruleId, message, location }) => ({
    linter: 'redocly',
    rule: ruleId,
    at: location[0]?.pointer ?? '#/',
    message,
  }));
}

async function spectral(file: string): Promise<Finding[]> {
  const args = ['lint', file, '--ruleset=.spectral.yaml', '--format=json', '--quiet'];
  const problems = (await run('@stoplight/spectral-cli/dist/index.js', args)) as {
    code: string;
    path: string[];
    message: string;
  }[];
  return problems.map(({ code, path: keys, message }) => ({
    linter: 'spectral',
    rule: code,
    at: `#/${keys.map((key) => String(key).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`,
    message,
  }));
}

/** All that both linters find in the document, warnings and hints included. */
export async function lintOpenApi(file: string): Promise<Finding[]> {
  if (!existsSync(file)) throw new Error(`${file} does not exist: write it with npm run openapi.`);
  return (await Promise.all([redocly(file), spectral(file)])).flat();
}

if (import.meta.main) {
  const findings = await lintOpenApi(path.resolve(process.argv[2] ?? path.join(root, 'docs/openapi.json')));
  for (const { linter, rule, at, message } of findings) console.error(`${linter} ${rule} ${at} ${message}`);
  if (findings.length > 0) process.exitCode = 1;
}
