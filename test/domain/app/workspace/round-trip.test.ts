import { contentTables } from '../../../../domain/app/workspace/workspace.tables.ts';
import { query } from '../../../../platform/database.ts';
import { makeType } from '../../../api/metamodel/metamodel.fixture.ts';
import { archiveRows } from '../../../support/archive-rows.ts';
import {
  applyArchive,
  contentOf,
  exportArchive,
  manifestOf,
  onEmptyService,
  openTwoServices,
  type Parts,
  unpack,
  uploadArchive,
} from '../../../support/archives.ts';
import { fillWorkspace } from '../../../support/full-workspace.ts';
import { ok } from '../../../support/harness.ts';
import { plantSecrets, SECRET } from '../../../support/secrets.ts';

/*
 * The demo, with writes of every kind on top of it, goes into an empty service and comes out again as it was: every part of the
 * archive byte by byte.
 */
const { source, target } = await openTwoServices();
await fillWorkspace(source, undefined, Number(process.env.WORKSPACE_SEED ?? 7));
await plantSecrets(source);
const archive = await exportArchive(source.services, await source.ctx());
const parts = await unpack(archive);
it('holds rows of every kind, and what its manifest says', () => {
  const manifest = manifestOf(parts);
  const names = [...parts.keys()].filter((name) => name !== 'manifest.json');
  expect(manifest.files.map(({ name }) => name)).toEqual(names);
  expect(manifest.files.filter(({ rows }) => rows === 0).map(({ kind }) => kind)).toEqual([]);
  expect(manifest.files.length).toBeGreaterThan(contentTables.length);
});

it('holds none of the secrets that stand in every place for one, and no other', () => {
  const revealing = [...parts]
    .map(([name, content]) => [name, content.toString('latin1')] as const)
    .filter(([, text]) => text.includes(SECRET) || /scrypt\$|est_[A-Za-z0-9]{20}/.test(text));
  expect(revealing.map(([name]) => name)).toEqual([]);
  const columns = manifestOf(parts).files.flatMap(({ kind, columns: own = [] }) =>
    own.map((column) => `${kind}.${column}`),
  );
  const suspicious = columns.filter((column) =>
    /passw|secret|token|hash|credential|private_key|totp/.test(column),
  );
  // fingerprints of what was signed
  expect(suspicious).toEqual(['adrs.content_hash', 'soaws.content_hash']);
});

it('names only the people whom something names', async () => {
  const users = parts.get('content/users.ndjson')!.toString().trim().split('\n');
  const emails = users.map((line) => JSON.parse(line).email);
  expect(emails).toEqual([...new Set(emails)]);
  expect(await source.services.db('users').pluck('email')).toContain('nobody-names-me@estate.example');
  expect(emails).not.toContain('nobody-names-me@estate.example');
});

it('goes into an empty service and comes out of it as it was', async () => {
  const ctx = await target.ctx();
  const { db } = target.services;
  const [newest] = await db('events').max('position as position');
  const previewed = await uploadArchive(target.services, ctx, archive);
  expect(previewed).toMatchObject({ status: 'previewed', error_message: null, format_version: '1.0' });
  expect(previewed.diff!.conflicts).toEqual([]);
  expect(await db('cards').count('* as n')).toEqual([{ n: 0 }]);

  const applied = await applyArchive(ctx, previewed.id);
  expect(applied).toMatchObject({ status: 'applied', error_message: null });
  expect(applied.result).toEqual({ kinds: previewed.diff!.kinds, totals: previewed.diff!.totals, left: [] });
  expect(contentOf(await unpack(await exportArchive(target.services, ctx)))).toEqual(contentOf(parts));

  // each card and relation has an event, and nothing else has one
  const rows = await query(db).rows`
       select event_type, count(*)::int as n from events
       where position > ${newest?.position ?? 0} and batch_id is not null
       and event_type in ('card.created', 'card.updated', 'relation.created', 'relation.updated') group by 1`;
  const { cards, relations } = previewed.diff!.kinds;
  expect(
    Object.fromEntries(rows.map(({ event_type, n }: { event_type: string; n: number }) => [event_type, n])),
  ).toEqual({ 'card.created': cards!.create, 'relation.created': relations!.create });
  // only callers with relations.view see the events of relations' costs
  const costsOf = (event_type: string) => db('events').where({ event_type }).pluck('data');
  const ids = async (event_type: string) => (await costsOf(event_type)).map(({ id }) => id).sort();
  const costs = db('costs').orderBy('id');
  expect(await ids('cost.created')).toEqual(await costs.clone().whereNotNull('card_id').pluck('id'));
  expect(await ids('relation_cost.created')).toEqual(
    await costs.clone().whereNotNull('relation_id').pluck('id'),
  );
  const people = await db('users').where({ is_active: false }).select('password_hash', 'role');
  expect(new Set(people.map(({ password_hash }) => password_hash))).toEqual(new Set([null]));
  expect(await db('workspace_transfer_rows').count('* as n')).toEqual([{ n: 0 }]);
}, 120_000);

