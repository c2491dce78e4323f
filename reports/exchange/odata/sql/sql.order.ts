import { combine, type Fragment, raw, sql } from '../../../../domain/inventory/filters/filters.sql.ts';
import { invalidQuery } from '../odata.errors.ts';
import type { OrderItem } from '../query/query.types.ts';
import { evaluate, type Scope } from './sql.expressions.ts';
import { type Kind, kindName, ordered, sqlTypes } from './sql.values.ts';

/** One key of the order; the id is the last key. */
export interface OrderKey {
  kind: Kind;
  sql: Fragment;
  descending: boolean;
}

export function orderKeys(items: OrderItem[], scope: Scope): OrderKey[] {
  return items.map(({ expr, descending }) => {
    const value = evaluate(expr, { ...scope, option: '$orderby' }, true);
    if (value.kind === 'entity' || value.kind === 'null') {
      throw invalidQuery('$orderby', `${kindName(value.kind)} has no order`, expr.at);
    }
    return { kind: value.kind, sql: sql`(${ordered(value)})`, descending };
  });
}

/** The ORDER BY list: null comes first, or last in descending order (OData protocol, 11.2.6.2). */
export function orderList(keys: OrderKey[], alias: string): Fragment {
  const items = keys.map(
    (key) => sql`${key.sql} ${raw(key.descending ? 'desc nulls last' : 'asc nulls first')}`,
  );
  return [...items, raw(`${alias}.id`)].reduce((all, one) => sql`${all}, ${one}`);
}

/** The condition of the rows after the one with these key values and id. */
export function afterRow(keys: OrderKey[], values: (string | null)[], id: string, alias: string): Fragment {
  const [key, ...others] = keys;
  const [value, ...more] = values;
  if (!key) return sql`${raw(alias)}.id > ${id}::uuid`;
  const rest = afterRow(others, more, id, alias);
  const type = raw(key.kind === 'string' || key.kind === 'date' ? 'text collate "C"' : sqlTypes[key.kind]);
  if (value === null || value === undefined) {
    const tied = sql`(${key.sql} is null and ${rest})`;
    return key.descending ? tied : combine('or', [tied, sql`${key.sql} is not null`]);
  }
  const tied = sql`(${key.sql} = ${value}::${type} and ${rest})`;
  return key.descending
    ? combine('or', [sql`${key.sql} < ${value}::${type}`, sql`${key.sql} is null`, tied])
    : combine('or', [sql`${key.sql} > ${value}::${type}`, tied]);
}
