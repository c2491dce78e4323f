// @redis
import type { ExportRequest } from '../../../../domain/exchange/exports/export.job.ts';
import { exported as exportedBy } from '../../../support/exports.ts';
import { openImports } from '../../../support/imports.ts';

const { t, imports } = await openImports();
await t.services.db.raw(`with g as (insert into tag_groups (name) values ('A/B; C') returning id)
     insert into tags (tag_group_id, name) select id, unnest(array['One; two', '=Three', 'Four\\']) from g;
     insert into users (email, display_name, role) values ('ann@estate.example', 'Ann', 'member')`);
const app = (external_id: string | null, name: string, more: object = {}) => ({
  type: 'Application',
  ...(external_id === null ? {} : { external_id }),
  name,
  ...more,
});
const cards = await imports.run([
  { type: 'BusinessCapability', external_id: 'C-1', name: 'A / B', attributes: { capabilityLevel: 'Macro' } },
  { type: 'BusinessCapability', external_id: 'C-2', name: 'C \\', parent_external_id: 'C-1' },
  { type: 'BusinessCapability', name: 'Keyless', parent_path: ['A / B', 'C \\'] },
  app('1', '=SUM(A1)', { description: '\'+1\r\nsecond line\n\t"quoted"', alias: '-' }),
  app('2', "'=guarded", {
    subtype: 'microservice',
    lifecycle: { plan: '2020-02-29', endOfLife: '2031-12-31' },
  }),
  app('3', '漢字, Größe; العربية', {
    attributes: {
      businessCriticality: 'missionCritical',
      costTotalAnnual: -0.1,
      commercialApplication: false,
    },
    tags: ['A\\/B; C/One; two', 'A\\/B; C/=Three', 'A\\/B; C/Four\\\\'],
    stakeholders: ['responsible:ann@estate.example', 'observer:ann@estate.example'],
    approval_status: 'APPROVED',
  }),
  app('4', 'archived', { status: 'ARCHIVED' }),
  app(null, 'no key'),
  { type: 'ITComponent', external_id: '1', name: 'Component' },
]);
expect(cards.faults).toEqual({});
await imports.run(
  ['1', '3'].map((source_external_id) => ({
    type: 'relAppToITC',
    source_external_id,
    target_external_id: '1',
    description: '@relation; one',
    attributes: { costTotalAnnual: 7 },
  })),
  { kind: 'relations' },
);

const exportedBytes = async (more: Partial<ExportRequest>): Promise<Buffer> =>
  (await exportedBy(t, await t.ctx(), { profile: 'roundtrip', ...more })).content;
const exported = async (more: Partial<ExportRequest>): Promise<string> => String(await exportedBytes(more));

for (const format of ['csv', 'ndjson'] as const) {
  it(`comes back as ${format} and changes nothing`, async () => {
    for (const kind of ['cards', 'relations'] as const) {
      for (const empty of ['leave', 'clear'] as const) {
        const file = await exported({ format, kind });
        const { job, faults } = await imports.run(file, { format, kind, empty, mode: 'upsert' });
        expect(faults).toEqual({});
        expect(job.counts).toEqual({
          total: kind === 'cards' ? 9 : 2,
          created: 0,
          updated: 0,
          unchanged: kind === 'cards' ? 9 : 2,
          failed: 0,
        });
      }
    }
  });
}

it('comes back with one cell changed, and changes that', async () => {
  const file = (await exported({})).replace(',Component,', ',Renamed,');
  const { job } = await imports.run(file, { mode: 'upsert' });
  expect(job.counts).toMatchObject({ updated: 1, unchanged: 8, failed: 0 });
  expect((await imports.events()).map(({ data }) => data.changes)).toEqual([
    { name: { old: 'Component', new: 'Renamed' } },
  ]);
});

it('comes back as a workbook of cards and relations and changes nothing', async () => {
  const file = await exportedBytes({ format: 'xlsx', include: ['relations', 'hierarchy'] });
  for (const [kind, unchanged] of [
    ['cards', 9],
    ['relations', 2],
  ] as const) {
    for (const empty of ['leave', 'clear'] as const) {
      const { job, faults } = await imports.file(file, { format: 'xlsx', kind, empty, mode: 'upsert' });
      expect(faults).toEqual({});
      expect(job.counts).toEqual({ total: unchanged, created: 0, updated: 0, unchanged, failed: 0 });
    }
  }
});
