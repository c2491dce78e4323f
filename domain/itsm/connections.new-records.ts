import Type, { type Static } from 'typebox';
import type { FieldError } from '../../platform/errors.ts';

const closed = { additionalProperties: false } as const;
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
  ],
  { description: 'By which way new records go in; null: their table' },
);
export type NewRecords = Static<typeof NewRecords>;

/** What is wrong with the names of tables. */
export function newRecordsFaults(newRecords: NewRecords): FieldError[] {
  if (newRecords.through !== 'import_set') return [];
  return Object.keys(newRecords.staging_tables)
    .filter((table) => !new RegExp(TABLE).test(table))
    .map((table) => ({
      field: `new_records.staging_tables.${table}`,
      code: 'bad_value',
      message: 'is no name of a table',
    }));
}
