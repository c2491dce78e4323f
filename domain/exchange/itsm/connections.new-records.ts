import Type, { type Static } from 'typebox';
import type { FieldError } from '../../../platform/errors.ts';
import { closed } from '../../kernel/shapes.ts';

const KEYS = 10;
const TABLE = '^[A-Za-z][A-Za-z0-9_]{0,79}$';

/** By which way new records go into a remote that has several. */
export const NewRecords = Type.Union(
  [
    Type.Object(
      {
        through: Type.Literal('import_set'),
        staging_tables: Type.Record(
          Type.String({ minLength: 1, maxLength: 80 }),
          Type.String({ pattern: TABLE }),
          {
            minProperties: 1,
            maxProperties: 100,
            description:
              'By table, the staging table whose map makes its records and coalesces on the correlation column; other tables are written directly',
            examples: [{ cmdb_ci_server: 'u_estate_servers' }],
          },
        ),
      },
      closed,
    ),
    Type.Object(
      {
        through: Type.Literal('identification'),
        data_source: Type.String({
          minLength: 1,
          maxLength: 40,
          description: 'A data source that `discovery_source` knows',
        }),
      },
      closed,
    ),
    Type.Object(
      {
        through: Type.Literal('reconciliation'),
        keys: Type.Record(
          Type.String({ minLength: 1, maxLength: 80 }),
          Type.Array(Type.String({ pattern: TABLE }), { minItems: 1, maxItems: KEYS, uniqueItems: true }),
          {
            minProperties: 1,
            maxProperties: 100,
            description:
              'By class, its reconciliation keys: an object that bears the same values is taken for the one to be made; objects of other classes are always made',
            examples: [{ Server: ['name', 'org_id'] }],
          },
        ),
      },
      closed,
    ),
  ],
  { description: 'By which way new records go in; null: their table' },
);
export type NewRecords = Static<typeof NewRecords>;

/** By which ways new records go in; a kind of remote offers some of them. */
export type NewRecordsWay = NewRecords['through'];

/** What is wrong with the way and with the names of tables. */
export function newRecordsFaults(newRecords: NewRecords, offered: readonly NewRecordsWay[]): FieldError[] {
  if (!offered.includes(newRecords.through)) {
    const message = `${newRecords.through} is not offered; ${offered.join(', ')} ${offered.length > 1 ? 'are' : 'is'}`;
    return [{ field: 'new_records.through', code: 'not_offered', message }];
  }
  if (newRecords.through === 'identification') return [];
  const [member, tables] =
    newRecords.through === 'import_set'
      ? (['staging_tables', newRecords.staging_tables] as const)
      : (['keys', newRecords.keys] as const);
  return Object.keys(tables)
    .filter((table) => !new RegExp(TABLE).test(table))
    .map((table) => ({
      field: `new_records.${member}.${table}`,
      code: 'bad_value',
      message: 'is no name of a table',
    }));
}
