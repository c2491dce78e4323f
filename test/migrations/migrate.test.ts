import { prepareDatabase } from '../../migrations/prepare.ts';
import { schemaSteps } from '../../migrations/steps.ts';
import { type Db, openDatabase } from '../../platform/database.ts';
import { migrate, type SchemaStep } from '../../platform/migrate.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Db;
beforeEach(async () => {
  database = await createEmptyDatabase();
  db = openDatabase({ url: database.url, name: 'test', poolMax: 2 });
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

const step = (name: string, sql: string): SchemaStep => ({ name, up: (knex) => knex.raw(sql) });
const first = step('0001-first', 'create table numbers (n integer)');
const second = step('0002-second', 'insert into numbers values (2)');

const applied = async () => await db('schema_steps').orderBy('name').pluck('name');

it('creates the schema and the contents of an empty workspace, and nothing when called again', async () => {
  expect(await prepareDatabase(db)).toEqual(schemaSteps.map(({ name }) => name));
  expect(await db('roles').pluck('key')).toContain('admin');
  const cardTypes = await db('card_types').orderBy('key');
  expect(await prepareDatabase(db)).toEqual([]);
  expect(await db('card_types').orderBy('key')).toEqual(cardTypes);
});

it('names steps in the order in which they are applied', () => {
  const names = schemaSteps.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)].sort());
});

it('applies only the steps that the database has not seen', async () => {
  expect(await migrate(db, [first])).toEqual(['0001-first']);
  expect(await migrate(db, [first, second])).toEqual(['0002-second']);
  expect(await migrate(db, [first, second])).toEqual([]);
  expect(await db('numbers').pluck('n')).toEqual([2]);
});

it('rolls a step that fails back as a whole, and keeps those before it', async () => {
  const failing = step('0002-second', 'insert into numbers values (2); select 1 / 0');
  await expect(migrate(db, [first, failing])).rejects.toThrow('division by zero');
  expect(await applied()).toEqual(['0001-first']);
  expect(await db('numbers').pluck('n')).toEqual([]);
});

it('refuses a database of a newer version', async () => {
  await migrate(db, [first, second]);
  await expect(migrate(db, [first])).rejects.toThrow(
    'The database was migrated by a newer version (0002-second): start that version or a later one.',
  );
});

it('refuses a database from before the first release', async () => {
  await migrate(db, [step('0001-foundation', 'select 1'), step('0002-access', 'select 1')]);
  await expect(prepareDatabase(db)).rejects.toThrow(
    'The database was created by a version before the first release and cannot be upgraded: use an empty database.',
  );
  expect(await applied()).toEqual(['0001-foundation', '0002-access']);
});
