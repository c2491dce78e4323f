import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { newId } from '../../collaboration/items.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import type { SignedKind, SignedRow } from './signatures.types.ts';

/** One document, locked. @throws EstateError `not_found`, `precondition_failed`. */
export async function lockRecord<Row extends SignedRow>(
  work: Work,
  ctx: Ctx,
  kind: SignedKind<Row>,
  id: string,
): Promise<Row> {
  const row = await lockRow(work.sql, kind.model, { id: id.toLowerCase() });
  if (!row) throw notFound(kind.entity, id);
  if (ctx.ifMatch) checkIfMatch(ctx, await recordText(work.sql, ctx, kind, id));
  return row as Row;
}

/** One document as its JSON text. @throws EstateError `not_found`. */
export async function recordText<Row extends SignedRow>(
  sql: Sql,
  ctx: Ctx,
  kind: SignedKind<Row>,
  id: string,
): Promise<JsonText> {
  const text = await kind.text(sql, ctx, id);
  if (text === undefined) throw notFound(kind.entity, id);
  return text;
}

/** Inserts a document: a first revision unless `values` name a series. */
export async function insertRecord<Row extends SignedRow>(
  work: Work,
  ctx: Ctx,
  kind: SignedKind<Row>,
  values: StoredRow,
): Promise<Row> {
  const id = await newId(work.sql);
  const row = (await insertRow(work.sql, kind.model, {
    id,
    series_id: id,
    created_by: ctx.caller.userId,
    ...values,
  })) as Row;
  work.emit(await kind.event(null, row));
  return row;
}

/** Writes columns of a document, with its event. @returns the whole row. */
export async function storeRecord<Row extends SignedRow>(
  work: Work,
  kind: SignedKind<Row>,
  before: Row,
  values: StoredRow,
  event?: { type: EventType; more?: Record<string, unknown> },
): Promise<Row> {
  const after = (await updateRow(work.sql, kind.model, { id: before.id }, values)) as Row;
  work.emit(await kind.event(before, after, event?.type, event?.more));
  return after;
}

/** The signatures of a document, as SQL members over the alias of its table. */
export function signatureMembers(
  alias: string,
  { view, sign }: SignedKind['rights'],
): Record<string, string> {
  return {
    signatories: `(select coalesce(json_agg(json_build_object('user_id', s.item ->> 'user_id',
        'display_name', coalesce(u.display_name, ''), 'email', coalesce(u.email, ''),
        'is_active', coalesce(u.is_active, false),
        'can_sign', coalesce(u.is_active and not r.is_archived and (coalesce((r.permissions ->> '*')::boolean, false)
          or (r.permissions @> '{"${view}": true, "${sign}": true}')), false),
        'status', s.item ->> 'status',
        'signed_at', utc((s.item ->> 'signed_at')::timestamptz), 'content_hash', s.item ->> 'content_hash')
        order by s.place), '[]')
      from jsonb_array_elements(${alias}.signatories) with ordinality s (item, place)
      left join users u on u.id = (s.item ->> 'user_id')::uuid
      left join roles r on r.key = u.role)`,
    signed_at: `utc(${alias}.signed_at)`,
  };
}

/** The rejection with its author's name, as SQL over the alias. */
export const rejectionMember = (alias: string): string =>
  `case when ${alias}.rejection is null then null else (select json_build_object(
     'user_id', ${alias}.rejection ->> 'user_id', 'display_name', coalesce(max(u.display_name), ''),
     'comment', ${alias}.rejection ->> 'comment', 'rejected_at', utc((${alias}.rejection ->> 'rejected_at')::timestamptz))
   from users u where u.id = (${alias}.rejection ->> 'user_id')::uuid) end`;
