import { embed, query } from '../../../platform/database.ts';
import { skipRows } from './transfer.diff.ts';
import { stagedAs } from './transfer.match.ts';
import type { Staging } from './transfer.stage.ts';
import type { TableCheck } from './workspace.schema.ts';
import type { ContentTable } from './workspace.types.ts';

/** The JSON type of a column's values, and its name in messages. */
function jsonOf(type: string): { json: string; word: string } {
  if (type.endsWith('[]')) return { json: 'array', word: 'list' };
  if (/^(smallint|integer|bigint|numeric|real|double)/.test(type)) return { json: 'number', word: 'number' };
  if (type === 'boolean') return { json: 'boolean', word: 'truth value' };
  if (type === 'uuid') return { json: 'string', word: 'id' };
  if (type === 'date' || type.startsWith('timestamp')) return { json: 'string', word: 'date' };
  return { json: 'string', word: 'text' };
}

/** SQL of whether `v.value` is valid input of the type, which is a literal so that it is parsed once. */
function isReadBy(type: string): string {
  const reads = (text: string, one: string) => {
    if (one === 'text') return 'true';
    const isValid = `pg_input_is_valid(${text}, '${one}')`;
    // PostgreSQL also has infinite times, and years that RFC 3339 cannot represent.
    return /^(?:date|timestamp)/.test(one)
      ? `case when ${isValid} then (${text})::${one} >= '0001-01-01' and (${text})::${one} < '9999-12-31' else false end`
      : isValid;
  };
  if (!type.endsWith('[]')) return reads("v.value #>> '{}'", type);
  return `(select coalesce(bool_and(${reads('e', type.slice(0, -2))}), true) from jsonb_array_elements_text(v.value) e)`;
}

/**
 * Skips rows with values of the wrong type, keys included, and removes those values, so that the other rows can be processed.
 */
export async function skipMistyped(
  { db, transferId, shapes }: Staging,
  { table }: ContentTable,
  columns: readonly string[],
): Promise<void> {
  const { types } = shapes.get(table)!;
  const typed = columns.filter((column) => types[column] !== 'jsonb');
  if (typed.length === 0) return;
  const values = typed.map((column) => {
    const type = types[column]!;
    const { json, word } = jsonOf(type);
    return `('${column}', '${type}', '${json}', '${word}', s.content -> '${column}')`;
  });
  const read = [...new Set(typed.map((column) => types[column]!))].map(
    (type) => `when v.type = '${type}' then ${isReadBy(type)}`,
  );
  // OFFSET prevents the planner from scanning the rows once for each row.
  await query(db).run`with wrong as materialized (
       select s.line, array_agg(v.name) as names, min(v.name || ' is no ' || v.word) as message,
       min(v.name) as field
       from workspace_transfer_rows s
       cross join lateral (values ${embed(values.join(', '))}) v (name, type, json, word, value)
       where s.transfer_id = ${transferId}::uuid and s.kind = ${table} and jsonb_typeof(v.value) <> 'null'
       and not case
         when jsonb_typeof(v.value) <> v.json then false
         ${embed(read.join(' '))} end
       group by s.line
     )
     update workspace_transfer_rows r set action = 'conflict', content = r.content - w.names,
       reason = jsonb_build_object('code', 'wrong_type', 'message', w.message, 'field', w.field)
     from wrong w where r.transfer_id = ${transferId}::uuid and r.kind = ${table} and r.line = w.line`;
}

/** Skips rows that violate a not-null or check constraint of the table. */
export async function skipConstraintViolations(
  staging: Staging,
  { table }: ContentTable,
  columns: readonly string[],
): Promise<void> {
  const { db, transferId, shapes } = staging;
  const { required, checks } = shapes.get(table)!;
  const tested = [
    ...required
      .filter((column) => columns.includes(column))
      .map((column) => ({
        holds: `n."${column}" is not null`,
        code: 'required',
        field: column,
        message: `${column} is missing`,
      })),
    ...checks.map((check) => ({ holds: check.expression, ...refusalOf(check) })),
  ];
  if (tested.length === 0) return;
  // As in PostgreSQL, a check that is null is fulfilled; the first violated one is reported.
  const first = tested.map(({ holds }, at) => `when not (${holds.replaceAll('?', '\\?')}) then ${at}`);
  const { rows } = await db.raw(
    `select line, at from (
       select k.staged_line as line, case ${first.join(' ')} end as at
       -- fenced off, so that each row is read once and not for each column
       from (select s.line as staged_line, s.n from ${stagedAs(table)} s
             where s.action in ('create', 'update') offset 0) k
       cross join lateral (select (k.n).*) n
     ) judged where at is not null`,
    [transferId, table],
  );
  const left = rows.map(({ line, at }: { line: number; at: number }) => {
    const { code, field, message } = tested[at]!;
    return { line, code, field, message };
  });
  await skipRows(staging, table, left);
}

/** The error of a violated check. */
function refusalOf({ expression, columns }: TableCheck): { code: string; field: string; message: string } {
  const [field = ''] = columns;
  // `status = ANY (ARRAY['open'::text, 'done'::text])`, PostgreSQL's form of `in`.
  const [, list] = /^\(\(?\w+\)? = ANY \(\(?ARRAY\[([^\]]*)\]/.exec(expression) ?? [];
  const options = [...(list ?? '').matchAll(/'((?:[^']|'')*)'/g)].map(([, option]) => option);
  if (columns.length === 1 && options.length > 0) {
    return { code: 'unknown_option', field, message: `${field} is none of ${options.join(', ')}` };
  }
  const named = columns.length > 1 ? `${columns.slice(0, -1).join(', ')} and ${columns.at(-1)}` : field;
  const message =
    columns.length > 1 ? `${named} do not go together` : `${named} has a value that it does not take`;
  return { code: 'does_not_fit', field, message };
}
