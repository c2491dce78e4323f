import { Visitor } from 'rolldown/utils';
import type { SourceFile } from './imports.scan.ts';

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
  [/^@aws-sdk\//, /^integrations\/exchange\/storage\/s3\.ts$/],
  [/^@ai-sdk\/(?!provider$)/, /^integrations\/analysis\/models\/models\.open\.ts$/],
];

const globals = new Set(['WebSocket', 'EventSource', 'XMLHttpRequest']);
const advice = 'connect through the guard of platform/outbound.ts';

/** Nothing of the product opens a connection by itself. */
export function checkConnections(file: SourceFile, fault: (line: number, reason: string) => void): void {
  const own = new Set<string>();
  const fetches: number[] = [];
  const bound = (params: unknown) => {
    if (JSON.stringify(params).includes('"name":"fetch"')) own.add('fetch');
  };
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
      for (const { local } of node.specifiers) own.add(local.name);
      if (!typesAlone) imported(node.source.value, node.start);
    },
    ImportExpression(node) {
      if (node.source.type === 'Literal') imported(String(node.source.value), node.start);
    },
    VariableDeclarator(node) {
      if (node.id.type === 'Identifier') own.add(node.id.name);
    },
    FunctionDeclaration(node) {
      if (node.id) own.add(node.id.name);
      bound(node.params);
    },
    FunctionExpression: (node) => bound(node.params),
    ArrowFunctionExpression: (node) => bound(node.params),
    CallExpression(node) {
      if (node.callee.type === 'Identifier' && node.callee.name === 'fetch') fetches.push(node.start);
    },
    MemberExpression(node) {
      const ofGlobal = node.object.type === 'Identifier' && node.object.name === 'globalThis';
      if (ofGlobal && node.property.type === 'Identifier' && node.property.name === 'fetch') {
        fault(file.lineAt(node.start), `globalThis.fetch: ${advice}`);
      }
    },
    NewExpression(node) {
      if (node.callee.type === 'Identifier' && globals.has(node.callee.name)) {
        fault(file.lineAt(node.start), `new ${node.callee.name}: ${advice}`);
      }
    },
  }).visit(file.program);
  if (own.has('fetch')) return;
  for (const at of fetches) fault(file.lineAt(at), `fetch: ${advice}`);
}
