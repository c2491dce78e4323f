import { readFileSync } from 'node:fs';
import path from 'node:path';
import { decideReviewItem } from '../../../../domain/exchange/itsm/review.commands.ts';
import { createCards } from '../../../../domain/inventory/cards/bulk/bulk.create.ts';
import { archiveCard } from '../../../../domain/inventory/cards/cards.archive.ts';
import { patchCard } from '../../../../domain/inventory/cards/cards.write.ts';
import { createRelation } from '../../../../domain/inventory/relations/relations.commands.ts';
import { advice, type RemoteErrorCode } from '../../../../integrations/exchange/itsm/remote.ts';
import { faults } from '../../../emulators/servicenow/faults.ts';
import { createVirtualClock } from '../../../emulators/virtual-clock.ts';
import { createDriver, type Driver } from '../../../soak/itsm/drive.ts';
import { documentedFaults, isFailure, nameInDocs } from '../../../soak/itsm/failures.ts';
import { applications, components, relationType } from '../../../soak/itsm/landscape.ts';
import { runScenarios } from '../../../soak/itsm/scenarios.ts';
import { createWorld, readLocal, readRemote, type World } from '../../../soak/itsm/world.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

// `npm run soak -- --itsm --seed S` executes many more of them, with more objects
const seed = Number(process.env.ITSM_SEED ?? 2611);
const rows = documentedFaults(
  readFileSync(path.resolve(import.meta.dirname, '../../../../docs/integrations/itsm.md'), 'utf8'),
).flatMap(({ name, ...row }) => {
  const fault = faults.find((one) => nameInDocs(one) === name)!;
  return row.codes.length === 0 ? [] : [{ name, fault, ...row }];
});

