import { expect, it } from 'vitest';
import { readShapes } from '../../../../domain/app/workspace/transfer.stage.ts';
import { contentTable, contentTables, leftOut } from '../../../../domain/app/workspace/workspace.tables.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const t = closeAfterAll(await createTestServices());

it('knows of every table whether it goes with the workspace, and why not', async () => {
  const { rows } = await t.services.db.raw(
    `select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace order by 1`,
  );
  const known = [...contentTable.keys(), ...Object.keys(leftOut), 'users', 'settings'];
  expect(known.toSorted()).toEqual(rows.map(({ name }: { name: string }) => name));
});

it('writes every table behind those that it refers to, and every column that it does not leave behind', async () => {
  const shapes = await readShapes(t.services.db, contentTables);
  const place = new Map(contentTables.map(({ table }, at) => [table, at]));
  const early = contentTables.flatMap(({ table }, at) =>
    shapes
      .get(table)!
      .references.filter(({ table: other }) => other !== table && (place.get(other) ?? -1) > at)
      .map(({ column }) => `${table}.${column}`),
  );
  expect(early).toEqual([]);
  for (const { table, key, omitted = [], card, recipient, costs = [] } of contentTables) {
    const { columns, types } = shapes.get(table)!;
    expect(Object.keys(types), table).toEqual(
      expect.arrayContaining([
        ...key,
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
