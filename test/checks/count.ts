import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'rolldown/utils';

/** Files and lines of code; lines that hold only a comment or nothing do not count. */
export type CodeSize = { files: number; lines: number };

/** The number of lines of a TypeScript text that hold code. */
export function codeLines(name: string, text: string): number {
  let code = '';
  let end = 0;
  for (const comment of parseSync(name, text).comments) {
    code += text.slice(end, comment.start);
    // keep the line breaks of a comment, so that the code before and after it stays on its lines
    code += text.slice(comment.start, comment.end).replace(/[^\n]/g, '');
    end = comment.end;
  }
  code += text.slice(end);
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

/** The part of the product that a file belongs to: its top folder, in `domain` with the context; `.` for files at the root. */
function partOf(file: string): string {
  const parts = file.split('/');
  if (parts.length === 1) return '.';
  return parts[0] === 'domain' && parts.length > 2 ? `domain/${parts[1]}` : parts[0]!;
}

/** The TypeScript files of the tree under `root`, without packages, data folders and `*.data.ts`. */
export function sourceFiles(root: string): string[] {
  const excluded = new Set(['node_modules', 'data', 'tmp', 'generated']);
  return globSync('**/*.{ts,tsx}', { cwd: root, exclude: (name) => excluded.has(name) || /^\../.test(name) })
    .map((name) => name.split(path.sep).join('/'))
    .filter((name) => !name.endsWith('.data.ts'))
    .sort();
}

/** Counts the TypeScript of the tree under `root` by part. */
export function countCode(root: string): Map<string, CodeSize> {
  const sizes = new Map<string, CodeSize>();
  for (const file of sourceFiles(root)) {
    const part = partOf(file);
    const size = sizes.get(part) ?? { files: 0, lines: 0 };
    size.files += 1;
    size.lines += codeLines(file, readFileSync(path.join(root, file), 'utf8'));
    sizes.set(part, size);
  }
  return sizes;
}

if (import.meta.main) {
  const sizes = countCode(process.argv[2] ?? path.resolve(import.meta.dirname, '../..'));
  const row = (part: string, { files, lines }: CodeSize) =>
    console.log(
      `${part.padEnd(22)} ${String(files).padStart(6)} ${lines.toLocaleString('en-US').padStart(9)}`,
    );
  console.log(`${''.padEnd(22)} ${'files'.padStart(6)} ${'lines'.padStart(9)}`);
  for (const [part, size] of sizes) row(part, size);
  const product = { files: 0, lines: 0 };
  for (const [part, { files, lines }] of sizes) {
    if (part === 'test') continue;
    product.files += files;
    product.lines += lines;
  }
  console.log();
  row('product', product);
  row('tests', sizes.get('test') ?? { files: 0, lines: 0 });
}