it('finds nothing to do in what it has brought', async () => {
  const ctx = await target.ctx();
  const { diff } = await uploadArchive(target.services, ctx, archive);
  expect(diff!.totals).toMatchObject({ create: 0, update: 0, conflict: 0 });
}, 60_000);

it('leaves archived cards out, with what hangs on them, and comes out as it was then too', async () => {
  const admin = await source.as('admin');
  const [type, other] = [await makeType(admin, []), await makeType(admin, [])];
  await admin.create('/api/v1/metamodel/relation-types', {
    ...{ key: 'needs', label: 'needs', source_type_key: type, target_type_key: other },
    source_mandatory: true,
  });
  const needy = await admin.create('/api/v1/cards', { type, name: 'Needy' });
  const needed = await admin.create('/api/v1/cards', { type: other, name: 'Needed' });
  await admin.create('/api/v1/relations', { type: 'needs', source_id: needy.id, target_id: needed.id });
  await ok(admin.post(`/api/v1/cards/${needed.id}/archive`, {}));
  const { rows } = await source.services.db.raw(`select v.id from relations r
     cross join lateral (values (r.source_id, r.target_id), (r.target_id, r.source_id)) v (id, end_id)
     join cards c on c.id = v.end_id and c.status = 'ARCHIVED'`);
  const neighbours = new Set(rows.map(({ id }: { id: string }) => id));
  const active = await exportArchive(source.services, await source.ctx(), false);
  const less = await unpack(active);
  expect(less.get('content/cards.ndjson')!.includes('"status":"ARCHIVED"')).toBe(false);
  await onEmptyService(async (empty) => {
    const ctx = await empty.ctx();
    const { id, diff } = await uploadArchive(empty.services, ctx, active);
    expect(diff!.conflicts).toEqual([]);
    expect((await applyArchive(ctx, id)).result!.left).toEqual([]);
    const again = await unpack(await exportArchive(empty.services, ctx));
    // a relation to an archived card counts for the data quality of a card, and is left out
    const cards = archiveRows(again, 'cards');
    const recomputed = new Map(
      cards.map(({ id: card, data_quality, updated_at, updated_by }) => [
        card,
        { data_quality, updated_at, updated_by },
      ]),
    );
    const given = archiveRows(less, 'cards');
    const before = given.find(({ id: card }) => card === needy.id)!;
    expect(recomputed.get(needy.id)!.data_quality).toBeLessThan(before.data_quality);
    expect(cards).toEqual(
      given.map((row) =>
        neighbours.has(row.id) && row.data_quality !== recomputed.get(row.id)?.data_quality
          ? { ...row, ...recomputed.get(row.id) }
          : row,
      ),
    );
    const withoutCards = (of: Parts) => ({ ...contentOf(of), 'content/cards.ndjson': '' });
    expect(withoutCards(again)).toEqual(withoutCards(less));

    const second = await uploadArchive(empty.services, ctx, active);
    expect(second.diff!.totals).toMatchObject({ create: 0, update: 0, conflict: 0 });
  });
}, 120_000);
