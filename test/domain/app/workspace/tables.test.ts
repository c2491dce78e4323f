import { readShapes, stagedRows } from '../../../../domain/app/workspace/transfer.stage.ts';
import { contentTable, contentTables, leftOut } from '../../../../domain/app/workspace/workspace.tables.ts';
import { query } from '../../../../platform/database.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const { db } = closeAfterAll(await createTestServices()).services;

it('knows of every table whether it goes with the workspace, and why not', async () => {
  const { rows } = await db.raw(`select relname as name from pg_class where relkind in ('r', 'p')
      and relnamespace = 'public'::regnamespace order by 1`);
  const known = [...contentTable.keys(), ...Object.keys(leftOut), 'users', 'settings'];
  expect(known.toSorted()).toEqual(rows.map(({ name }: { name: string }) => name));
});

it('writes every table behind those that it refers to, and every column that it does not leave behind', async () => {
  const shapes = await readShapes(db, contentTables);
  const place = new Map(contentTables.map(({ table }, at) => [table, at]));
  const early = contentTables.flatMap(({ table }, at) =>
    shapes
      .get(table)!
      .references.filter(({ table: other }) => other !== table && (place.get(other) ?? -1) > at)
      .map(({ column }) => `${table}.${column}`),
  );
  expect(early).toEqual([]);
  for (const { table, key, omitted = [], derived = [], card, recipient, costs = [] } of contentTables) {
    const { columns, types } = shapes.get(table)!;
    expect(Object.keys(types), table).toEqual(
      expect.arrayContaining([
        ...key,
        ...derived,
        ...omitted,
        ...costs,
        ...(card ? [card] : []),
        ...(recipient ? [recipient] : []),
      ]),
    );
    expect(columns, table).toEqual(Object.keys(types).filter((column) => !omitted.includes(column)));
    expect(columns, table).toEqual(expect.arrayContaining([...key]));
  }
});

it('reads the JSON of a staged row once, however many of its columns are used', async () => {
  const plan = await query(db).column<string>`explain (verbose) select (s.n).id, (s.n).name, (s.n).type
     from ${stagedRows('cards', '00000000-0000-4000-8000-000000000001')} s where (s.n).parent_id is null`;
  expect(plan.join('\n').match(/jsonb_populate_record/g)).toHaveLength(1);
});
