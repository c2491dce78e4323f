import { afterAll, describe, expect, it } from 'vitest';
import { ok, pluck } from '../../support/harness.ts';
import { actionsOf, createMigrationWorld, records, settled, staged, url } from './migration.fixture.ts';

const { t, admin, close } = await createMigrationWorld();
await t.services.db('tag_groups').insert({ name: 'Region' });

afterAll(() => close());

const sheet = { source_key: 'sheet', fileName: 'Applications.csv' };
const save = async (id: string, columns: Record<string, string>) => {
  await ok(
    admin.put(`${url}/${id}/field-mappings`, {
      field_mappings: { Applications: columns },
    }),
  );
  return await settled(t.services, admin, id);
};

describe('a status that nobody has mapped', () => {
  it('leaves no row out unless it says archived, and is asked about', async () => {
    const made = await staged(
      t.services,
      admin,
      'id,name,Status\nS-1,One,ACTIVE\nS-2,Two,INACTIVE\nS-3,Three,Deleted\nS-4,Four,Archived\n',
      sheet,
    );
    expect(made.stats).toMatchObject({ records: { card: { create: 3, skip: 1 } }, rows_archived: 1 });
    expect(await actionsOf(admin, made.id)).toMatchObject({ Two: 'create', Three: 'create' });
    expect(await actionsOf(admin, made.id, 'metamodel_field')).toEqual({
      Status: 'conflict: 2 values left out: ambiguous status',
    });
    const two = (await records(admin, made.id)).find(({ source_id }) => source_id === 'S-2');
    expect(two.left_out).toEqual([
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
});

describe('tags', () => {
  it('are not taken apart at a slash unless there is such a group', async () => {
    const made = await staged(
      t.services,
      admin,
      'id,name,tags\nT-1,Host,AS/400;Region/North;TCP/IP\nT-2,Web,Tier: Gold\n',
      sheet,
    );
    const shown = (await records(admin, made.id, 'card_tag')).map(({ source_id }) => source_id);
    expect(shown.sort()).toEqual([
      'T-1:Other tags/AS/400',
      'T-1:Other tags/TCP/IP',
      'T-1:Region/North',
      'T-2:Tier/Gold',
    ]);
  });

  it('of a column go to the group that its target names', async () => {
    const made = await staged(
      t.services,
      admin,
      'id,name,Area,Platform\nU-1,Host,North;EU/West,AS/400\n',
      sheet,
    );
    const { body } = await admin.get(`${url}/${made.id}/field-mappings`);
    expect(body.blocks[0].available_targets).toContainEqual(
      expect.objectContaining({ key: 'tags:Region', type: 'tags' }),
    );
    await save(made.id, { Area: 'tags:Region', Platform: 'tags:Hardware' });
    const shown = (await records(admin, made.id, 'card_tag')).map(({ source_id }) => source_id);
    expect(shown.sort()).toEqual(['U-1:Hardware/AS/400', 'U-1:Region/EU/West', 'U-1:Region/North']);
    expect(await actionsOf(admin, made.id, 'tag_group')).toEqual({ Hardware: 'create' });
    const fields = (await admin.get(`${url}/${made.id}/field-mappings`)).body.blocks[0].source_fields;
    expect(fields).toContainEqual(
      expect.objectContaining({
        source_field_key: 'Platform',
        mapped_to: 'tags:Hardware',
        field_type: 'tags',
      }),
    );
    const bad = await admin.put(`${url}/${made.id}/field-mappings`, {
      field_mappings: { Applications: { Area: 'tags: ', Platform: `tags:${'x'.repeat(201)}` } },
    });
    expect(bad.status).toBe(422);
    expect(pluck(bad.body.errors, 'code')).toEqual(['unknown_target', 'unknown_target']);
  });
});
