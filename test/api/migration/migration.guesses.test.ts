import { pluck } from '../../support/harness.ts';
import { openMigrations, url } from './migration.fixture.ts';

const { t, admin, actions, mapped, records, staged } = await openMigrations();
await t.services.db('tag_groups').insert({ name: 'Region' });

const sheet = { source_key: 'sheet', fileName: 'Applications.csv' };
const save = (id: string, columns: Record<string, string>) => mapped(id, { Applications: columns });

it('an unmapped status leaves no row out unless it says archived, and is asked about', async () => {
  const made = await staged(
    'id,name,Status\nS-1,One,ACTIVE\nS-2,Two,INACTIVE\nS-3,Three,Deleted\nS-4,Four,Archived\n',
    sheet,
  );
  expect(made.stats).toMatchObject({ records: { card: { create: 3, skip: 1 } }, rows_archived: 1 });
  expect(await actions(made.id)).toMatchObject({ Two: 'create', Three: 'create' });
  expect(await actions(made.id, 'metamodel_field')).toEqual({
    Status: 'conflict: 2 values left out: ambiguous status',
  });
  expect((await records(made.id)).find(({ source_id }) => source_id === 'S-2').left_out).toEqual([
    {
      field: 'Status',
      code: 'ambiguous_status',
      message: expect.stringContaining('map the column to status'),
    },
  ]);
  // whoever maps the column says that it means archived
  const asked = await save(made.id, { Status: 'status' });
  expect(asked.stats).toMatchObject({ records: { card: { create: 1, skip: 3 } }, rows_archived: 3 });
  const leftOut = await save(made.id, { Status: '' });
  expect(leftOut.stats).toMatchObject({ records: { card: { create: 4 } }, rows_archived: 0 });
});

it('tags are not taken apart at a slash unless there is such a group', async () => {
  const made = await staged('id,name,tags\nT-1,Host,AS/400;Region/North;TCP/IP\nT-2,Web,Tier: Gold\n', sheet);
  expect((await records(made.id, 'card_tag')).map(({ source_id }) => source_id).sort()).toEqual([
    'T-1:Other tags/AS/400',
    'T-1:Other tags/TCP/IP',
    'T-1:Region/North',
    'T-2:Tier/Gold',
  ]);
});

it('tags of a column go to the group that its target names', async () => {
  const made = await staged('id,name,Area,Platform\nU-1,Host,North;EU/West,AS/400\n', sheet);
  const { body } = await admin.get(`${url}/${made.id}/field-mappings`);
  expect(body.blocks[0].available_targets).toContainEqual(
    expect.objectContaining({ key: 'tags:Region', type: 'tags' }),
  );
  await save(made.id, { Area: 'tags:Region', Platform: 'tags:Hardware' });
  const shown = (await records(made.id, 'card_tag')).map(({ source_id }) => source_id);
  expect(shown.sort()).toEqual(['U-1:Hardware/AS/400', 'U-1:Region/EU/West', 'U-1:Region/North']);
  expect(await actions(made.id, 'tag_group')).toEqual({ Hardware: 'create' });
  expect((await admin.get(`${url}/${made.id}/field-mappings`)).body.blocks[0].source_fields).toContainEqual(
    expect.objectContaining({ source_field_key: 'Platform', mapped_to: 'tags:Hardware', field_type: 'tags' }),
  );
  const bad = await admin.put(`${url}/${made.id}/field-mappings`, {
    field_mappings: { Applications: { Area: 'tags: ', Platform: `tags:${'x'.repeat(201)}` } },
  });
  expect(bad.status).toBe(422);
  expect(pluck(bad.body.errors, 'code')).toEqual(['unknown_target', 'unknown_target']);
});
