import { expect, it } from 'vitest';
import { checkAttributes } from '../../../domain/inventory/cards/rules/values.ts';
import { loadMetamodel } from '../../../domain/kernel/metamodel/metamodel.store.ts';
import { mayBeSilent } from '../../support/database.ts';
import { ok, openApp, type TestAnswer } from '../../support/harness.ts';
import { make, refused, relate } from '../cards/write.fixture.ts';
import {
  field,
  makeRelationType,
  makeType,
  newKey,
  relationTypes,
  schema,
  types,
} from './metamodel.fixture.ts';

const { t, db, admin, member } = await openApp(['admin', 'member']);

const times = <T>(n: number, work: (index: number) => T): T[] => Array.from({ length: n }, (_, i) => work(i));
const statuses = (answers: TestAnswer[]) => [...new Set(answers.map(({ status }) => status))].sort();

/** Every card of the type passes its own type, as it stands. */
async function expectFitting(type: string): Promise<void> {
  const { fields } = (await loadMetamodel(db)).cardTypes.get(type)!;
  for (const card of await db('cards').where({ type })) {
    expect(checkAttributes(fields, card.attributes)).toEqual([]);
  }
}

it('a field that is removed while its values are written leaves none of them behind', async () => {
  const type = await makeType(admin, [field('size', 'number'), field('note', 'text')]);
  const cards = await Promise.all(times(8, () => make(member, { type })));
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
  const source = await make(member, { type: source_type_key });
  const targets = await Promise.all(times(10, () => make(member, { type: target_type_key })));
  await relate(member, key, source.id, targets[0]!.id);
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
  const card = await make(member, { type });
  await db.transaction(async (long) => {
    await mayBeSilent(long);
    await long.raw('select lock_metamodel(false)');
    const busy = refused(t, () => admin.patch(`${types}/${type}`, { label: 'Later' }));
    expect(await busy).toMatchObject({ status: 409, code: 'metamodel_busy' });
    await ok(member.patch(`/api/v1/cards/${card.id}`, { alias: 'Meanwhile' }));
    // what would be affected can be asked for at any time
    await ok(admin.patch(`${types}/${type}?dry_run=true`, { label: 'Later' }));
  });
  await ok(admin.patch(`${types}/${type}`, { label: 'Later' }));
});

it('a long change keeps writers waiting, not readers', async () => {
  const cards = await Promise.all(times(5, () => make(member)));
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
