// @redis
import { rollBack } from '../../../../domain/app/batches/batches.rollback.ts';
import { openImports } from '../../../support/imports.ts';

const { t, db, imports } = await openImports();
const group = async (name: string, more: object = {}) =>
  (
    await db('tag_groups')
      .insert({ name, ...more })
      .returning('id')
  )[0].id as string;
const region = await group('Region');
const phase = await group('Phase', { mode: 'single' });
await group('Only', { restrict_to_types: JSON.stringify(['Interface']) });
await group('Duty', { mandatory: true });
await db('tags').insert([
  { tag_group_id: region, name: 'North' },
  { tag_group_id: phase, name: 'One' },
]);

const app = (external_id: string, tags: string[]) => ({
  ...{ type: 'Application', external_id, name: external_id, tags },
});
const names = async (tag_group_id = region) =>
  (await db('tags').where({ tag_group_id }).orderBy('name').pluck('name')) as string[];
const tagsOf = async (external_id: string) =>
  (await db('card_tags as k')
    .join('tags as t', 't.id', 'k.tag_id')
    .join('cards as c', 'c.id', 'k.card_id')
    .where('c.external_id', external_id)
    .orderBy('t.name')
    .pluck('t.name')) as string[];
const rows = [
  app('T-1', ['Region/South', 'Region/North']),
  app('T-2', ['region/SOUTH', 'Region/Nroth']),
  app('T-3', ['Regoin/East']),
  app('T-4', ['Phase/Two', 'Phase/Three']),
  app('T-5', ['Only/New']),
  app('T-6', ['Duty/First']),
  app('T-7', [`Region/${'x'.repeat(201)}`]),
  { ...app('T-8', ['Region/Unused']), attributes: { costTotalAnnual: 'x' } },
];
const faults = {
  3: ['tags unknown_tag'],
  4: ['tags single_tag'],
  5: ['tags tag_not_allowed'],
  6: ['tags unknown_tag'],
  7: ['tags too_long'],
  8: ['attributes.costTotalAnnual wrong_type'],
};
const created = [
  { group: 'Region', name: 'Nroth' },
  { group: 'Region', name: 'South' },
];

