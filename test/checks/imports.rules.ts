import { Visitor } from 'rolldown/utils';
import type { SourceFile } from './imports.scan.ts';

/** A violation of a rule; `line` is 1-based. */
export type Violation = { path: string; line: number; reason: string };

/** The layers that each layer may import besides itself. */
const below: Record<string, string[]> = {
  platform: [],
  domain: ['platform'],
  reports: ['platform', 'domain'],
  integrations: ['platform', 'domain'],
  workers: ['platform', 'domain', 'reports', 'integrations', 'migrations', 'boot.ts'],
  api: ['platform', 'domain', 'reports', 'integrations', 'migrations', 'boot.ts'],
  // pages and programs that use the API from outside
  clients: [],
  web: ['clients'],
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

/** Packages that speak to the database or the queue: `api` leaves both to lower layers. */
const notInApi = /^(knex|objection|pg|pg-[a-z-]+|bullmq|ioredis)(\/|$)/;

/** SQL in a string; keywords of sentences are not all lower or all upper case. */
const sql =
  /^\s*(select\s[\s\S]*\sfrom\s|insert into\s|update\s\S+\sset\s|delete from\s|with\s\S+\sas\s*\(|SELECT\s[\s\S]*\sFROM\s|INSERT INTO\s|UPDATE\s\S+\sSET\s|DELETE FROM\s|WITH\s\S+\sAS\s*\()/;

/** The layer of a file: its top folder, or its name at the root. */
function layerOf(file: string): string {
  return file.split('/', 1)[0] ?? file;
}

/** The position of a file's context among {@link contexts}; -1 outside of them. */
function contextOf(file: string): number {
  const [layer, context] = file.split('/');
  return layer === 'domain' ? contexts.indexOf(context ?? '') : -1;
}

/** Whether the file is a test or a configuration file, which are not part of the product. */
function isTooling(file: string): boolean {
  return layerOf(file) === 'test' || /^[^/]+\.config\.ts$/.test(file);
}

/** Imports of data, which are allowed in any direction. */
function isFact(file: string, target: string): boolean {
  if (target === 'package.json') return true;
  // an empty workspace is filled with the domain's plain data; schema steps must not change with it
  return file.startsWith('migrations/seeds/') && /^domain\/.*\.data\.ts$/.test(target);
}

/** Charts are also drawn by browsers. */
const CHARTS = 'reports/kernel/charts/';

/** Checks one file. */
export function checkFile(file: SourceFile): Violation[] {
  const violations: Violation[] = [];
  const fault = (line: number, reason: string) => violations.push({ path: file.path, line, reason });

  for (const error of file.syntaxErrors) fault(error.line, `cannot be parsed: ${error.message}`);
  if (isTooling(file.path)) return violations;

  const layer = layerOf(file.path);
  const allowed = below[layer];
  if (!allowed) {
    fault(1, `${layer} is not a layer (${Object.keys(below).join(', ')}, test)`);
    return violations;
  }
  for (const { target, line } of file.imports) {
    if (target === undefined || isFact(file.path, target)) continue;
    const other = layerOf(target);
    if (isTooling(target)) fault(line, `product code imports ${target}, which is not part of the product`);
    else if (layer === 'web' && target.startsWith(CHARTS)) continue;
    else if (other !== layer && !allowed.includes(other)) {
      fault(line, `${layer} may not import ${other}${allowed.length ? ` (only ${allowed.join(', ')})` : ''}`);
    }
    const context = contextOf(file.path);
    if (context !== -1 && contextOf(target) > context)
      fault(
        line,
        `the context ${contexts[context]} may not import the later context ${contexts[contextOf(target)]}`,
      );
  }
  // what a client offers is all at its entry
  for (const { specifier, line } of layer === 'clients' ? [] : file.reExports)
    fault(line, `re-exports ${specifier}: import it from where it is written`);
  checkConnections(file, fault);
  if (file.path.startsWith(CHARTS)) checkCharts(file, fault);
  if (layer === 'api') checkApi(file, fault);
  return violations;
}

/** What formats their texts, also in browsers. */
const CHART_PACKAGE = 'intl-messageformat';

/** Chart definitions import each other and nothing else: no other package, no Node, no other part of the service. */
function checkCharts(file: SourceFile, fault: (line: number, reason: string) => void): void {
  for (const { specifier, target, line } of file.imports) {
    if (target?.startsWith(CHARTS) || specifier === CHART_PACKAGE) continue;
    fault(line, `charts may only import other charts, not ${specifier}`);
  }
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
      if (!ofClass && (name === 'raw' || name === 'from'))
        fault(file.lineAt(callee.property.start), `.${name}( in api: call a command or a query`);
    },
    Literal(node) {
      if (typeof node.value === 'string') text(node, node.value);
    },
    TemplateLiteral(node) {
      text(node, node.quasis.map((quasi) => quasi.value.cooked).join('?'));
    },
  }).visit(file.program);
}

/** Modules that open connections, and the files that may: all others go through `platform/outbound.ts`. */
const connecting: [RegExp, RegExp][] = [
  // our own sockets and the search for a free port
  [/^node:net$/, /^platform\/(outbound|embedded-postgres\/[a-z-]+)\.ts$/],
  [/^(node:)?(http|https|http2|tls|net|dgram|dns|dns\/promises)$/, /^platform\/outbound\.ts$/],
  [/^undici(\/|$)/, /^platform\/outbound\.ts$/],
  // libraries that are given the guard's connections
  [/^nodemailer\/lib\/smtp-connection$/, /^integrations\/collaboration\/mail\/mail\.smtp\.ts$/],
  [/^nodemailer(\/lib\/(?!mail-composer).*)?$/, /^integrations\/collaboration\/mail\/mail\.smtp\.ts$/],
  [/^openid-client$/, /^integrations\/access\/sso\/sso\.provider\.ts$/],
  [/^ssh2$/, /^(integrations\/exchange\/storage\/sftp|platform\/ssh-keys)\.ts$/],
  [/^@aws-sdk\//, /^integrations\/exchange\/storage\/s3\.ts$/],
  [/^@ai-sdk\/(?!provider$)/, /^integrations\/analysis\/models\/models\.open\.ts$/],
];

const advice = 'connect through the guard of platform/outbound.ts';

/** Modules that open connections are only imported by the guard; Biome restricts the globals. */
function checkConnections(file: SourceFile, fault: (line: number, reason: string) => void): void {
  const imported = (specifier: string, at: number) => {
    const rule = connecting.find(([module]) => module.test(specifier));
    if (rule && !rule[1].test(file.path)) fault(file.lineAt(at), `imports ${specifier}: ${advice}`);
  };
  new Visitor({
    ImportDeclaration(node) {
      const typesAlone =
        node.importKind === 'type' ||
        (node.specifiers.length > 0 &&
          node.specifiers.every((one) => one.type === 'ImportSpecifier' && one.importKind === 'type'));
      if (!typesAlone) imported(node.source.value, node.start);
    },
    ImportExpression(node) {
      if (node.source.type === 'Literal') imported(String(node.source.value), node.start);
    },
    MemberExpression(node) {
      const ofGlobal = node.object.type === 'Identifier' && node.object.name === 'globalThis';
      if (ofGlobal && node.property.type === 'Identifier' && node.property.name === 'fetch')
        fault(file.lineAt(node.start), `globalThis.fetch: ${advice}`);
    },
  }).visit(file.program);
}
