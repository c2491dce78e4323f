import { resources } from '../../../domain/app/resources.ts';
import { query } from '../../../platform/database.ts';
import { closeAfterAll, createTestServices, pluck } from '../../support/harness.ts';

const t = closeAfterAll(await createTestServices());

it('declares every column of each table as the database has it', async () => {
  for (const { model } of resources) {
    const rows = await query(t.services.db).rows`
       select attname as name, attnotnull as filled, format_type(atttypid, atttypmod) as type
       from pg_attribute where attrelid = ${model.tableName}::regclass and attnum > 0 and not attisdropped
         and attgenerated = ''`;
    expect(Object.keys(model.columns).toSorted(), model.tableName).toEqual(pluck(rows, 'name').toSorted());
    for (const { name, filled, type } of rows) {
      const at = `${model.tableName}.${name}`;
      const schema = model.columns[name]! as { anyOf?: { type?: string }[] };
      expect(schema.anyOf?.some((part) => part.type === 'null') ?? false, at).toBe(!filled);
      expect(model.jsonAttributes.includes(name), at).toBe(type === 'jsonb');
    }
  }
});

it('declares each table once, and each event type of a table for one resource', () => {
  const tables = resources.map(({ model }) => model.tableName);
  expect(tables).toEqual([...new Set(tables)]);
  const types = resources.flatMap(({ events }) =>
    [events.created, events.updated, events.deleted].flatMap((list) => list ?? []),
  );
  expect(types).toEqual([...new Set(types)]);
});
