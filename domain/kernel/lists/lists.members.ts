import type { TProperties, TSchema } from 'typebox';

/** Whether a column is a timestamp, which answers show in UTC with milliseconds. */
function isTimestamp(schema: TSchema): boolean {
  const parts = ('anyOf' in schema ? schema.anyOf : [schema]) as { format?: string }[];
  return parts.some(({ format }) => format === 'date-time');
}

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