describe('an import with create_tags', () => {
  it.each([false, true])('says in a dry run which tags it would create: atomic %s', async (atomic) => {
    const valid = atomic ? rows.slice(0, 2) : rows;
    const dry = await imports.run(valid, { create_tags: true, dry_run: true, atomic });
    expect(dry.job.counts).toMatchObject({ created: 2, created_tags: 2, warnings: 1 });
    expect(dry.job.result).toMatchObject({ created_tags: created });
    expect(await names()).toEqual(['North']);
  });

  it('creates no tags if a row of an atomic import fails', async () => {
    const { job } = await imports.run(rows, { create_tags: true, atomic: true });
    expect(job).toMatchObject({ status: 'failed', counts: { created: 0, created_tags: 0 } });
    expect(await names()).toEqual(['North']);
  });

  it('creates the missing tags of known groups, with events, and warns of similar ones', async () => {
    const done = await imports.run(rows, { create_tags: true, report: 'warnings' });
    expect(done.faults).toEqual(faults);
    expect(done.job.counts).toMatchObject({ created: 2, failed: 6, created_tags: 2, warnings: 1 });
    expect(done.job.result).toMatchObject({ created_tags: created });
    expect(await names()).toEqual(['North', 'Nroth', 'South']);
    expect(await tagsOf('T-1')).toEqual(['North', 'South']);
    expect(await tagsOf('T-2')).toEqual(['Nroth', 'South']);
    const events = await imports.events();
    const ofTags = events.filter(({ event_type }) => event_type === 'tag.created');
    expect(ofTags.map(({ data }) => data.name)).toEqual(['Nroth', 'South']);
    const [, two, three] = [0, 2, 3].map((line) => done.report.find((row) => row.line === line));
    expect(two).toMatchObject({
      warnings: [{ code: 'similar_tag', field: 'tags', value: 'Region/Nroth', nearest: 'Region/North' }],
    });
    const error = { value: 'Regoin', nearest: 'Region', message: 'there is no tag group Regoin' };
    expect(three!.errors[0]).toMatchObject(error);
    expect(done.job.result).toMatchObject({ warnings: [{ line: 2, code: 'similar_tag' }] });
  });

  it('is undone as one batch with its tags', async () => {
    const { job } = await imports.run([app('U-1', ['Region/Undone'])], { create_tags: true });
    expect(await names()).toContain('Undone');
    await rollBack(await t.ctx(), job.id, { dry_run: false, force: false });
    expect(await names()).not.toContain('Undone');
    expect(await imports.card('U-1')).toBeUndefined();
  });

  it('creates a tag once that concurrent imports need', async () => {
    const files = ['A', 'B', 'C', 'D'].map((key) =>
      Array.from({ length: 40 }, (_, n) => app(`P-${key}-${n}`, [`Region/Shared ${n % 7}`])),
    );
    const done = await Promise.all(
      files.map((file, n) => imports.run(file, { create_tags: true, atomic: n % 2 === 0 })),
    );
    expect(done.map(({ job }) => job.counts!.created)).toEqual([40, 40, 40, 40]);
    expect((await names()).filter((name) => name.startsWith('Shared'))).toHaveLength(7);
    // each is claimed by the import that its event belongs to
    const claimed = done.flatMap(({ job }) =>
      (job.result as { created_tags: { name: string }[] }).created_tags.map(({ name }) => [job.id, name]),
    );
    const events = await db('events')
      .where({ event_type: 'tag.created' })
      .whereIn(
        'job_id',
        done.map(({ job }) => job.id),
      )
      .select('job_id', db.raw("data ->> 'name' as name"));
    expect(claimed.toSorted()).toEqual(events.map(({ job_id, name }) => [job_id, name]).toSorted());
    expect(done.reduce((sum, { job }) => sum + job.counts!.created_tags!, 0)).toBe(7);
  });

  it('repeats only the beginning of a name that is too long', async () => {
    const { report } = await imports.run([rows[6]!], { create_tags: true });
    expect(report[0]!.errors).toMatchObject([{ code: 'too_long', value: `Region/${'x'.repeat(53)}…` }]);
  });

  it('creates at most 1,000 tags', async () => {
    const many = Array.from({ length: 1_002 }, (_, n) => app(`M-${n}`, [`Phase/Many ${n * 7919}`]));
    const { job, faults } = await imports.run(many, { create_tags: true, dry_run: true });
    expect(job.counts).toMatchObject({ created: 1_000, failed: 2, created_tags: 1_000 });
    expect(faults).toEqual({ 1001: ['tags too_many_tags'], 1002: ['tags too_many_tags'] });
  });

  it('needs the permission to manage tags, and cards', async () => {
    const caller = { ...(await t.ctx()).caller, permissions: new Set(['inventory.create'] as const) };
    const mine = await t.ctx(caller);
    await expect(imports.run(rows, { create_tags: true }, mine)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(imports.run([], { create_tags: true, kind: 'relations' })).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });
});

it('its undo keeps a tag that somebody has added to other cards since', async () => {
  const own = await imports.run([app('U-1', ['Region/Shared'])], { create_tags: true });
  await imports.run([app('U-2', ['Region/Shared'])]);
  const { batch_id } = await db('events')
    .where({ event_type: 'tag.created' })
    .orderBy('position', 'desc')
    .first();
  const undo = (force: boolean) => async () =>
    await rollBack(await t.ctx(), batch_id, { dry_run: false, force });
  await expect(undo(false)()).rejects.toMatchObject({ code: 'rollback_conflicts' });
  expect([own.job.counts?.created_tags, await tagsOf('U-2')]).toEqual([1, ['Shared']]);
  const report = await undo(true)();
  expect(report.left).toMatchObject([{ code: 'tag_in_use' }]);
  expect([await tagsOf('U-1'), await tagsOf('U-2')]).toEqual([[], ['Shared']]);
});
