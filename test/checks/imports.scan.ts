import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type ParseResult, parseSync, Visitor } from 'rolldown/utils';

/** One import, of whatever form: static, type-only, re-export, dynamic, or a type's `import('...')`. */
interface Import {
  specifier: string;
  /** Path of the imported file from the root, for relative imports. */
  target: string | undefined;
  line: number;
}

export interface SourceFile {
  /** Path from the root, with forward slashes. */
  path: string;
  imports: Import[];
  /** Relative re-exports: the makings of a barrel. */
  reExports: Import[];
  program: ParseResult['program'];
  /** What the parser could not read. */
  syntaxErrors: { line: number; message: string }[];
  lineAt(offset: number): number;
}

const outside = new Set(['node_modules', 'data', 'tmp']);

/** Reads all TypeScript files under `root`, but for packages, data folders, generated and hidden ones; sorted by path. */
export function scanSources(root: string): SourceFile[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith('.') && !outside.has(entry.name))
    .flatMap((entry) =>
      entry.isDirectory()
        ? readdirSync(path.join(root, entry.name), { recursive: true, encoding: 'utf8' }).map((name) =>
            path.join(entry.name, name),
          )
        : [entry.name],
    )
    .map((name) => name.split(path.sep).join('/'))
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('/generated/'))
    .sort()
    .map((name) => readSource(name, readFileSync(path.join(root, name), 'utf8')));
}

/** Parses one file; `name` is its path from the root. */
function readSource(name: string, text: string): SourceFile {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), (match) => match.index + 1)];
  const lineAt = (offset: number) => {
    const after = starts.findIndex((start) => start > offset);
    return after === -1 ? starts.length : after;
  };
  const { module, program, errors } = parseSync(name, text);
  const found = (specifier: string, offset: number): Import => ({
    specifier,
    target: specifier.startsWith('.') ? path.posix.join(path.posix.dirname(name), specifier) : undefined,
    line: lineAt(offset),
  });

  const reExports = module.staticExports
    .flatMap((statement) => statement.entries)
    .flatMap((entry) => (entry.moduleRequest ? [found(entry.moduleRequest.value, entry.start)] : []));
  const imports = [
    ...module.staticImports.map((entry) => found(entry.moduleRequest.value, entry.start)),
    ...reExports,
  ];
  new Visitor({
    ImportExpression(node) {
      if (node.source.type === 'Literal') imports.push(found(String(node.source.value), node.start));
    },
    TSImportType(node) {
      imports.push(found(String(node.source.value), node.start));
    },
  }).visit(program);

  return {
    path: name,
    imports,
    reExports: reExports.filter((entry) => entry.target !== undefined),
    program,
    syntaxErrors: errors.map((error) => ({
      line: lineAt(error.labels[0]?.start ?? 0),
      message: error.message,
    })),
    lineAt,
  };
}
