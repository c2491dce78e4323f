import { sha256 } from '../../platform/crypto.ts';
import type { Sql } from '../../platform/database.ts';
import { EstateError, invalidField } from '../../platform/errors.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from './lists.types.ts';

interface Order {
  key: string;
  field: SortField;
  dir: 'asc' | 'desc';
}

/** The requested order. @throws EstateError naming `sort_by` when the list does not offer it. */
export function orderOf(spec: ListSpec, params: ListParams): Order {
  const key = params.sort_by ?? spec.defaultSort;
  const field = spec.sorts[key];
  if (!field) {
    throw invalidField('sort_by', 'unknown_sort', `is none of ${Object.keys(spec.sorts).join(', ')}`);
  }
  return { key, field, dir: params.sort_dir ?? (key === spec.defaultSort ? spec.defaultDir : 'asc') };
}

/** The item as a JSON expression, cut to the requested members. @throws EstateError naming an unknown one. */
export function projection(members: Record<string, string>, fields: string | undefined): string {
  const names = fields === undefined ? Object.keys(members) : fields.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(name in members));
  if (unknown !== undefined)
    throw invalidField('fields', 'unknown_field', `"${unknown}" is no member of the items`);
  return `json_build_object(${names.map((name) => `'${name}', ${members[name]}`).join(', ')})`;
}

/**
 * Runs a list over small tables: by page with `total`, or by cursor. Ties are broken by id.
 * A cursor walks along the row's id, or an immutable sort field, so that a row that is there throughout is
 * shown exactly once whatever is written meanwhile.
 */
export async function runList(
  sql: Sql,
  spec: ListSpec,
  conditions: Condition[],
  params: ListParams,
): Promise<JsonText> {
  const where = [...conditions];
  if (params.search) {
    if (!spec.search) throw invalidField('search', 'not_offered', 'is not offered by this list');
    where.push({ sql: `${spec.search} like ?`, bindings: [`%${likeText(params.search)}%`] });
  }
  const order = orderOf(spec, params);
  const item = projection(spec.members, params.fields);
  return params.cursor === undefined
    ? await byPage(sql, spec, where, params, order, item)
    : await byCursor(sql, spec, where, params, order, item);
}

/** The text as a LIKE pattern's literal part, folded like the indexed text. */
export function likeText(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[\\%_]/g, '\\$&');
}

function clause(conditions: Condition[]): Condition {
  if (conditions.length === 0) return { sql: '', bindings: [] };
  return {
    sql: ` where ${conditions.map((condition) => `(${condition.sql})`).join(' and ')}`,
    bindings: conditions.flatMap((condition) => condition.bindings),
  };
}

async function byPage(
  sql: Sql,
  spec: ListSpec,
  where: Condition[],
  params: ListParams,
  order: Order,
  item: string,
): Promise<JsonText> {
  const w = clause(where);
  const { rows } = await sql.raw(
    `select (select count(*) from ${spec.from}${w.sql}) as total,
            coalesce((select json_agg(item) from (
              select ${item} as item from ${spec.from}${w.sql}
              order by ${order.field.sql} ${order.dir} nulls last, ${spec.id} ${order.dir}
              limit ? offset ?) page), '[]')::text as items`,
    [...w.bindings, ...w.bindings, params.page_size, (params.page - 1) * params.page_size] as never,
  );
  const { total, items } = rows[0];
  return `{"items":${items},"total":${total},"page":${params.page},"page_size":${params.page_size}}`;
}

async function byCursor(
  sql: Sql,
  spec: ListSpec,
  where: Condition[],
  params: ListParams,
  order: Order,
  item: string,
): Promise<JsonText> {
  if (!order.field.immutable) {
    const offered = Object.keys(spec.sorts).filter((key) => spec.sorts[key]!.immutable);
    if (params.sort_by !== undefined) {
      throw invalidField(
        'sort_by',
        'not_with_cursor',
        `a cursor walks along ${offered.join(' or ')} only, since other values may change on the way`,
      );
    }
    const key = offered[0]!;
    order = { key, field: spec.sorts[key]!, dir: params.sort_dir ?? 'asc' };
  }
  const bound = sha256(
    JSON.stringify([spec.name, order.key, order.dir, where.map((part) => [part.sql, part.bindings])]),
  ).slice(0, 16);
  const from = params.cursor ? decodeCursor(params.cursor, bound) : undefined;
  const conditions = [...where];
  if (from) {
    conditions.push({
      sql: `(${order.field.sql}, ${spec.id}) ${order.dir === 'asc' ? '>' : '<'} (?::${order.field.type}, ?::${spec.idType})`,
      bindings: [from.value, from.id],
    });
  }
  const w = clause(conditions);
  const { rows } = await sql.raw(
    `select ${item}::text as item, (${order.field.sql})::text as value, ${spec.id}::text as id from ${spec.from}${w.sql}
     order by ${order.field.sql} ${order.dir}, ${spec.id} ${order.dir} limit ?`,
    [...w.bindings, params.page_size + 1] as never,
  );
  const page = rows.slice(0, params.page_size) as { item: string; value: string; id: string }[];
  const last = page.at(-1);
  const next = rows.length > params.page_size && last ? encodeCursor(bound, last.value, last.id) : null;
  return `{"items":[${page.map((row) => row.item).join(',')}],"page_size":${params.page_size},"next_cursor":${JSON.stringify(next)}}`;
}

/** A cursor is opaque to clients; it names its list, filter and order by a hash. */
export function encodeCursor(bound: string, value: string, id: string): string {
  return Buffer.from(JSON.stringify([bound, value, id])).toString('base64url');
}

/** @throws EstateError for a text that is no cursor, `cursor_mismatch` for one of another list, filter or order. */
export function decodeCursor(cursor: string, bound: string): { value: string; id: string } {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    parts = undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 3 || !parts.every((part) => typeof part === 'string')) {
    throw invalidField('cursor', 'malformed', 'is not a cursor of this service');
  }
  const [hash, value, id] = parts as [string, string, string];
  if (hash !== bound) {
    throw new EstateError(
      'cursor_mismatch',
      'The cursor belongs to another list, filter or order; start again with cursor=.',
      {
        errors: [
          { field: 'cursor', code: 'cursor_mismatch', message: 'belongs to another list, filter or order' },
        ],
      },
    );
  }
  return { value, id };
}
