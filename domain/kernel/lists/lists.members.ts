import type { TProperties, TSchema } from 'typebox';
import type { SortField } from './lists.types.ts';

/** The alternatives of a column's schema, among them `null` where it may be empty. */
const alternatives = (schema: TSchema): { type?: string; format?: string }[] =>
  'anyOf' in schema ? (schema.anyOf as object[]) : [schema];

/** Whether a column is a timestamp, which answers show in UTC with milliseconds. */
const isTimestamp = (schema: TSchema): boolean =>
  alternatives(schema).some(({ format }) => format === 'date-time');

/** The members of a list that are columns of a model, over the alias of its table. */
export function columnMembers<C extends TProperties>(
  alias: string,
  model: { columns: C },
): Record<keyof C & string, string> {
  return Object.fromEntries(
    Object.entries(model.columns).map(([column, schema]) => [
      column,
      isTimestamp(schema) ? `utc(${alias}.${column})` : `${alias}.${column}`,
    ]),
  ) as Record<keyof C & string, string>;
}

const sortTypes: Record<string, SortField['type']> = {
  integer: 'numeric',
  number: 'numeric',
  boolean: 'boolean',
};

/** Sort fields that are columns of a model, over the alias of its table; only `created_at` counts as immutable. */
export function columnSorts<C extends TProperties>(
  alias: string,
  model: { columns: C },
  ...columns: (keyof C & string)[]
): Record<string, SortField> {
  return Object.fromEntries(
    columns.map((column): [string, SortField] => {
      const parts = alternatives(model.columns[column]!);
      const type = isTimestamp(model.columns[column]!) ? 'timestamptz' : sortTypes[parts[0]?.type ?? ''];
      return [
        column,
        {
          sql: `${alias}.${column}`,
          type: type ?? 'text',
          filled: parts.every((part) => part.type !== 'null'),
          immutable: column === 'created_at',
        },
      ];
    }),
  );
}
