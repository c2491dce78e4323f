import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { renderDescription } from './description.ts';

const STORED = path.join(import.meta.dirname, '../../docs/openapi.json');

/**
 * Writes the OpenAPI document, or with `--check` compares it with the stored one.
 * @param args `--check` and a file; by default `docs/openapi.json`.
 * @returns an error message if the stored document is missing or differs.
 */
export async function run(args: string[]): Promise<string | undefined> {
  const file = path.resolve(args.find((word) => !word.startsWith('--')) ?? STORED);
  const name = path.relative(process.cwd(), file);
  const text = await renderDescription();
  if (args.includes('--check')) {
    const stored = await readFile(file, 'utf8').catch(() => undefined);
    return stored === text
      ? undefined
      : `${name} does not match the routes: run npm run openapi and commit it.`;
  }
  await writeFile(file, text);
  console.info(`Wrote ${name}.`);
  return undefined;
}

if (import.meta.main) {
  const error = await run(process.argv.slice(2));
  if (error) {
    console.error(error);
    process.exitCode = 1;
  }
}
