// @redis

/** Imports without the right. */

import type { Caller, Ctx } from '../../../../domain/kernel/context.ts';
import type { AppPermission } from '../../../../domain/kernel/permissions/permissions.data.ts';
import { askImport, openImports } from '../../../support/imports.ts';
import { untilStatus } from '../../../support/jobs.ts';

const permissions: AppPermission[] = [
  'inventory.view',
  'inventory.create',
  'inventory.edit',
  'relations.manage',
];

const { t, imports, db } = await openImports();
await db('roles').insert({
  key: 'clerk',
  label: 'Clerk',
  permissions: JSON.stringify(Object.fromEntries(permissions.map((key) => [key, true]))),
});
const [user] = await db('users')
  .insert({ email: 'clerk@estate.example', display_name: 'Clerk', role: 'clerk' })
  .returning('id');
const caller: Caller = {
  userId: user.id,
  email: 'clerk@estate.example',
  displayName: 'Clerk',
  role: 'clerk',
  permissions: new Set(permissions),
  tokenId: null,
  tokenExpiresAt: null,
};
const clerk = await t.ctx(caller);
await imports.run([
  { type: 'Application', external_id: '1', name: '1', attributes: { costTotalAnnual: 5 } },
  {
    type: 'Application',
    external_id: '2',
    name: '2',
    attributes: { costTotalAnnual: 5 },
    stakeholders: ['responsible:clerk@estate.example'],
  },
  { type: 'ITComponent', external_id: '1', name: '1' },
]);

const app = (external_id: string, more: object) => ({
  type: 'Application',
  external_id,
  name: external_id,
  ...more,
});

it('costs, archiving, approval and stakeholders are refused row by row, naming the permission', async () => {
  const { faults, report } = await imports.run(
    [
      app('3', { attributes: { costTotalAnnual: 1 } }),
      app('4', { status: 'ARCHIVED' }),
      app('5', { approval_status: 'APPROVED' }),
      app('6', { stakeholders: ['responsible:clerk@estate.example'] }),
      app('7', { approval_status: 'DRAFT', status: 'ACTIVE', stakeholders: [] }),
      app('1', { attributes: { costTotalAnnual: 5 } }),
      app('2', { attributes: { costTotalAnnual: 6 } }),
    ],
    { mode: 'upsert' },
    clerk,
  );
  expect(faults).toEqual({
    1: ['attributes.costTotalAnnual forbidden'],
    2: ['status forbidden'],
    3: ['approval_status forbidden'],
    4: ['stakeholders forbidden'],
    6: ['attributes.costTotalAnnual forbidden'],
  });
  expect(report.map(({ errors }) => errors[0]!.message)).toEqual([
    'needs the permission costs.view',
    'needs the permission inventory.archive',
    'needs the permission inventory.approval_status',
    'needs the permission stakeholders.manage',
    'needs the permission costs.view',
  ]);
  // a stakeholder sees and sets the costs of the own card
  expect((await imports.card('2')).attributes).toMatchObject({ costTotalAnnual: 6 });
  const relations = await imports.run(
    [
      {
        type: 'relAppToITC',
        source_external_id: '1',
        target_external_id: '1',
        attributes: { costTotalAnnual: 1 },
      },
    ],
    { kind: 'relations' },
    clerk,
  );
  expect(relations.faults).toEqual({ 1: ['attributes.costTotalAnnual forbidden'] });
});

it('roles on cards, which show their costs, are not given', async () => {
  await t.services
    .db('roles')
    .where({ key: 'clerk' })
    .update(
      'permissions',
      JSON.stringify(Object.fromEntries([...permissions, 'stakeholders.manage'].map((key) => [key, true]))),
    );
  const keys = new Set([...permissions, 'stakeholders.manage'] as const);
  const keeper: Ctx = { ...clerk, caller: { ...clerk.caller, permissions: keys } };
  const { faults, report } = await imports.run(
    [
      app('8', { stakeholders: ['responsible:clerk@estate.example'] }),
      app('9', { stakeholders: ['observer:clerk@estate.example'] }),
      app('1', { stakeholders: ['responsible:clerk@estate.example'] }),
    ],
    { mode: 'upsert' },
    keeper,
  );
  expect(faults).toEqual({ 1: ['stakeholders forbidden'], 3: ['stakeholders forbidden'] });
  expect(report.map(({ errors }) => errors[0]!.message)).toEqual([
    'needs the permission costs.view',
    'needs the permission costs.view',
  ]);
});

it('cards that the importer does not see are neither parents nor ends of relations', async () => {
  await imports.run([app('above', {}), app('below', { parent_path: ['above'] })]);
  const above = await imports.card('above');
  const keys = new Set<AppPermission>(['inventory.create', 'inventory.edit', 'relations.manage']);
  const blind: Ctx = { ...clerk, caller: { ...clerk.caller, permissions: keys } };
  const parents = [
    { parent_id: above.id },
    { parent_external_id: 'above' },
    { parent_path: ['above'] },
    { parent_path: ['above', 'below'] },
    { parent_path: ['nowhere'] },
  ];
  const { report } = await imports.run(
    parents.map((parent, at) => app(`child ${at}`, parent)),
    {},
    blind,
  );
  expect(report.map(({ errors }) => errors[0]!.code)).toEqual(parents.map(() => 'unknown_parent'));
  const relations = await imports.run(
    [{ type: 'relAppToITC', source_external_id: '1', target_external_id: '1' }],
    { kind: 'relations' },
    blind,
  );
  expect(relations.faults).toEqual({
    1: ['source_external_id unknown_card', 'target_external_id unknown_card'],
  });
});

it('clearing leaves hidden costs as they are', async () => {
  await imports.run([app('1', { attributes: null })], { mode: 'upsert' }, clerk);
  expect((await imports.card('1')).attributes).toEqual({ costTotalAnnual: 5 });
});

it('an import is neither started nor carried out', async () => {
  const viewer: Ctx = { ...clerk, caller: { ...clerk.caller, permissions: new Set(['inventory.create']) } };
  await expect(
    askImport(viewer, t.services, '{}', { format: 'ndjson', mode: 'upsert' }),
  ).rejects.toMatchObject({ code: 'forbidden', extra: { permission: 'inventory.edit' } });
  await expect(
    askImport(viewer, t.services, '{}', { format: 'ndjson', kind: 'relations' }),
  ).rejects.toMatchObject({ extra: { permission: 'relations.manage' } });
  await t.services.db('roles').where({ key: 'clerk' }).update({ permissions: '{}' });
  const id = await askImport(clerk, t.services, '{"type":"Application","name":"x"}', { format: 'ndjson' });
  const { error } = await untilStatus(t.services, id, 'failed');
  expect(error).toEqual({ code: 'forbidden', message: 'You need the permission inventory.create.' });
});
