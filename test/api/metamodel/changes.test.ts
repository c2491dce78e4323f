import fc from 'fast-check';
import { checkAttributes } from '../../../domain/inventory/cards/rules/values.ts';
import { loadMetamodel } from '../../../domain/kernel/metamodel/metamodel.store.ts';
import { hostileValue } from '../../random/hostile.ts';
import { mayBeSilent } from '../../support/database.ts';
import { ok, openApp, type TestResponse } from '../../support/harness.ts';
import { forAllAsync } from '../../support/property.ts';
import { writesOf } from '../../support/writes.ts';
import {
  field,
  makeRelationType,
  makeType,
  newKey,
  options,
  relationTypes,
  schema,
  types,
} from './metamodel.fixture.ts';

const { t, db, admin, member } = await openApp(['admin', 'member']);
const { refused } = writesOf(t);
const times = <T>(n: number, work: (index: number) => T): T[] => Array.from({ length: n }, (_, i) => work(i));
const statuses = (answers: TestResponse[]) => [...new Set(answers.map(({ status }) => status))].sort();
/** Every card of the type passes its own type, as it stands. */
async function expectFitting(type: string): Promise<void> {
  const { fields } = (await loadMetamodel(db)).cardTypes.get(type)!;
  for (const card of await db('cards').where({ type }))
    expect(checkAttributes(fields, card.attributes)).toEqual([]);
}

it('a field that is removed while its values are written leaves none of them behind', async () => {
  const type = await makeType(admin, [field('size', 'number'), field('note', 'text')]);
  const cards = await Promise.all(times(8, () => member.card({ type })));
  for (const round of [1, 2, 3]) {
    const fields = [field('note', 'text'), ...(round % 2 === 1 ? [] : [field('size', 'text')])];
    const writes = cards.flatMap(({ id }, n) => [
      () => member.patch(`/api/v1/cards/${id}`, { attributes: { size: n } }),
      () => member.post('/api/v1/cards', { type, name: `${round}/${n}`, attributes: { size: n } }),
      () => member.patch(`/api/v1/cards/${id}`, { attributes: { note: `${round}` } }),
    ]);
    const change = () => admin.patch(`${types}/${type}?force=true`, { fields_schema: schema(...fields) });
    writes.splice(10, 0, change);
    const answers = await Promise.all(writes.map((write) => write()));
    expect(answers[10]!.status, answers[10]!.text).toBe(200);
    // each write was before the change, or is refused for the missing field
    for (const status of statuses(answers)) expect([200, 201, 422]).toContain(status);
    await expectFitting(type);
  }
});

it('a relation type is gone with every relation, however many are being made', async () => {
  const [source_type_key, target_type_key] = [await makeType(admin), await makeType(admin)];
  const key = await makeRelationType(admin, source_type_key, target_type_key);
  const source = await member.card({ type: source_type_key });
  const targets = await Promise.all(times(10, () => member.card({ type: target_type_key })));
  await member.relate(key, source.id, targets[0]!.id);
  const relateTo =
    ({ id }: { id: string }) =>
    () =>
      member.post('/api/v1/relations', { type: key, source_id: source.id, target_id: id });
  const writes = targets.slice(1).map(relateTo);
  writes.splice(4, 0, () => admin.delete(`${relationTypes}/${key}?force=true`));
  const answers = await Promise.all(writes.map((write) => write()));
  expect(answers[4]!.status, answers[4]!.text).toBe(200);
  for (const status of statuses(answers)) expect([200, 201, 422]).toContain(status);
  expect(await db('relations').where({ type: key })).toEqual([]);
});

it('a type is created once, and deleted only while it has no cards', async () => {
  const key = newKey();
  const made = await Promise.all(times(6, () => admin.post(types, { key, label: 'Once' })));
  expect(made.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(statuses(made)).toEqual([201, 409]);
  const [gone, card] = await Promise.all([
    admin.delete(`${types}/${key}`),
    member.post('/api/v1/cards', { type: key, name: 'Late' }),
  ]);
  expect([`${gone.status} ${card.status}`]).toContainEqual(card.status === 201 ? '409 201' : '200 422');
});

it('two administrators who have read the same state do not undo each other', async () => {
  const type = await makeType(admin);
  const etag = (await admin.get(`${types}/${type}`)).headers.etag!;
  const answers = await Promise.all(
    times(5, (n) => admin.patch(`${types}/${type}`, { label: `Label ${n}` }, { 'if-match': etag })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412]);
});

it('gives way to a long write, and lets others write meanwhile', async () => {
  const type = await makeType(admin);
  const card = await member.card({ type });
  await db.transaction(async (long) => {
    await mayBeSilent(long);
    await long.raw('select lock_metamodel(false)');
    const busy = refused(() => admin.patch(`${types}/${type}`, { label: 'Later' }));
    expect(await busy).toMatchObject({ status: 409, code: 'metamodel_busy' });
    await ok(member.patch(`/api/v1/cards/${card.id}`, { alias: 'Meanwhile' }));
    // what would be affected can be asked for at any time
    await ok(admin.patch(`${types}/${type}?dry_run=true`, { label: 'Later' }));
  });
  await ok(admin.patch(`${types}/${type}`, { label: 'Later' }));
});

it('a long change keeps writers waiting, not readers', async () => {
  const cards = await Promise.all(times(5, () => member.card()));
  const { writes } = await db.transaction(async (long) => {
    await mayBeSilent(long);
    await long.raw('select lock_metamodel(true)');
    // more than the process has connections
    const waiting = times(40, (n) =>
      member.patch(`/api/v1/cards/${cards[n % 5]!.id}`, { alias: `Alias ${n}` }),
    );
    for (const { id } of cards) expect((await member.get(`/api/v1/cards/${id}`)).body.alias).toBeNull();
    return { writes: waiting };
  });
  expect(statuses(await Promise.all(writes))).toEqual([200]);
});

/** What may stand anywhere: nearly right values, and hostile ones. */
const anything = fc.oneof(
  hostileValue,
  fc.constantFrom<unknown>('x'.repeat(20_000), { de: 'x' }, { label: { de: 'x', 'x-y': 'z' } }),
);

/** A body with one of its parts, however deep, put in the place of another value, left out or doubled. */
function mutated(body: unknown, choice: number, value: unknown): unknown {
  const copy = structuredClone(body) as Record<string, unknown>;
  const places: [Record<string, unknown>, string][] = [];
  const walk = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Object.keys(node)) {
      places.push([node as Record<string, unknown>, key]);
      walk((node as Record<string, unknown>)[key]);
    }
  };
  walk(copy);
  const [node, key] = places[choice % places.length]!;
  if (value === undefined) delete node[key];
  else if (Array.isArray(node) && choice % 7 === 0) node.push(structuredClone(node[Number(key)]));
  else node[key] = value;
  return copy;
}

