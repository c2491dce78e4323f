import { readImportRows } from '../../../../domain/exchange/imports/imports.rows.ts';
import type { AppPermission } from '../../../../domain/kernel/permissions/permissions.data.ts';
import { openImports } from '../../../support/imports.ts';

const { t, db, imports } = await openImports();
await t.services.db.raw(`
     with g as (insert into tag_groups (name, mandatory) values ('Group', false) returning id)
     insert into tags (tag_group_id, name) select id, unnest(array['One', 'Two']) from g;
     select record_events('[]', '{metamodel}')`);

type Row = { line: number; outcome: string; changes?: Record<string, { old: unknown; new: unknown }> };
const rowsOf = (report: object[]) => report as Row[];
const card = (external_id: string, more: object = {}) => ({ type: 'Application', external_id, ...more });

describe('a report with changes', () => {
  it('has the old and new value of each field, also of a dry run', async () => {
    await imports.run([
      card('C-1', {
        name: 'Payroll',
        description: 'Old',
        attributes: { businessCriticality: 'administrativeService' },
      }),
      card('C-2', { name: 'Planner' }),
    ]);
    const rows = [
      card('C-1', {
        name: 'Payroll',
        description: 'New',
        attributes: { businessCriticality: 'missionCritical' },
        tags: ['Group/One'],
        lifecycle: { active: '2020-01-01' },
      }),
      card('C-2', { name: 'Planner' }),
      card('C-3', { name: 'Ledger' }),
      card('C-4', { name: 'Broken', attributes: { businessCriticality: 'administrativServices' } }),
    ];
    const dry = await imports.run(rows, { mode: 'upsert', report: 'changes', dry_run: true });
    expect(rowsOf(dry.report).map(({ line, outcome }) => [line, outcome])).toEqual([
      [1, 'updated'],
      [3, 'created'],
      [4, 'failed'],
    ]);
    expect(rowsOf(dry.report)[0]!.changes).toMatchObject({
      description: { old: 'Old', new: 'New' },
      'attributes.businessCriticality': { old: 'administrativeService', new: 'missionCritical' },
      'lifecycle.active': { old: null, new: '2020-01-01' },
      tags: { old: [], new: ['Group/One'] },
    });
    expect(rowsOf(dry.report)[0]!.changes).not.toHaveProperty('name');
    expect(rowsOf(dry.report)[1]!.changes).toMatchObject({ name: { old: null, new: 'Ledger' } });
    expect(rowsOf(dry.report)[2]).toMatchObject({
      errors: [{ nearest: 'administrativeService', value: 'administrativServices' }],
    });
    const real = await imports.run(rows, { mode: 'upsert', report: 'changes' });
    expect(real.report).toEqual(dry.report);
  });

  it('has those of relations and costs', async () => {
    await imports.run([
      card('E-1', { name: 'End' }),
      { type: 'ITComponent', external_id: 'E-2', name: 'Server' },
    ]);
    const relation = { type: 'relAppToITC', source_external_id: 'E-1', target_external_id: 'E-2' };
    const asked = { kind: 'relations', mode: 'upsert', report: 'changes' } as const;
    await imports.run([{ ...relation, description: 'a' }], asked);
    const { report } = await imports.run([{ ...relation, description: 'b' }], asked);
    expect(rowsOf(report)[0]!.changes).toEqual({ description: { old: 'a', new: 'b' } });

    const cost = { card_external_id: 'E-1', external_id: 'K-1', kind: 'infrastructure' };
    const period = { period_start: '2026-01-01', period_end: '2026-12-31' };
    await imports.run([{ ...cost, ...period, amount: 10 }], { kind: 'costs', mode: 'upsert' });
    const changed = await imports.run([{ ...cost, ...period, amount: 12 }], { ...asked, kind: 'costs' });
    expect(rowsOf(changed.report)[0]!.changes).toEqual({ amount: { old: 10, new: 12 } });
    const file = await db('files').where({ id: changed.job.result_file_id }).first();
    expect(file).toMatchObject({ with_costs: true, needs: ['inventory.view'] });
  });

  it('shows no costs to importers who may not see them, and needs the right to read what it shows', async () => {
    const permissions: AppPermission[] = ['inventory.view', 'inventory.create', 'inventory.edit'];
    await db('roles').insert({
      key: 'clerk',
      label: 'Clerk',
      permissions: JSON.stringify(Object.fromEntries(permissions.map((key) => [key, true]))),
    });
    const person = { email: 'clerk@estate.example', display_name: 'Clerk', role: 'clerk' };
    const [user] = await db('users').insert(person).returning('id');
    const all = await t.ctx();
    const caller = { ...all.caller, userId: user.id, role: 'clerk', permissions: new Set(permissions) };
    const ctx = { ...all, caller };
    await imports.run([card('H-1', { name: 'Hidden', attributes: { costTotalAnnual: 5 } })]);
    const rows = [card('H-1', { description: 'x' })];
    const { job, report } = await imports.run(rows, { mode: 'upsert', report: 'changes' }, ctx);
    expect(rowsOf(report)[0]!.changes).toMatchObject({ description: { old: null, new: 'x' } });
    expect(await db('files').where({ id: job.result_file_id }).first()).toMatchObject({ with_costs: false });
    const blind = { ...ctx, caller: { ...caller, permissions: new Set(permissions.slice(1)) } };
    await expect(imports.run(rows, { mode: 'upsert', report: 'changes' }, blind)).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('is read by page, all rows or those of one outcome', async () => {
    const many = Array.from({ length: 7 }, (_, n) =>
      card(`P-${n}`, { name: `Page ${n}`, ...(n % 2 === 1 && { attributes: { nope: 1 } }) }),
    );
    const ctx = await t.ctx();
    const { job } = await imports.run(many, { report: 'all' }, ctx);
    const read = async (page: { outcome?: 'failed'; cursor?: string }) =>
      JSON.parse(await readImportRows(ctx, t.services.blobs, job.id, { ...page, page_size: 3 })) as {
        items: Row[];
        next_cursor: string | null;
      };
    const all: number[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await read(cursor ? { cursor } : {});
      expect(page.items.length).toBeLessThanOrEqual(3);
      all.push(...page.items.map(({ line }) => line));
      cursor = page.next_cursor;
    }
    expect(all).toEqual([1, 2, 3, 4, 5, 6, 7]);
    const failed = await read({ outcome: 'failed' });
    expect(failed.items.map(({ line }) => line)).toEqual([2, 4, 6]);
    for (const cursor of ['5', '-1', 'x', '99999999']) {
      await expect(read({ cursor })).rejects.toMatchObject({ errors: [{ code: 'bad_cursor' }] });
    }
  });
});

describe('errors of rows', () => {
  it('name the value, the allowed ones and the nearest', async () => {
    await imports.run([card('APP-00042', { name: 'Known' })]);
    const { report } = await imports.run([
      card('N-1', { name: 'One', parent_external_id: 'APP-0042' }),
      card('N-2', { name: 'Two', tags: ['Group/Onee'] }),
      card('N-3', { name: 'Three', attributes: { busnessCriticality: 'x' } }),
      card('N-4', { name: 'Four', stakeholders: ['responsable:nobody@estate.example'] }),
      card('N-5', { name: 'Five', stakeholders: ['responsible:nobody@estate.example'] }),
      card('N-6', { name: 'Six', lifecycle: { activ: '2020-01-01' } }),
      { ...card('N-7', { name: 'Seven' }), descripton: 'x' },
    ]);
    const errors = report.flatMap((line) => line.errors as { nearest?: string; value?: string }[]);
    expect(errors.map(({ value, nearest }) => [value, nearest])).toEqual([
      ['APP-0042', 'APP-00042'],
      ['Group/Onee', 'Group/One'],
      ['busnessCriticality', 'businessCriticality'],
      ['responsable', 'responsible'],
      ['nobody@estate.example', undefined],
      ['activ', 'active'],
      ['descripton', 'description'],
    ]);
  });
});
