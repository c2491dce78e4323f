// @redis
import fc from 'fast-check';
import { openImports } from '../../../support/imports.ts';
import { forAllAsync } from '../../../support/property.ts';
import { smallImports } from '../../../workers/fixtures/small-imports.processors.ts';

const { t, imports } = await openImports([smallImports(3)]);
await t.services.db.raw(`
     with g as (insert into tag_groups (name, mandatory) values ('Group', true) returning id)
     insert into tags (tag_group_id, name) select id, unnest(array['One', 'Two']) from g;
     insert into users (email, display_name, role) values ('ann@estate.example', 'Ann', 'member');
     select record_events('[]', '{metamodel}')`);

const id = fc.integer({ min: 1, max: 14 }).map((n) => `X-${n}`);
const name = fc.constantFrom('a', 'B', ' b ', 'c', 'd', 'e', 'f', 'g');
const maybe = <T>(value: fc.Arbitrary<T>, freq = 3) => fc.option(value, { nil: undefined, freq });

/** Rows that meet each other in every way: few keys, few names, parents of all kinds. */
const cardRow = fc
  .record({
    type: fc.constantFrom('BusinessCapability', 'BusinessCapability', 'Application'),
    external_id: maybe(id, 8),
    name: maybe(name, 6),
    parent: maybe(
      fc.oneof(
        id.map((parent_external_id) => ({ parent_external_id })),
        fc.constant({ parent_id: null }),
        fc.array(name, { minLength: 1, maxLength: 3 }).map((parent_path) => ({ parent_path })),
      ),
      3,
    ),
    status: maybe(fc.constantFrom('ACTIVE', 'ARCHIVED'), 1),
    description: maybe(fc.constantFrom('x', 'y', null), 2),
    lifecycle: maybe(
      fc.record({ active: fc.constantFrom('2020-01-01', '2025-01-01', null, 'soon') }, { requiredKeys: [] }),
      1,
    ),
    attributes: maybe(
      fc.constantFrom({ capabilityLevel: 'Macro' }, { capabilityLevel: 'L1' }, { nope: 1 }),
      1,
    ),
    tags: maybe(fc.constantFrom(['Group/One'], ['Group/One', 'Group/Two'], [], ['Group/None']), 1),
    stakeholders: maybe(fc.constantFrom(['responsible:ann@estate.example'], null), 1),
  })
  .map(({ parent, ...row }) => JSON.parse(JSON.stringify({ ...row, ...parent })) as object);

const relationRow = fc.record({
  type: fc.constantFrom('relAppToBC', 'relBCToApp'),
  source_external_id: id,
  target_external_id: id,
  description: fc.constantFrom('x', 'y', null),
});

/** All that an import may write, to see that it was not. */
async function state(): Promise<unknown> {
  const { rows } = await t.services.db.raw(`
       select (select md5(string_agg(c::text, '' order by id)) from cards c) as cards,
       (select md5(string_agg(r::text, '' order by id)) from relations r) as relations,
       (select md5(string_agg(k::text, '' order by card_id, tag_id)) from card_tags k) as tags,
       (select md5(string_agg(s::text, '' order by id)) from stakeholders s) as stakeholders,
       (select count(*) from events where event_type <> 'import.started') as events,
       (select md5(string_agg(v::text, '' order by topic)) from topic_versions v) as topics`);
  return rows[0];
}

const nothing = async () => {
  const { rows } = await t.services.db.raw(`with recursive up as (
       select id as start, parent_id as at, 1 as depth, id as top from cards
       union all select start, c.parent_id, depth + 1, c.id from up join cards c on c.id = up.at where depth < 50
     )
     select start, case when depth >= 50 then 'loop' else 'level' end as wrong from up join cards c on c.id = start
     join cards r on r.id = up.top
     where depth >= 50 or (up.at is null and c.type = 'BusinessCapability' and c.attributes ->> 'capabilityLevel'
       is distinct from case when r.attributes ->> 'capabilityLevel' <> 'Macro' then 'L' || depth
         when depth = 1 then 'Macro' else 'L' || depth - 1 end)
     union all
     select c.id, 'active below archived' from cards c join cards p on p.id = c.parent_id
     where c.status = 'ACTIVE' and p.status = 'ARCHIVED'`);
  return rows;
};

it('says beforehand what becomes of each row, and writes nothing', async () => {
  await forAllAsync(
    Number(process.env.IMPORT_RUNS ?? 25),
    [
      fc.array(cardRow, { minLength: 1, maxLength: 16 }),
      fc.array(relationRow, { maxLength: 8 }),
      fc.constantFrom<'create' | 'upsert'>('create', 'upsert', 'upsert'),
      fc.constantFrom(false, false, true),
    ],
    async (cards, relations, mode, atomic) => {
      for (const [kind, rows] of [
        ['cards', cards],
        ['relations', relations],
      ] as const) {
        const before = await state();
        const dry = await imports.run(rows, { kind, mode, atomic, dry_run: true, report: 'all' });
        expect(await state()).toEqual(before);
        const real = await imports.run(rows, { kind, mode, atomic, report: 'all' });
        expect(dry.report).toEqual(real.report);
        expect(dry.job.counts).toEqual(real.job.counts);
        expect(await nothing()).toEqual([]);
        const { created, updated } = real.job.counts!;
        if (created! + updated! === 0) expect(await state()).toEqual(before);
      }
    },
  );
}, 300_000);

it('tells every write in the feed', async () => {
  const { db } = t.services;
  const recorded = new Map<string, Record<string, unknown>>();
  for (const { event_type, card_id, relation_id, data } of await db('events')
    .whereNotNull('card_id')
    .orderBy('position')) {
    const thing = event_type.startsWith('relation.') ? relation_id : card_id;
    if (!/^(card|relation)\./.test(event_type)) continue;
    const known = recorded.get(thing) ?? {};
    for (const [field, change] of Object.entries(
      data.changes as Record<string, { old: unknown; new: unknown }>,
    )) {
      expect({ [field]: known[field] ?? null }).toEqual({ [field]: change.old });
      if (change.new === null) delete known[field];
      else known[field] = change.new;
    }
    recorded.set(thing, known);
  }
  const flat = (row: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(row).flatMap(([key, value]): [string, unknown][] =>
        key === 'attributes' || key === 'lifecycle'
          ? Object.entries(value ?? {}).map(([inner, item]) => [`${key}.${inner}`, item])
          : value === null
            ? []
            : [[key, value]],
      ),
    );
  const cards = await db('cards').select(
    ...['id', 'subtype', 'number', 'name', 'alias', 'description', 'parent_id', 'external_id', 'status'],
    ...['approval_status', 'data_quality', 'lifecycle', 'attributes'],
    db.raw('utc(archived_at) as archived_at'),
  );
  const relations = await db('relations').select('id', 'description', 'attributes');
  expect(recorded.size).toBe(cards.length + relations.length);
  for (const { id: key, ...row } of [...cards, ...relations]) expect(recorded.get(key)).toEqual(flat(row));
});
