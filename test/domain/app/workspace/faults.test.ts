import { loadDemo } from '../../../../domain/app/demo/demo.load.ts';
import type { ArchivePart } from '../../../../domain/app/workspace/workspace.archive.ts';
import { startWorkers } from '../../../../workers/runtime.ts';
import { addRows, archiveRows, changeRows, preview } from '../../../support/archive-rows.ts';
import {
  exportArchive,
  manifestOf,
  onEmptyService,
  type Parts,
  pack,
  rewrite,
  unpack,
  uploadArchive,
} from '../../../support/archives.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const t = closeAfterAll(await createTestServices());
const { db } = t.services;
closeAfterAll(await startWorkers(t.services));
await loadDemo(await t.ctx(), '2026-01-15');
await db.raw(`
   insert into todos (description, card_id, due_date) select 'Look at it', id, '2026-02-01' from cards order by id limit 6;
   insert into comments (id, card_id, user_id, thread_id, content)
     select c.id, c.id, u.id, c.id, 'Said' from cards c, users u order by c.id limit 1;
   insert into documents (card_id, name, url, type)
     select id, 'Manual', 'https://estate.example/manual', 'documentation' from cards order by id limit 2;`);
const parts = await unpack(await exportArchive(t.services, await t.ctx()));
/** The archive with another manifest. */
function withManifest(change: (manifest: ReturnType<typeof manifestOf>) => unknown): Parts {
  const manifest = manifestOf(parts);
  return new Map([...parts, ['manifest.json', Buffer.from(JSON.stringify(change(manifest) ?? manifest))]]);
}

/** An archive with another manifest. */
const withOther = (change: Parameters<typeof withManifest>[0]) => () => pack(withManifest(change));
/** An archive whose manifest says something else of a part. */
const withFile = (at: number, change: (part: ArchivePart) => object) =>
  withOther((m) => void Object.assign(m.files[at]!, change(m.files[at]!)));
/** An archive with a part more. */
const withPart = (name: string, content: Buffer) => () => pack(new Map([...parts, [name, content]]));

const CARDS = 'content/cards.ndjson';
const without = (name: string): Parts => new Map([...parts].filter(([part]) => part !== name));
const cards = (change: (rows: string[]) => string[]) => rewrite(parts, CARDS, change);

const numbered = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

async function refused(archive: Buffer): Promise<string | null> {
  const before = await db('cards').count('* as n');
  const { status, error_message, diff } = await uploadArchive(t.services, await t.ctx(), archive);
  expect([status, diff]).toEqual(['failed', null]);
  expect(await db('cards').count('* as n')).toEqual(before);
  return error_message;
}

/** The archive with some bytes of it changed in place. */
async function patched(find: string, put: string): Promise<Buffer> {
  const archive = await pack(parts);
  for (let at = archive.indexOf(find); at >= 0; at = archive.indexOf(find, at + 1)) archive.write(put, at);
  return archive;
}

/** The archive with the entry of a part in its central directory changed (APPNOTE.TXT, 4.3.12). */
async function listedAs(name: string, change: (entry: Buffer) => void, content = parts): Promise<Buffer> {
  const archive = await pack(content);
  const at = archive.lastIndexOf(name) - 46;
  expect(archive.readUInt32LE(at)).toBe(0x02014b50);
  change(archive.subarray(at));
  return archive;
}

/** Where a part begins, by the central directory. */
const offsetOf = (archive: Buffer, name: string) => archive.readUInt32LE(archive.lastIndexOf(name) - 46 + 42);

