import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resources } from '../../../../domain/app/resources.ts';
import { fieldErrors, fieldRules } from '../../../../domain/app/workspace/workspace.fields.ts';
import { contentTable } from '../../../../domain/app/workspace/workspace.tables.ts';
import { sha256 } from '../../../../platform/crypto.ts';
import { archiveRows, changeRows, preview } from '../../../support/archive-rows.ts';
import {
  applyArchive,
  exportArchive,
  manifestOf,
  only,
  openTwoServices,
  type Parts,
  unpack,
} from '../../../support/archives.ts';
import { postFile } from '../../../support/forms.ts';
import type { TestClient } from '../../../support/harness.ts';
import createPaths from './fields.creates.json' with { type: 'json' };

/** The operations that write one row of a kind. */
const creates: Record<string, string> = createPaths;

interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  maxLength?: number;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  type?: unknown;
  format?: string;
  enum?: string[];
}

/** Columns with values that the service writes, but users do not, and keys and names that the checks of definitions cover. */
const excepted = new Set([
  ...['card_types', 'relation_types', 'stakeholder_role_definitions'].flatMap((kind) =>
    ['key', 'label', 'source_type_key', 'target_type_key'].map((column) => `${kind}.${column}`),
  ),
  'todos.status',
  'adrs.status',
  'soaws.status',
  'compliance_findings.gap_description',
  'compliance_findings.evidence',
  ...['overall_score', 'efficiency', 'effectiveness', 'compliance', 'automation'].map(
    (score) => `process_assessments.${score}`,
  ),
]);

