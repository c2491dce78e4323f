import { fragment } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import type { Condition, Fragment, ListParams, ListSpec, Order } from './lists.types.ts';

/**
 * The requested order.
 * @param others sort fields that the list has besides those of `spec`, for the error.
 * @throws EstateError naming `sort_by` if the list does not support it.
 */
export function orderOf(
  spec: ListSpec,
  params: Pick<ListParams, 'sort_by' | 'sort_dir'>,
  others: readonly string[] = [],
): Order {
  const key = params.sort_by ?? spec.defaultSort;
  const field = Object.hasOwn(spec.sorts, key) ? spec.sorts[key] : undefined;
  if (!field) {
    const known = [...Object.keys(spec.sorts), ...others];
    throw invalidField('sort_by', 'unknown_sort', `is none of ${known.join(', ')}`);
  }
  return { key, field, dir: params.sort_dir ?? ((key === spec.defaultSort && spec.defaultDir) || 'asc') };
}

/**
 * The ORDER BY list of an order over the given expressions; empty values are last in both directions. `reversed` reads
 * the same order from its end.
 */
export function orderBy(order: Order, sort: string, id: string, reversed = false): string {
  const dir = (order.dir === 'asc') === reversed ? 'desc' : 'asc';
  // The planner only uses an index if the NULLS clause matches that of the index.
  const nulls = order.field.filled || order.field.immutable ? '' : reversed ? ' nulls first' : ' nulls last';
  return `${sort} ${dir}${nulls}, ${id} ${dir}`;
}

/** The item as a JSON expression with the requested members. @throws EstateError naming an unknown one. */
export function projection(members: ListSpec['members'], fields?: string): Fragment {
  const names = fields === undefined ? Object.keys(members) : fields.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(members, name));
  if (unknown !== undefined)
    throw invalidField('fields', 'unknown_field', `"${unknown}" is no member of the items`);
  const parts = [...new Set(names)].map((name) => {
    const member = members[name]!;
    return typeof member === 'string' ? { name, sql: member, bindings: [] } : { name, ...member };
  });
  return {
    sql: `json_build_object(${parts.map((part) => `'${part.name}', ${part.sql}`).join(', ')})`,
    bindings: parts.flatMap((part) => part.bindings),
  };
}

/** The WHERE clause of all conditions together, with a leading space; empty without conditions. */
export function whereClause(conditions: Condition[]): Fragment {
  if (conditions.length === 0) return fragment``;
  return {
    sql: ` where ${conditions.map((condition) => `(${condition.sql})`).join(' and ')}`,
    bindings: conditions.flatMap((condition) => condition.bindings),
  };
}

/** The text as the literal part of a LIKE pattern, folded like the indexed text. */
export function likeText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[\\%_]/g, '\\$&');
}

/** A text as an SQL literal, for places where a binding would prevent the use of an index. */
export function textLiteral(text: string): string {
  // A question mark would be parsed as a binding.
  return `'${text.replaceAll("'", "''").replaceAll('?', '\\?')}'`;
}

/** The place of a value in an order of values; NULL for others. */
export const rankSql = (values: readonly string[], sql: string): string =>
  `array_position(array[${values.map(textLiteral).join(', ')}]::text[], ${sql})`;

/** The SQL type of a list's ids. */
export const idType = ({ idType }: Pick<ListSpec, 'idType'>): NonNullable<ListSpec['idType']> =>
  idType ?? 'uuid';
