import { exported } from '../../../support/exports.ts';
import { openImports } from '../../../support/imports.ts';

/* Rows that name cards by their numbers. */
const { t, db, imports } = await openImports();
const names = ['Alpha', 'Beta', 'Gamma'];
await imports.run(names.map((name) => ({ type: 'Application', name, external_id: name })));
await imports.run([{ type: 'ITComponent', name: 'Server', external_id: 'S' }]);
const numberOf = async (external_id: string) => (await imports.card(external_id)).number as string;

it('are given in the order of the rows, to atomic imports as well', async () => {
  expect(await Promise.all(names.map(numberOf))).toEqual(['APP-00001', 'APP-00002', 'APP-00003']);
  await imports.run([{ type: 'Application', name: 'Delta', external_id: 'Delta' }], { atomic: true });
  expect(await numberOf('Delta')).toBe('APP-00004');
  const [event] = await imports.events();
  expect(event!.data.changes.number).toEqual({ old: null, new: 'APP-00004' });
});

it('are not used up by a dry run', async () => {
  const rows = [{ type: 'Application', name: 'Epsilon', external_id: 'Epsilon' }];
  const { job } = await imports.run(rows, { dry_run: true });
  expect(job.counts).toMatchObject({ created: 1, failed: 0 });
  await imports.run(rows);
  expect(await numberOf('Epsilon')).toBe('APP-00005');
});

it('identify cards to be updated, and their parents', async () => {
  const csv = 'number,alias\napp-2,Second\nAPP-00003,Third\n';
  const { job } = await imports.run(csv, { mode: 'upsert' });
  expect(job.counts).toMatchObject({ updated: 2, created: 0, failed: 0 });
  expect(await db('cards').orderBy('number').whereNotNull('alias').pluck('alias')).toEqual([
    'Second',
    'Third',
  ]);
  await imports.run([{ type: 'BusinessCapability', name: 'Selling', external_id: 'C' }]);
  const number = await numberOf('C');
  await imports.run([
    { type: 'BusinessCapability', name: 'Quoting', external_id: 'D', parent_number: number },
  ]);
  expect((await imports.card('D')).parent_id).toBe((await imports.card('C')).id);
});

it('must have been given', async () => {
  const other = await imports.card('Alpha');
  const { faults } = await imports.run(
    [
      { type: 'Application', name: 'Chosen', number: 'APP-00777' },
      { number: 'APP-00778', alias: 'x' },
      { number: 'seven', alias: 'x' },
      { id: other.id, number: 'APP-00002', alias: 'x' },
      { id: other.id, number: 'APP-00001', alias: 'Fits' },
      { number: 'APP-1', alias: 'Twice' },
    ],
    { mode: 'upsert' },
  );
  expect(faults).toEqual({
    1: ['number unknown_number'],
    2: ['number unknown_number'],
    3: ['number bad_card_number'],
    4: ['number other_number'],
    6: ['id duplicate_in_file'],
  });
  expect((await imports.card('Alpha')).alias).toBe('Fits');
});

it('name the ends of relations, and the cards of costs', async () => {
  const relation = { type: 'relAppToITC', source_number: 'APP-1', target_number: 'ITC-00001' };
  const made = await imports.run([relation, { ...relation, source_number: 'APP-999' }], {
    kind: 'relations',
  });
  expect(made.job.counts).toMatchObject({ created: 1, failed: 1 });
  expect(made.faults).toEqual({ 2: ['source_number unknown_number'] });
  const cost = { kind: 'licence', period_start: '2026-01-01', period_end: '2026-12-31', amount: 5 };
  const costs = await imports.run([{ card_number: 'app-1', ...cost }], { kind: 'costs' });
  expect(costs.job.counts).toMatchObject({ created: 1 });
  expect((await db('costs').first()).card_id).toBe((await imports.card('Alpha')).id);
});

it('are in exports for people, and in those that can be imported again if chosen', async () => {
  const headerOf = async (more: object) =>
    (await exported(t, await t.ctx(), more)).content.toString().split('\r\n')[0];
  expect(await headerOf({})).toMatch(/^\ufeff?id,number,type,.*,parent_number,/);
  expect(await headerOf({ kind: 'relations' })).toContain('source_id,source_number,');
  expect(await headerOf({ kind: 'costs' })).toContain('card_id,card_number,');
  expect(await headerOf({ profile: 'roundtrip' })).not.toMatch(/(^|,|_)number,/);
  const columns = ['number', 'name', 'alias'];
  const { content } = await exported(t, await t.ctx(), {
    profile: 'roundtrip',
    types: ['Application'],
    columns,
  });
  const { job } = await imports.run(content.toString(), { mode: 'upsert' });
  expect(job.counts).toMatchObject({ total: 5, unchanged: 5 });
});
