import { pluck } from '../../support/harness.ts';
import { openSyncTest } from '../../support/itsm.ts';

const TABLE = 'cmdb_ci_server';

const { db, admin, instance, connect, storeMapping, runMapping, questions, insert } = await openSyncTest();
const connectionId = await connect();

const named = (name: string) => instance.store.of(TABLE).filter(({ values }) => values.name === name);
const cardsNamed = async (name: string): Promise<number> =>
  (await db('cards').where({ type: 'ITComponent', name })).length;

/** What a proxy does that sends a POST again: a second record with all the values of the first. */
function repeat(name: string): void {
  const { sys_id: _, ...values } = named(name)[0]!.values;
  insert(TABLE, values as Record<string, string>);
}

it.each([
  ['and answered', 'bidirectional', false],
  ['and answered, of a mapping that only pushes', 'push', false],
  ['and not answered', 'bidirectional', true],
  ['and not answered, of a mapping that only pushes', 'push', true],
] as const)(
  'a record that was made twice, %s, is a question, and nothing more is made',
  async (when, direction, lost) => {
    await db('itsm_mappings').delete();
    const mapping = await storeMapping({ connectionId, cardType: 'ITComponent', table: TABLE, direction });
    const run = (query: string) => runMapping(mapping, direction === 'push' ? 'push' : 'run', query);
    const name = `Made twice ${when}`;
    await run('');
    await admin.card({ type: 'ITComponent', name });
    if (lost) {
      instance.faults.arm({ fault: 'reset_after_write', nth: 1, times: 1 });
      instance.watch = () => {
        if (named(name).length === 1) repeat(name);
      };
    }
    await run('?complete=false');
    instance.watch = undefined;
    if (!lost) repeat(name);
    for (const complete of [false, true, false]) await run(`?complete=${complete}`);
    expect(named(name)).toHaveLength(2);
    expect(await cardsNamed(name)).toBe(1);
    expect(pluck(await questions(mapping), 'kind')).toContain('match');
    expect(await db('itsm_pairs').where({ mapping_id: mapping })).toHaveLength(lost ? 0 : 1);
  },
);

it('duplicate records of a card become a review item even without identity fields', async () => {
  await db('itsm_mappings').delete();
  const fields = [{ card_field: 'name', remote_field: 'name' }];
  const mapping = await storeMapping({ connectionId, cardType: 'ITComponent', table: TABLE, fields });
  const name = 'Without identity';
  await runMapping(mapping);
  await admin.card({ type: 'ITComponent', name });
  await runMapping(mapping, 'run', '?complete=false');
  const [made] = named(name);
  repeat(name);
  for (const complete of [false, true]) await runMapping(mapping, 'run', `?complete=${complete}`);
  expect([named(name).length, await cardsNamed(name)]).toEqual([2, 1]);
  // records of the tests before have no pair of this mapping: each is a review item too, since cards have its name
  const asked = async () => (await questions(mapping)).filter(({ record_name }) => record_name === name);
  const double = named(name).find(({ values }) => values.sys_id !== made!.values.sys_id)!.values.sys_id;
  expect(await asked()).toMatchObject([
    { kind: 'match', remote_id: double, reason: expect.stringContaining(made!.values.sys_id!) },
  ]);
  // once it is removed there, nothing is left of it
  instance.elsewhere.remove(double!);
  await runMapping(mapping, 'run', '?complete=true');
  expect(await asked()).toEqual([]);
});
