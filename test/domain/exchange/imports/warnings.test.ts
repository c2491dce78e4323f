// @redis
import { changeSetting } from '../../../../domain/app/settings/settings.change.ts';
import type { AppPermission } from '../../../../domain/kernel/permissions/permissions.data.ts';
import { openImports } from '../../../support/imports.ts';
import { until } from '../../../support/until.ts';

const { t, db, imports } = await openImports();

const app = (name: string, more: object = {}) => ({ type: 'Application', name, ...more });
const idOf = async (name: string): Promise<string> => (await db('cards').where({ name }).first('id'))!.id;
const warnedLines = (report: { line: number }[]) =>
  Object.fromEntries(
    (report as { line: number; warnings?: { name: string }[] }[]).flatMap(({ line, warnings }) =>
      warnings ? [[line, warnings.map(({ name }) => name)]] : [],
    ),
  );

describe('the rows of an import that create or rename cards', () => {
  it('are in its report with the cards that they probably duplicate, and in its counts', async () => {
    await imports.run([app('Contract Archive'), app('Route Planner', { external_id: 'W-1' })]);
    const rows = [
      app('Contract Archvie'),
      app('Something else'),
      app('contract_archive'),
      app('Archive of contracts', { external_id: 'W-1' }),
      app('Archive Contract', { external_id: 'W-2', status: 'ARCHIVED' }),
      { type: 'Interface', name: 'Contract Archive' },
      { type: 'Application', external_id: 'W-3' },
    ];
    const { job, report } = await imports.run(rows, { mode: 'upsert', report: 'warnings' });
    expect(job.counts).toEqual({ total: 7, created: 5, updated: 1, unchanged: 0, failed: 1, warnings: 2 });
    expect(report.map(({ line, outcome }) => [line, outcome])).toEqual([
      [1, 'created'],
      [3, 'created'],
      [7, 'failed'],
    ]);
    expect(warnedLines(report)).toEqual({
      1: ['Contract Archive', 'contract_archive'],
      3: ['Contract Archive', 'Contract Archvie'],
    });
    const card_id = await idOf('Contract Archive');
    const found = { line: 3, code: 'likely_duplicate', card_id, confidence: expect.any(Number) };
    expect((job.result as { warnings: object[] }).warnings).toContainEqual(found);
  });

  it.each([false, true])(
    'name the line of a card that a dry run does not create: atomic %j',
    async (atomic) => {
      await imports.run([app(`Tide Table ${atomic}`, { external_id: `T-${atomic}` })]);
      const rows = [app(`Tide Tabel ${atomic}`), app(`Ferry Log ${atomic}`), app(`ferry-log ${atomic}`)];
      const { job, report } = await imports.run(rows, { report: 'warnings', dry_run: true, atomic });
      const likely = { code: 'likely_duplicate', confidence: expect.any(Number) };
      const known = { ...likely, card_id: await idOf(`Tide Table ${atomic}`) };
      const found = [known, { ...likely, other_line: 3 }, { ...likely, other_line: 2 }];
      expect((job.result as { warnings: object[] }).warnings).toEqual(
        found.map((warning, at) => ({ line: at + 1, ...warning })),
      );
      expect(report).toMatchObject(found.map((warning) => ({ warnings: [warning] })));
    },
  );

  it('are in a report whose size is that of its text in UTF-8', async () => {
    await imports.run([app('Überführungsbüro')]);
    const { report } = await imports.run([app('Überführungs-Büro')], { report: 'warnings' });
    expect(warnedLines(report)).toEqual({ 1: ['Überführungsbüro'] });
  });

  it.each([1, 101])('are compared with the synonyms of the workspace: %i rows', async (rows) => {
    const change = async (synonyms: string[][] | null) => {
      await changeSetting(await t.ctx(), t.services.secrets, 'matching_vocabulary', { synonyms });
    };
    await imports.run([app(`Bestellwesen Gmunden ${rows}`)]);
    const others = Array.from({ length: rows - 1 }, (_, at) => app(`Zx${at.toString(36)}q${at * 37}`));
    await change([['Order Management', 'Bestellwesen']]);
    const imported = [app(`Order Management Gmunden ${rows}`), ...others];
    const { report } = await imports.run(imported, { report: 'warnings', dry_run: true });
    await change(null);
    expect(warnedLines(report)[1]).toEqual([`Bestellwesen Gmunden ${rows}`]);
    const without = await imports.run(imported, { report: 'warnings', dry_run: true });
    expect(warnedLines(without.report)[1]).toBeUndefined();
  });

  it('are not in the report of failed rows', async () => {
    await imports.run([app('Cash Desk')]);
    const { job, report } = await imports.run([app('Cash-Desk')]);
    expect(job.counts).toMatchObject({ created: 1, warnings: 1 });
    expect(report).toEqual([]);
  });

  it.each([
    ['Graz', { dry_run: true }],
    ['Linz', { atomic: true }],
    ['Wels', { atomic: true, dry_run: true }],
    ['Bonn', {}],
  ])('are warned of the same in every way of writing: %s, %j', async (tag, options) => {
    await imports.run([
      app(`Crane ${tag}`, { external_id: `${tag}-1` }),
      app(`Garage ${tag}`, { external_id: `${tag}-2` }),
      app(`Depot ${tag}`),
    ]);
    const rows = [
      app(`Lift ${tag}`, { external_id: `${tag}-1` }),
      app(`Crane-${tag}`),
      app(`Depto ${tag}`),
      app(`Yard Planner ${tag}`),
      app(`Yard Planer ${tag}`, { external_id: `${tag}-2` }),
    ];
    const { job, report } = await imports.run(rows, { mode: 'upsert', report: 'all', ...options });
    expect(job.counts).toMatchObject({ created: 3, updated: 2, warnings: 3 });
    const warned = warnedLines(report);
    expect(warned).toEqual({ 3: [`Depot ${tag}`], 4: [`Yard Planer ${tag}`], 5: [`Yard Planner ${tag}`] });
    const isStored = () => db('import_warnings').where({ job_id: job.id }).first('line');
    await until('the deletion of staged rows', async () => !(await isStored()));
  });

  it('are compared with all cards where there are many', async () => {
    const numbered = (of: string, count: number) =>
      Array.from({ length: count }, (_, n) =>
        app(`${of} ${String.fromCharCode(97 + (n % 26), 97 + Math.floor(n / 26))}x`),
      );
    await imports.run(numbered('Weigh Bridge', 130));
    const { job, report } = await imports.run(numbered('weigh-bridge', 130), { report: 'warnings' });
    expect(job.counts).toMatchObject({ created: 130, failed: 0, warnings: 130 });
    expect(warnedLines(report)[1]).toContain('Weigh Bridge aax');
  });

  it('are written if they cannot be checked', async () => {
    await db.raw('alter table duplicate_states rename to hidden_states');
    const { job } = await imports.run([app('Dock Scheduler'), app('Dock-Scheduler')]);
    await db.raw('alter table hidden_states rename to duplicate_states');
    expect(job).toMatchObject({ status: 'succeeded', counts: { created: 2, failed: 0 } });
    expect(job.counts).not.toHaveProperty('warnings');
  });

  it('are not checked for callers who do not see cards', async () => {
    const permissions: AppPermission[] = ['inventory.create', 'inventory.edit'];
    const granted = JSON.stringify(Object.fromEntries(permissions.map((key) => [key, true])));
    await db('roles').insert({ key: 'typist', label: 'Typist', permissions: granted });
    const [user] = await db('users')
      .insert({ email: 'typist@estate.example', display_name: 'Typist', role: 'typist' })
      .returning('id');
    const { caller } = await t.ctx();
    const typist = { ...caller, userId: user.id, role: 'typist', permissions: new Set(permissions) };
    await imports.run([app('Berth Planner')]);
    const { job } = await imports.run([app('Berth-Planner')], {}, await t.ctx(typist));
    expect(job.counts).toEqual({ total: 1, created: 1, updated: 0, unchanged: 0, failed: 0 });
  });
});