describe('an archive is refused', () => {
  const faults: [string, () => Promise<Buffer>, RegExp][] = [
    [
      'that is no zip',
      async () => Buffer.from('PK\u0003\u0004 and nothing more'),
      /^The archive cannot be read: it is not a zip file, or its end is missing\.$/,
    ],
    [
      'whose manifest is not UTF-8',
      () => {
        const text = Buffer.from(parts.get('manifest.json')!).toString('latin1');
        return withPart('manifest.json', Buffer.from(text.replace('{', '{"K\xe4se": 1,'), 'latin1'))();
      },
      /^manifest\.json is no UTF-8\.$/,
    ],
    ['that ends early', async () => (await pack(parts)).subarray(0, -200), /cannot be read/],
    ['without a manifest', () => pack(without('manifest.json')), /no manifest/],
    ['of something else', withOther((m) => ({ ...m, format: 'other' })), /no archive of a workspace/],
    [
      'of a newer format',
      withOther((m) => ({ ...m, format_version: '1.1' })),
      /format 1\.1.*up to 1\.0.*newer version/,
    ],
    [
      'of a newer schema',
      withOther((m) => ({ ...m, schema_version: '9999-x' })),
      /newer version \(schema 9999-x/,
    ],
    ['with a broken manifest', withOther((m) => ({ ...m, files: 3 })), /manifest\.json\/files/],
    ['with a part too many', withPart('content/more.ndjson', Buffer.from('')), /does not name/],
    ['with a part missing', () => pack(without(CARDS)), /is not in the archive/],
    [
      'with a part that leads elsewhere',
      () => patched(CARDS, '../../etc/pa.ndjson'),
      /cannot be read|does not belong/,
    ],
    ['with the wrong checksum', withFile(0, () => ({ sha256: '0'.repeat(64) })), /checksum differs/],
    ['with the wrong size', withFile(0, ({ bytes }) => ({ bytes: bytes + 1 })), /another size/],
    ['with the wrong number of rows', withFile(1, ({ rows }) => ({ rows: rows! + 1 })), /rows, not/],
    ['with a table that nobody knows', withFile(0, () => ({ kind: 'users_secret' })), /does not support/],
    [
      'with a column that nobody knows',
      withFile(1, ({ columns }) => ({ columns: [...columns!, 'evil'] })),
      /does not support/,
    ],
    ['that becomes far too large', withPart('content/bomb.ndjson', Buffer.alloc(2 ** 24)), /250 times/],
    [
      'with an encrypted part',
      () => listedAs(CARDS, (entry) => entry.writeUInt16LE(entry.readUInt16LE(8) | 1, 8)),
      /is encrypted/,
    ],
    [
      'with a part of a name twice',
      async () => {
        const twin = 'content/carts.ndjson';
        const archive = await withPart(twin, Buffer.from(''))();
        for (let at = archive.indexOf(twin); at >= 0; at = archive.indexOf(twin, at + 1))
          archive.write(CARDS, at);
        return archive;
      },
      /contains content\/cards\.ndjson twice/,
    ],
    [
      'with a part that is longer than it says, in agreement with the manifest',
      () => {
        const lying = withManifest((m) => {
          m.files.find(({ name }) => name === CARDS)!.bytes -= 1;
        });
        return listedAs(CARDS, (entry) => entry.writeUInt32LE(entry.readUInt32LE(24) - 1, 24), lying);
      },
      /cannot be unpacked: too many bytes/,
    ],
    [
      'with a part that overlaps another',
      async () => {
        const start = offsetOf(await pack(parts), 'content/card_types.ndjson');
        return await listedAs(CARDS, (entry) => entry.writeUInt32LE(start, 42));
      },
      /cannot be unpacked|checksum differs/,
    ],
    [
      'with a symbolic link in place of a part',
      () =>
        listedAs(
          CARDS,
          (entry) => entry.writeUInt32LE(0o120777 * 2 ** 16, 38),
          rewrite(parts, CARDS, () => ['/etc/passwd']),
        ),
      /is no JSON object/,
    ],
    ['with a line that is no JSON', () => pack(cards((rows) => [...rows, 'none'])), /is no JSON object/],
    [
      'with NUL in a text',
      () => pack(cards(([row, ...rest]) => [row!.replace(/"name":"/, '"name":"\\u0000'), ...rest])),
      /cannot be stored/,
    ],
    ['with a row twice', () => pack(cards((rows) => [...rows, rows[0]!])), /twice/],
  ];
  it.each(faults)('%s', async (_name, archive, message) => {
    expect(await refused(await archive())).toMatch(message);
  });
});

it('leaves alone what does not fit, and says why', async () => {
  await onEmptyService(async (other) => {
    const change = (find: RegExp, put: string) => (rows: string[]) => {
      const at = rows.findIndex((row) => find.test(row));
      return rows.map((row, n) => (n === at ? row.replace(find, put) : row));
    };
    let broken = cards(change(/"attributes":\{/, '"attributes":{"nothing": 1, '));
    broken = rewrite(broken, CARDS, change(/"type":"Platform"/, '"type":"Unheard"'));
    const nested = archiveRows(broken, 'cards').find(({ parent_id }) => parent_id)!;
    broken = changeRows(broken, 'cards', ({ id }) => (id === nested.id ? { parent_id: id } : undefined));
    broken = addRows(broken, 'roles', [{ key: 'evil', permissions: { 'no.such': true } }]);
    broken = rewrite(broken, 'content/settings.ndjson', (rows) => [
      ...rows,
      '{"key": "sso", "value": {"enabled": true}}',
      '{"key": "matching_vocabulary", "value": {"synonyms": [["Order", "ORDER"]]}}',
    ]);
    const { status, diff } = await preview(other, broken);
    expect(status).toBe('previewed');
    expect(diff!.conflicts.map(({ kind, code }) => `${kind} ${code}`)).toEqual(
      expect.arrayContaining([
        'cards unknown_attribute',
        'cards unknown_reference',
        'cards parent_cycle',
        'roles unknown_permission',
        'settings unknown_setting',
        'settings repeated_term',
        'relations unknown_reference',
      ]),
    );
  });
}, 60_000);

it('names line and column of each row whose values do not fit, by the rules of single writes', async () => {
  await onEmptyService(async (other) => {
    let amiss = parts;
    const set = (table: string, at: number, values: object) => {
      amiss = changeRows(amiss, table, (_, n) => (n === at ? values : undefined));
    };
    set('todos', 0, { description: '   ' });
    set('todos', 1, { status: 'forgotten' });
    set('todos', 2, { due_date: '2026-02-30' });
    set('todos', 3, { description: null });
    set('todos', 4, { is_system: 'perhaps' });
    set('documents', 1, { created_at: 'infinity' });
    set('comments', 0, { content: 'x'.repeat(10_001) });
    set('stakeholders', 0, { role: 'nobody' });
    set('documents', 0, { name: 7 });
    set('cards', 300, { id: 'not-a-uuid' });
    set('cards', 301, { parent_id: 'not-a-uuid' });
    set('relations', 0, { source_id: 'not-a-uuid' });
    set('card_tags', 0, { tag_id: 'not-a-uuid' });
    const { status, diff } = await preview(other, amiss);
    expect(status).toBe('previewed');
    // the others of a kind are judged by themselves, and each fault has its row and its column
    const reasons = (table: string) =>
      diff!.conflicts
        .filter(({ kind }) => kind === table)
        .map(({ line, field, code, message }) => `${line} ${field} ${code}: ${message}`);
    expect(reasons('todos')).toEqual([
      '1 description required: description must not be blank',
      expect.stringMatching(/^2 status unknown_option: status is none of .*open/),
      '3 due_date wrong_type: due_date is no date',
      '4 description required: description is missing',
      '5 is_system wrong_type: is_system is no truth value',
    ]);
    expect(reasons('comments')[0]).toBe('1 content too_long: content has more than 10000 characters');
    expect(reasons('stakeholders')[0]).toMatch(/^1 role unknown_role: role is no role on cards of the type /);
    expect(reasons('documents')).toEqual([
      '1 name wrong_type: name is no text',
      '2 created_at wrong_type: created_at is no date',
    ]);
    expect(diff!.kinds.todos!.create).toBeGreaterThan(0);
    expect(reasons('cards').slice(0, 2)).toEqual([
      '301 id wrong_type: id is no id',
      '302 parent_id wrong_type: parent_id is no id',
    ]);
    expect(reasons('relations')[0]).toBe('1 source_id wrong_type: source_id is no id');
    expect(reasons('card_tags')[0]).toBe('1 tag_id wrong_type: tag_id is no id');
  });
}, 60_000);

it('reads thousands of rows in a moment, also where all of them are amiss', async () => {
  const ROWS = 3_000;
  const many = rewrite(parts, 'content/todos.ndjson', ([row]) =>
    Array.from({ length: ROWS }, (_, n) =>
      JSON.stringify({ ...JSON.parse(row!), id: numbered(n), is_system: 'perhaps' }),
    ),
  );
  // looked at once for each other row, they would take minutes
  const { diff } = await preview(t, many);
  expect(diff!.kinds.todos).toEqual({ create: 0, update: 0, unchanged: 0, conflict: ROWS });
}, 60_000);