it('are those of single writes', async () => {
  const api = JSON.parse(await readFile(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8'));
  const whole = (schema: Schema): Schema => {
    const own = schema.$ref ? api.components.schemas[schema.$ref.split('/').at(-1)!] : schema;
    return Object.assign({}, ...(own.anyOf ?? []).map(whole), own);
  };
  expect(Object.keys(fieldRules)).toEqual(expect.arrayContaining(Object.keys(creates)));
  for (const [kind, path] of Object.entries(creates)) {
    expect(contentTable.has(kind), kind).toBe(true);
    const rules = fieldRules[kind]!;
    const { content } = api.paths[`/api/v1${path}`].post.requestBody;
    const { properties = {} } = whole(content['application/json'].schema);
    const columns = resources.find(({ model }) => model.tableName === kind)!.model.columns;
    const written = Object.entries(properties).filter(
      ([field]) => field in columns && !excepted.has(`${kind}.${field}`),
    );
    expect(written.length, kind).toBeGreaterThan(0);
    for (const [field, schema] of written) {
      const { max, filled, pattern, least, most, options } = rules[field] ?? {};
      const said = whole(schema);
      if (said.format || said.type === 'array' || said.type === 'object') continue;
      expect([`${kind}.${field}`, max, pattern?.source, least, most, options]).toEqual([
        `${kind}.${field}`,
        said.maxLength,
        said.pattern === '\\S' ? pattern?.source : said.pattern && new RegExp(said.pattern).source,
        said.minimum,
        said.maximum,
        said.enum,
      ]);
      if (filled) expect(said.minLength, `${kind}.${field}`).toBe(1);
    }
  }
});

it('name each column that breaks one', () => {
  const rules = {
    name: { max: 3, filled: true as const },
    color: { pattern: /^#/ },
    n: { least: 1, most: 2 },
    low: { least: 0 },
    high: { most: 9 },
    kind: { options: ['a', 'b'] },
  };
  expect(fieldErrors(rules, { name: '😀😀😀', color: null, n: 2, low: 0, high: 9, kind: 'a' })).toEqual([]);
  expect(fieldErrors(rules, {})).toEqual([]);
  expect(
    fieldErrors(rules, { name: 'abcd', color: 'red', n: 3, low: -1, high: 10, kind: 'c' }).map(
      ({ field, code }) => `${field} ${code}`,
    ),
  ).toEqual([
    'name too_long',
    'color format',
    'n out_of_range',
    'low out_of_range',
    'high out_of_range',
    'kind unknown_option',
  ]);
  expect(fieldErrors(rules, { name: ' ' })[0]!.code).toBe('required');
});

/* Files and pictures of an archive are looked at as those that are uploaded. */

const svg = (inner: string) => `<svg xmlns="http://www.w3.org/2000/svg">${inner}</svg>`;

const script = Buffer.from(svg('<script>x()</script>'));
const { source, target } = await openTwoServices();
const admin = await source.as('admin');
const { body: card } = await admin.post('/api/v1/cards', { type: 'Application', name: 'Ledger' });
const files = `/api/v1/cards/${card.id}/file-attachments`;
await send(admin, files, 'notes.txt', 'Read me');
await send(admin, files, 'plan.svg', svg('<circle r="4"/>'));
await send(admin, '/api/v1/settings/logo', 'logo.svg', svg('<circle r="5"/>'));
const ico = Buffer.concat([Buffer.from([0, 0, 1, 0, 1, 0]), Buffer.alloc(64)]);
await send(admin, '/api/v1/settings/favicon', 'favicon.ico', ico);
const parts = only(
  await unpack(await exportArchive(source.services, await source.ctx())),
  /^(?:users|settings|cards|files|file_attachments)$/,
);

async function send(client: TestClient, url: string, name: string, content: string | Buffer): Promise<void> {
  const answer = await postFile(client, url, name, content);
  expect(answer.status, answer.text).toBeLessThan(300);
}

/** The archive with another content of the file, and of everything that describes it. */
function withContent(name: string, content: Buffer): Parts {
  const { id } = archiveRows(parts, 'files').find((row) => row.name === name)!;
  const facts = { size: content.length, sha256: sha256(content) };
  let changed = changeRows(parts, 'files', (row) => (row.id === id ? facts : {}));
  changed = changeRows(changed, 'file_attachments', (row) =>
    row.file_id === id ? { size: content.length } : {},
  );
  changed = changeRows(changed, 'settings', ({ value }) =>
    value?.file_id === id ? { value: { ...value, ...facts } } : {},
  );
  const manifest = manifestOf(changed);
  const part = manifest.files.find((file) => file.name === `blobs/${id}`)!;
  Object.assign(part, { bytes: content.length, sha256: facts.sha256 });
  return new Map([
    ...changed,
    [part.name, content],
    ['manifest.json', Buffer.from(JSON.stringify(manifest))],
  ]);
}

const picture = (values: object) =>
  changeRows(parts, 'settings', ({ key, value }) =>
    key === 'logo' ? { value: { ...value, ...values } } : {},
  );

const cases: [string, () => Parts, string][] = [
  ['a drawing that runs something', () => withContent('plan.svg', script), 'files unsupported_file'],
  ['a logo that runs something', () => withContent('logo.svg', script), 'files unsupported_file'],
  [
    'a type that is none of the content',
    () => changeRows(parts, 'files', () => ({ media_type: 'text/html' })),
    'files content_mismatch',
  ],
  [
    'a name that says something else',
    () => changeRows(parts, 'files', ({ name }) => (name === 'notes.txt' ? { name: 'notes.pdf' } : {})),
    'files content_mismatch',
  ],
  [
    'an attached file of another type',
    () => changeRows(parts, 'file_attachments', () => ({ mime_type: 'text/html' })),
    'file_attachments content_mismatch',
  ],
  ['a logo that is no picture', () => picture({ media_type: 'text/html' }), 'settings wrong_type'],
  [
    'a logo whose fingerprint is none',
    () => picture({ sha256: 'x"\r\nset-cookie: a=b' }),
    'settings wrong_type',
  ],
  ['a logo that is another file', () => picture({ sha256: '0'.repeat(64) }), 'settings content_mismatch'],
  ['a logo that is nowhere', () => picture({ file_id: randomUUID() }), 'settings content_mismatch'],
];

it.each(cases)('names %s', async (_name, archive, expected) => {
  const { status, diff } = await preview(target, archive());
  expect(status).toBe('previewed');
  expect(diff!.conflicts.map(({ kind, code }) => `${kind} ${code}`)).toContain(expected);
});

it('brings files that are what they say, and the pictures of the workspace', async () => {
  const ctx = await target.ctx();
  const { id, diff } = await preview(target, parts);
  expect(diff!.conflicts).toEqual([]);
  expect((await applyArchive(ctx, id)).result!.left).toEqual([]);
  expect((await target.anonymous.get('/api/v1/settings/logo')).text).toBe(svg('<circle r="5"/>'));
  expect((await target.anonymous.get('/api/v1/settings/favicon')).status).toBe(200);
  expect(await target.services.db('file_attachments').orderBy('name').pluck('mime_type')).toEqual([
    'text/plain; charset=utf-8',
    'image/svg+xml',
  ]);
});
