import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const program = (name: string) => path.join(root, 'node_modules', name);

type Ended = { failed: boolean; output: string };

function run(folder: string, args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 256 * 1024 * 1024 }, (error, out, err) => {
      resolve({ failed: error !== null, output: `${out}${err}`.trim() });
    });
  });
}

const withCompiler = (args: string[]) => [
  '--import',
  path.join(root, 'clients/typescript/compiler-api.ts'),
  ...args,
];

/** The generators whose clients are checked, with the arguments that they take. */
const generators: Record<string, (file: string) => string[]> = {
  'openapi-typescript': (file) => [program('openapi-typescript/bin/cli.js'), file, '--output', 'types.ts'],
  'openapi-ts': (file) => [
    program('@hey-api/openapi-ts/dist/run.mjs'),
    '--input',
    file,
    '--output',
    'client',
    '--no-log-file',
  ],
};

/** How strictly clients are compiled that others make: no file is left out. */
const compilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: false,
  module: 'esnext',
  moduleResolution: 'bundler',
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: [],
};

/** What the compiler finds wrong with the TypeScript files of a folder, a line each. */
export async function typeErrors(folder: string): Promise<string[]> {
  writeFileSync(
    path.join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['**/*.ts'] }),
  );
  const { failed, output } = await run(folder, [
    program('typescript/bin/tsc'),
    '--project',
    folder,
    '--pretty',
    'false',
  ]);
  return failed ? output.split('\n') : [];
}

/** Why no client can be made from the description, or what is wrong with the types of one. */
export async function clientErrors(file: string): Promise<string[]> {
  if (!existsSync(file)) throw new Error(`${file} does not exist: write it with npm run openapi.`);
  const folder = mkdtempSync(path.join(tmpdir(), 'estate-clients-'));
  try {
    for (const [name, argsOf] of Object.entries(generators)) {
      const { failed, output } = await run(folder, withCompiler(argsOf(file)));
      if (failed) return [`${name} failed: ${output}`];
    }
    return await typeErrors(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const violations = await clientErrors(
    path.resolve(process.argv[2] ?? path.join(root, 'docs/openapi.json')),
  );
  for (const fault of violations) console.error(fault);
  if (violations.length > 0) process.exitCode = 1;
}
