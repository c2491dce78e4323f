import { Visitor } from 'rolldown/utils';
import { checkConnections } from './imports.connections.ts';
import type { SourceFile } from './imports.scan.ts';

/** One breach of the house rules; `line` is 1-based. */
export interface Fault {
  path: string;
  line: number;
  reason: string;
}

/** Which floors each floor may import besides itself: downwards only, and never its neighbours. */
const below: Record<string, string[]> = {
  platform: [],
  domain: ['platform'],
  reports: ['platform', 'domain'],
  integrations: ['platform', 'domain'],
  workers: ['platform', 'domain', 'reports', 'integrations', 'migrations', 'boot.ts'],
  api: ['platform', 'domain', 'reports', 'integrations', 'migrations', 'boot.ts'],
  migrations: ['platform', 'boot.ts'],
  // what every process does first
  'boot.ts': ['platform', 'domain', 'reports', 'integrations', 'migrations'],
  'main.ts': ['platform', 'domain', 'reports', 'integrations', 'workers', 'api', 'migrations', 'boot.ts'],
};

/** The bounded contexts of `domain`, in their order: each may import itself and those before it. */
export const contexts: readonly string[] = [
  'kernel',
  'access',
  'inventory',
  'collaboration',
  'governance',
  'modelling',
  'analysis',
  'exchange',
  'app',
];

/** Packages that speak to the database or the queue: `api` leaves both to the floors below. */
const notInApi = /^(knex|objection|pg|pg-[a-z-]+|bullmq|ioredis)(\/|$)/;

/** SQL in a string, told from a sentence by its case: keywords all small or all capital. */
const sql =
  /^\s*(select\s[\s\S]*\sfrom\s|insert into\s|update\s\S+\sset\s|delete from\s|with\s\S+\sas\s*\(|SELECT\s[\s\S]*\sFROM\s|INSERT INTO\s|UPDATE\s\S+\sSET\s|DELETE FROM\s|WITH\s\S+\sAS\s*\()/;

const maxLines = 400;

/** The floor a file stands on: its top folder, or its name at the root. */
function floorOf(file: string): string {
  return file.split('/', 1)[0] ?? file;
}

/** The position of a file's context among {@link contexts}; -1 outside of them. */
function contextOf(file: string): number {
  const [layer, context] = file.split('/');
  return layer === 'domain' ? contexts.indexOf(context ?? '') : -1;
}

/** Whether the file is tooling at the root (test runner settings), which is no part of the product. */
function isTooling(file: string): boolean {
  return floorOf(file) === 'test' || /^[^/]+\.config\.ts$/.test(file);
}

/** Imports that are right though they don't go down: they bring facts, not code. */
function isFact(file: string, target: string): boolean {
  if (target === 'package.json') return true;
  // an empty workspace is filled with the domain's plain data; schema steps must not change with it
  return file.startsWith('migrations/seeds/') && /^domain\/.*\.data\.ts$/.test(target);
}

/**
 * All rules that concern one file by itself.
 * @param mains files that are started as programs, which alone may write to the console.
 */
export function checkFile(file: SourceFile, mains: ReadonlySet<string>): Fault[] {
  const faults: Fault[] = [];
  const fault = (line: number, reason: string) => faults.push({ path: file.path, line, reason });

  for (const error of file.syntaxErrors) fault(error.line, `cannot be parsed: ${error.message}`);
  if (file.lines > maxLines && !file.path.endsWith('.data.ts')) {
    fault(maxLines + 1, `${file.lines} lines: split it by operation before ${maxLines}`);
  }
  if (isTooling(file.path)) return faults;

  const floor = floorOf(file.path);
  const allowed = below[floor];
  if (!allowed) {
    fault(1, `${floor} is no floor of the house (${Object.keys(below).join(', ')}, test)`);
    return faults;
  }
  for (const { target, line } of file.imports) {
    if (target === undefined || isFact(file.path, target)) continue;
    const other = floorOf(target);
    if (isTooling(target)) fault(line, `product code imports ${target}, which is not part of the product`);
    else if (other !== floor && !allowed.includes(other)) {
      fault(line, `${floor} may not import ${other}${allowed.length ? ` (only ${allowed.join(', ')})` : ''}`);
    }
    const context = contextOf(file.path);
    if (context !== -1 && contextOf(target) > context) {
      fault(
        line,
        `the context ${contexts[context]} may not import the later context ${contexts[contextOf(target)]}`,
      );
    }
  }
  for (const { specifier, line } of file.reExports) {
    fault(line, `re-exports ${specifier}: import it from where it is written`);
  }
  if (file.defaultExport) fault(file.defaultExport, 'default export: export it by name');
  checkConnections(file, fault);
  if (floor === 'api') checkApi(file, fault);
  if (!mains.has(file.path) && file.path !== 'platform/startup.ts') {
    new Visitor({
      MemberExpression(node) {
        if (node.object.type === 'Identifier' && node.object.name === 'console') {
          fault(file.lineAt(node.start), 'console: use the logger that is passed in');
        }
      },
    }).visit(file.program);
  }
  return faults;
}

/** `api` translates HTTP and nothing else: no SQL, no query building, no queue. */
function checkApi(file: SourceFile, fault: (line: number, reason: string) => void): void {
  for (const { specifier, line } of file.imports) {
    if (notInApi.test(specifier)) fault(line, `api may not import ${specifier}: call a command or a query`);
  }
  const text = (node: { start: number }, value: string | null | undefined) => {
    if (value && sql.test(value)) fault(file.lineAt(node.start), 'SQL in api: call a command or a query');
  };
  new Visitor({
    CallExpression(node) {
      const callee = node.callee;
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
      // Array.from, Buffer.from, Readable.from: the static methods of classes are no query builders
      const ofClass = callee.object.type === 'Identifier' && /^[A-Z]/.test(callee.object.name);
      const name = callee.property.name;
      if (!ofClass && (name === 'raw' || name === 'from')) {
        fault(file.lineAt(callee.property.start), `.${name}( in api: call a command or a query`);
      }
    },
    Literal(node) {
      if (typeof node.value === 'string') text(node, node.value);
    },
    TemplateLiteral(node) {
      text(node, node.quasis.map((quasi) => quasi.value.cooked).join('?'));
    },
  }).visit(file.program);
}
