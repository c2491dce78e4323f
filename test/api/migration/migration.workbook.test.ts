// @redis
import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import { exported } from '../../support/exports.ts';
import { createImporter } from '../../support/imports.ts';
import { openMigrations } from './migration.fixture.ts';

/* Workbooks that this service exports, migrated into an empty workspace. */

const { t, db, admin, staged, applied, records } = await openMigrations();
await db.raw(`with g as (insert into tag_groups (name) values ('A/B; C'), ('Region') returning id, name)
     insert into tags (tag_group_id, name) select id, unnest(array['One; two', 'Nord']) from g`);
await db.raw(`update card_types set allow_same_name = true where key = 'ITComponent'`);
await db.raw(`select raise_topics(array['metamodel'])`);

const ctx = await t.ctx();
const imports = createImporter(t.services, ctx);
const email = (await admin.get('/api/v1/auth/me')).body.email as string;
const cap = (name: string, parent_path?: string[], more: object = {}) => ({
  ...{ type: 'BusinessCapability', name, ...(parent_path && { parent_path }) },
  ...more,
});
const filled = await imports.run([
  cap('A / B', undefined, { external_id: 'C-1', attributes: { capabilityLevel: 'Macro' } }),
  cap('Below; it', ['A / B']),
  cap('Deeper', ['A / B', 'Below; it'], { external_id: 'C-3' }),
  cap('Archived', undefined, { status: 'ARCHIVED' }),
  {
    ...{ type: 'Application', external_id: 'A-1', name: 'Größe', subtype: 'microservice', alias: "'=1" },
    description: 'two\nlines ',
    lifecycle: { plan: '1850-02-28', active: '2020-02-29' },
    attributes: {
      businessCriticality: 'missionCritical',
      costTotalAnnual: -0.1,
      commercialApplication: false,
    },
    tags: ['A\\/B; C/One; two', 'Region/Nord'],
    stakeholders: [`responsible:${email}`],
    approval_status: 'APPROVED',
  },
  { type: 'Application', name: 'Keyless', attributes: { commercialApplication: true } },
  { type: 'Application', name: 'Child', parent_path: ['Keyless'] },
  { type: 'Initiative', name: 'Move', attributes: { initiativeStatus: 'onTrack' } },
  ...['1', '2'].map((external_id) => ({ type: 'ITComponent', external_id, name: 'Server' })),
]);
expect(filled.faults).toEqual({});
const idOf = async (name: string) => (await db('cards').where({ name }).first('id')).id as string;
const related = await imports.run(
  [
    { source_id: await idOf('Keyless'), target_external_id: '2', attributes: { costTotalAnnual: 7 } },
    { source_external_id: 'A-1', target_external_id: '1', description: '@one; two' },
  ].map((row) => ({ type: 'relAppToITC', ...row })),
  { kind: 'relations' },
);
expect(related.faults).toEqual({});

/** Everything but ids, numbers and times. */
async function contents() {
  const cards = await db.raw(`with recursive p as (
      select id, array[name] as path from cards where parent_id is null
      union all select c.id, p.path || c.name from p join cards c on c.parent_id = p.id)
    select c.type, p.path, c.external_id, c.subtype, c.alias, c.description, c.status, c.approval_status, c.lifecycle, c.attributes,
      c.data_quality::float8 as quality,
      (select array_agg(g.name || ' > ' || t.name order by t.name) from card_tags k join tags t on t.id = k.tag_id
        join tag_groups g on g.id = t.tag_group_id where k.card_id = c.id) as tags,
      (select array_agg(role order by role) from stakeholders s where s.card_id = c.id) as roles
    from cards c join p on p.id = c.id order by c.type, p.path, c.external_id`);
  const relations =
    await db.raw(`select r.type, s.name as source, e.name as target, e.external_id, r.description, r.attributes
    from relations r join cards s on s.id = r.source_id join cards e on e.id = r.target_id order by 2, 3, 4`);
  return { cards: cards.rows, relations: relations.rows };
}
const before = await contents();

const layout = 'sheet_per_type';
describe('a workbook of an export', () => {
  it.each<[string, Partial<ExportRequest>]>([
    ['in one sheet', { profile: 'roundtrip', include: ['relations', 'hierarchy'] }],
    ['in one sheet to read', { include: ['relations', 'hierarchy'] }],
    ['with a sheet per type and keys', { layout }],
    ['with a sheet per type and labels', { layout, headers: 'labels', language: 'en' }],
    ['with a sheet per type and German labels', { layout, headers: 'labels', language: 'de' }],
  ])('%s makes the same cards, hierarchy, relations and tags in an empty workspace', async (_, asked) => {
    const { content } = await exported(t, ctx, { format: 'xlsx', ...asked });
    await db('relations').delete();
    await db('cards').delete();
    await db('tag_groups').delete();
    const migration = await staged(content, {
      ...{ source_key: 'sheet', fileName: 'ours.xlsx', include_archived: 'true' },
    });
    const conflicts = [];
    for (const kind of ['metamodel_type', 'card', 'relation', 'card_tag', 'subscription']) {
      conflicts.push(
        ...(await records(migration.id, kind, '&action=conflict')).map((one) => [
          kind,
          one.display_name,
          one.error_message,
        ]),
      );
    }
    expect(conflicts).toEqual([]);
    await applied(migration.id);
    expect(await contents()).toEqual(before);
  });
});
