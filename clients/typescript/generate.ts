import { spawn } from 'node:child_process';
import path from 'node:path';

const here = import.meta.dirname;
const root = path.resolve(here, '../..');

/** Generates types and one function per operation from the API description. @throws Error with the generator's output. */
export async function generateClient(): Promise<void> {
  const args = [
    '--import',
    path.join(here, 'compiler-api.ts'),
    path.join(root, 'node_modules/@hey-api/openapi-ts/dist/run.mjs'),
    '--input',
    path.join(root, 'docs/openapi.json'),
    '--output',
    path.join(here, 'src/generated'),
    '--no-log-file',
  ];
  const output: Buffer[] = [];
  const child = spawn(process.execPath, args, { cwd: here, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`The client was not generated: ${Buffer.concat(output)}`);
}

if (import.meta.main) await generateClient();
