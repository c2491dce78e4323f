import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const packages = path.resolve(import.meta.dirname, '../node_modules/@mantine');
const library = path.join(packages, 'core');
const sources = path.resolve(import.meta.dirname, 'src');

/** The names that the files of a folder import from the library of components. */
function usedIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(tsx?|mjs)$/.test(file),
  );
  return files.flatMap((file) => {
    const text = readFileSync(path.join(folder, file), 'utf8');
    const imports = [...text.matchAll(/import \{([^}]+)\} from ['"]@mantine\/core['"]/g)];
    return imports.flatMap(([, names]) => names!.split(',').map((name) => name.trim()));
  });
}

/** The classes of a file and of all that it imports. */
function classesOf(file: string, seen: Set<string>): string[] {
  if (seen.has(file) || !existsSync(file)) return [];
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  const imports = [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, name]) =>
    path.resolve(path.dirname(file), name!),
  );
  return [...(text.match(/m_[0-9a-f]+/g) ?? []), ...imports.flatMap((one) => classesOf(one, seen))];
}

/** Writes the styles of the components that pages use, and of those that these consist of: about half of all. */
export function writeStyles(): void {
  const components = readdirSync(path.join(library, 'esm/components'), { recursive: true, encoding: 'utf8' });
  const used = [...usedIn(sources), ...usedIn(path.join(packages, 'notifications/esm'))];
  const names = new Set(used.map((name) => `${name}.mjs`));
  const seen = new Set<string>();
  const classes = new Set(
    components
      .filter((file) => names.has(path.basename(file)))
      .flatMap((file) => classesOf(path.join(library, 'esm/components', file), seen)),
  );
  // later rules override earlier ones, so that the order of the whole is kept
  const whole = readFileSync(path.join(library, 'styles.css'), 'utf8');
  const files = readdirSync(path.join(library, 'styles')).filter(
    (file) => file.endsWith('.css') && !file.endsWith('.layer.css'),
  );
  const parts = files.flatMap((file) => {
    const text = readFileSync(path.join(library, 'styles', file), 'utf8').trim();
    const own = text.match(/\bm_[0-9a-f]+/g) ?? [];
    const isUsed = own.length === 0 || own.some((name) => classes.has(name));
    return isUsed ? [{ file, at: whole.indexOf(text) }] : [];
  });
  const imports = parts
    .sort((a, b) => a.at - b.at)
    .map(({ file }) => `@import '@mantine/core/styles/${file}';\n`);
  mkdirSync(path.join(sources, 'generated'), { recursive: true });
  writeFileSync(path.join(sources, 'generated/mantine.css'), imports.join(''));
}