const t = closeAfterAll(await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
const { db } = t.services;

it(`both sides converge after every fault of the remote, and after pairs of faults (seed ${seed})`, async () => {
  const size = { applications: 30, components: 20, relations: 30 };
  const { fired } = await runScenarios(
    { services: t.services, ctx: await t.ctx() },
    { seed, scenarios: 30, size, page: 10, reach: 10, scenariosPerWorld: 30, scenariosPerCheck: 10 },
  );
  expect([...fired.keys()].sort()).toEqual([...faults].sort());
}, 240_000);

describe('a remote', () => {
  const { table, key, cardType } = components;
  const clock = createVirtualClock(Date.now());
  let world: World;
  let driver: Driver;

  const run = (how?: { complete?: boolean }) => driver.run(world, world.mappings[key], how);
  const cardNamed = async (name: string) =>
    await db('cards').where({ type: cardType, name }).first('id', 'description', 'status');
  const edit = async (name: string, changes: Record<string, string>) =>
    await patchCard(world.ctx, (await cardNamed(name)).id, changes);
  const agree = async () => {
    const [local, remote] = [await readLocal(world), readRemote(world)];
    const told = ({ things }: typeof local) =>
      [...things]
        .filter(([name]) => name.startsWith('Server'))
        .map(([name, { description, alias }]) => [name, description, alias])
        .sort();
    expect(told(local)).toEqual(told(remote));
  };
  const account = () => world.instance.accounts.get('estate')!;
  const row = (at: number) => world.instance.store.of(table)[at]!;

  beforeAll(async () => {
    const size = { applications: 0, components: 12, relations: 0 };
    world = await createWorld({ services: t.services, ctx: await t.ctx() }, size, { clock, seed: 'faults' });
    driver = createDriver(t.services, clock, 5);
  });
  afterAll(async () => {
    await driver.close();
    await world.close();
  });

  it("that hides a column from the first read on has its values and users' values synchronised later", async () => {
    account().hidesField = (_table, field) => field === 'short_description';
    account().hidesRow = ({ values }) => values.sys_id === row(0).values.sys_id;
    expect((await run()).run.status).toBe('completed');
    const [one, other] = [row(3).values, row(4).values];
    expect(await cardNamed(one.name!)).toMatchObject({ description: null });
    await edit(other.name!, { alias: 'by a user' });
    // the remote leads, and has a value that was not read yet
    const unseen = { ...row(6).values };
    await edit(unseen.name!, { description: 'where none was seen' });
    await run({ complete: true });
    expect(row(6).values.short_description).toBe(unseen.short_description);
    world.instance.heal();
    await run();
    expect(await cardNamed(unseen.name!)).toMatchObject({ description: unseen.short_description });
    expect(await cardNamed(one.name!)).toMatchObject({ description: one.short_description });
    expect(other.version).toBe('by a user');
    await agree();
  });

  it('that hides the row by which a column is checked causes no clearing', async () => {
    account().hidesField = (_table, field) => field === 'short_description';
    account().hidesRow = ({ values }) => values.sys_id === row(0).values.sys_id;
    const ended = await run({ complete: true });
    expect(ended.changes).toBe(0);
    expect(ended.log.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(
        /^Columns excluded, since they are hidden from the account: short_description\.$/,
      ),
    );
    world.instance.heal();
    await agree();
  });

  it('that hides a row while it is changed has the change synchronised when it is visible again', async () => {
    const { sys_id: id, name } = row(5).values;
    clock.advance(300_000);
    world.instance.elsewhere.update(id!, { short_description: 'changed in hiding' });
    account().hidesRow = ({ values }) => values.sys_id === id;
    await run();
    world.instance.heal();
    clock.advance(300_000);
    await run();
    expect(await cardNamed(name!)).toMatchObject({ description: 'changed in hiding' });
  });

  it('that hides a column has no record removed that was changed in it', async () => {
    const { sys_id: id, name } = row(7).values;
    await archiveCard(world.ctx, (await cardNamed(name!)).id, {});
    await run();
    world.instance.elsewhere.update(id!, { short_description: 'changed in hiding' });
    account().hidesField = (_table, field) => field === 'short_description';
    await run();
    expect(world.instance.store.rows.has(id!)).toBe(true);
    world.instance.heal();
    await run();
    expect(world.instance.store.rows.has(id!)).toBe(true);
    expect(await db('itsm_review_items').where({ remote_id: id })).toMatchObject([{ path: null }]);
    // a user decides to remove it
    world.instance.elsewhere.remove(id!);
  });

  it('that has lost a record gets no relations to it until a user has decided about its card', async () => {
    const { ctx, instance, mappings } = world;
    const { sys_id: id, name } = row(9).values;
    await createCards(ctx, [{ row_index: 0, type: applications.cardType, name: 'Leading there' }], false);
    await driver.run(world, mappings.application);
    const [source, target] = [
      await db('cards').where({ name: 'Leading there' }).first('id'),
      await cardNamed(name!),
    ];
    await edit(name!, { description: 'changed, and deleted at the remote' });
    instance.elsewhere.remove(id!);
    await run();
    await createRelation(ctx, { type: relationType, source_id: source.id, target_id: target.id });
    for (let time = 1; time <= 2; time += 1) {
      // reported, and neither sent nor refused
      const { run: ended, changes } = await driver.run(world, mappings.application);
      expect([changes, ended.stats]).toMatchObject([0, { planned: { skip: 1 }, errors: 0 }]);
    }
    const question = await db('itsm_review_items').where({ remote_id: id, path: null }).first('id');
    await decideReviewItem(ctx, question.id, { winner: 'local' });
    await run();
    await run();
    const { run: ended } = await driver.run(world, mappings.application);
    expect(ended.stats).toMatchObject({ relations_created: 1, errors: 0 });
    expect(readRemote(world).relations).toEqual([`Leading there > ${name}`]);
    expect((await readLocal(world)).relations).toEqual([`Leading there > ${name}`]);
    await agree();
  });

  it('that has executed a write without a response has it found by the next run', async () => {
    const { instance } = world;
    const { name, sys_id: id } = row(8).values;
    await edit(name!, { description: 'first' });
    instance.faults.arm({ fault: 'reset_after_write' });
    instance.watch = ({ kind }) => {
      if (kind === 'update') instance.faults.arm({ fault: 'unauthorised', kinds: ['list'], times: 100 });
    };
    expect((await run()).run).toMatchObject({ status: 'failed', error_code: 'credentials_refused' });
    instance.watch = undefined;
    instance.heal();
    await edit(name!, { description: 'second' });
    await run();
    // the remote leads, but its value was written by the failed run
    expect(instance.store.rows.get(id!)!.values.short_description).toBe('second');
    await agree();
  });

  it.each(rows)(
    'that $name makes a run fail with what failed, where and what to do',
    async ({ fault, message, codes }) => {
      const { instance } = world;
      await edit(row(6).values.name!, { alias: `before ${fault}` });
      instance.faults.arm({ fault, times: 100_000 });
      // a lost response is resolved by a lookup, unless that never finds the write
      const before = row(6).values.version!;
      instance.watch = ({ kind }) => {
        if (kind === 'list') instance.elsewhere.update(row(6).values.sys_id!, { version: before });
      };
      const { run: ended, log } = await run();
      instance.watch = undefined;
      instance.heal();
      await db('itsm_account_limits').delete();
      const [code] = codes as [RemoteErrorCode];
      const where = `${instance.base}/api/now/v2/table/${table}`;
      const [first] = log.filter(isFailure);
      expect(first!.message).toMatch(
        new RegExp(`^(${where}|table ${table}): ${message.replace('…', table)}`),
      );
      expect(first!.message).toContain(`. ${advice[code]}`);
      // the circuit may open meanwhile
      expect([code, 'unavailable']).toContain(ended.error_code);
      expect(ended.error_message).toMatch(
        new RegExp(`^(${where}|table ${table}).*: .*\\. (${advice[code]}|${advice.unavailable})$`),
      );
    },
  );

  it('that is available again gets all writes', async () => {
    await run();
    await agree();
  });
});