it('whatever is sent is carried out or refused, and leaves every card and relation with what its type takes', async () => {
  const type = await makeType(admin, [
    field('size', 'number'),
    field('note', 'text'),
    field('state', 'single_select', { options: options('a', 'b') }),
  ]);
  const relationType = await makeRelationType(admin, type, 'Application', {
    attributes_schema: [{ key: 'share', label: 'Share', type: 'text' }],
  });
  const card = await admin.card({ type, attributes: { size: 1, note: '7', state: 'a' } });
  const relation = await admin.relate(relationType, card.id, (await admin.card()).id);
  await admin.patch(`/api/v1/relations/${relation.id}`, { attributes: { share: '3' } });

  const select = field('note', 'single_select', { options: options('a', 'x') });
  type Body = [method: 'post' | 'patch', url: string, body: object];
  const patch = (url: string, body: object): Body => ['patch', url, body];
  const post = (url: string, body: object): Body => ['post', url, body];
  const bodies = [
    patch(`${types}/${type}?force=true`, {
      fields_schema: schema(field('size', 'text'), select),
      subtypes: [{ key: 's', label: 'S', hidden_fields: ['size'] }],
    }),
    patch(`${types}/${type}`, {
      label: 'L',
      translations: { label: { de: 'D' } },
      section_config: { Facts: { hidden: true }, __order: ['Facts'], __dataQuality: { tags: 1 } },
    }),
    patch(`${types}/${type}?dry_run=true`, {
      fields_schema: schema(field('state', 'date'), field('size', 'url')),
      stakeholder_roles: [{ key: 'owner', label: 'O', translations: { de: 'B' } }],
    }),
    post(types, {
      key: newKey(),
      label: 'N',
      fields_schema: schema(select),
      sort_order: 3,
      color: '#112233',
    }),
    patch(`${relationTypes}/${relationType}?force=true`, {
      attributes_schema: [
        { key: 'share', label: 'S', type: 'number' },
        { key: 'state', label: 'S', type: 'single_select', options: options('a') },
      ],
      cardinality: '1:n',
    }),
    post(relationTypes, {
      ...{ key: newKey(), label: 'n', source_type_key: 'Application', target_type_key: type },
      cardinality: '1:1',
    }),
    post(`${types}/${type}/stakeholder-roles`, {
      ...{ key: 'steward', label: 'S', permissions: { 'card.view': true } },
      translations: { label: { de: 'H' } },
    }),
    post('/api/v1/metamodel/principles', { title: 'P', rationale: 'R', sort_order: 1 }),
    post('/api/v1/metamodel/resource-types', {
      ...{ kind: 'link_type', key: 'k', label: 'K', translations: { de: 'K' } },
    }),
  ];
  const seen = new Set<number>();
  await forAllAsync(
    { numRuns: 150, endOnFailure: true },
    [fc.nat(bodies.length - 1), fc.nat(500), fc.option(anything, { nil: undefined, freq: 8 })],
    async (which, choice, value) => {
      const [method, url, body] = bodies[which]!;
      const answer = await admin[method](url, mutated(body, choice, value));
      seen.add(answer.status);
      expect([200, 201, 400, 409, 422], answer.text).toContain(answer.status);
      const metamodel = await loadMetamodel(db);
      for (const { attributes, subtype } of await db('cards').where({ type })) {
        expect(checkAttributes(metamodel.cardTypes.get(type)!.fields, attributes)).toEqual([]);
        expect(subtype === null || metamodel.cardTypes.get(type)!.subtypeKeys.has(subtype)).toBe(true);
      }
      for (const { attributes } of await db('relations').where({ type: relationType }))
        expect(checkAttributes(metamodel.relationTypes.get(relationType)!.fields, attributes)).toEqual([]);
    },
  );
  expect(seen).toContain(422);
  expect(seen).toContain(200);
  // and the metamodel can still be read in every language
  await ok(admin.get(`${types}?page_size=200`, { 'accept-language': 'de' }));
});
