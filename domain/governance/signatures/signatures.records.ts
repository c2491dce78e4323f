import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { newId } from '../../collaboration/items.ts';
import {
  assignSystemTodos,
  closeSystemTodos,
  readAssignees,
} from '../../collaboration/todos/todos.system.ts';
import type { signatureTopics } from '../../collaboration/todos/todos.topics.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockItem } from '../../kernel/resources/items.ts';
import { findRows, insertRow, updateRow } from '../../kernel/resources/rows.ts';
import { integrityOf } from './signatures.rules.ts';
import type { SignedKind, SignedRow } from './signatures.types.ts';

/** Reads and locks one document. @throws EstateError `not_found`, `precondition_failed`. */
export async function lockRecord<Row extends SignedRow>(
  work: Work,
  ctx: Ctx,
  kind: SignedKind<Row>,
  id: string,
): Promise<Row> {
  const text = (of: string) => recordText(work.sql, ctx, kind, of);
  return (await lockItem(work, ctx, kind.model, { id }, kind.entity, text)) as Row;
}

/** One document as its JSON text, with the result of the integrity check. @throws EstateError `not_found`. */
export async function recordText(sql: Sql, ctx: Ctx, kind: SignedKind, id: string): Promise<JsonText> {
  const text = await readItem(sql, kind.list(ctx, true), kind.entity, id);
  const [row] = await findRows(sql, kind.model, (query) => query.where({ id }));
  const integrity = integrityOf(kind.contentOf(row as SignedRow), row as SignedRow);
  return `${text.slice(0, -1)},"integrity":${JSON.stringify(integrity)}}`;
}

/** One document. @throws EstateError `forbidden`, `not_found`. */
export async function readRecord(ctx: Ctx, kind: SignedKind, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.view);
  return await recordText(ctx.db, ctx, kind, id);
}

/** All revisions of a document, the first one first. @throws EstateError `forbidden`, `not_found`. */
export async function listRevisions(
  ctx: Ctx,
  kind: SignedKind,
  id: string,
  params: ListParams,
): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.view);
  const table = kind.model.tableName;
  const row = await ctx.db(table).where({ id }).first('series_id');
  if (!row) throw notFound(kind.entity, id);
  const list = kind.list(ctx, false);
  const name = `${kind.key}-revisions`;
  const spec: ListSpec = { ...list, name, defaultSort: 'revision_number', defaultDir: 'asc' };
  const sql = `${list.id} in (select r.id from ${table} r where r.series_id = ?::uuid)`;
  return await runList(ctx, spec, [{ sql, bindings: [row.series_id] }], params);
}

/** Inserts a document: a first revision unless `values` name a series. */
export async function insertRecord<Row extends SignedRow>(
  work: Work,
  ctx: Ctx,
  kind: SignedKind<Row>,
  values: StoredRow,
): Promise<Row> {
  const id = await newId(work.sql);
  const columns = { id, series_id: id, created_by: ctx.caller.userId, ...values };
  const row = (await insertRow(work.sql, kind.model, columns)) as Row;
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

/**
 * What is requested from users about a document in review: to sign it, or to replace a signatory who can no longer
 * sign.
 */
export type RequestKind = 'signature' | 'signatory_gone';

const topicOf = ({ key }: Pick<SignedKind, 'key'>, asked: RequestKind): (typeof signatureTopics)[number] =>
  `${key}_${asked}`;

const said: Record<RequestKind, (name: string) => string> = {
  signature: (name) => `Sign ${name}`,
  signatory_gone: (name) => `Somebody who was to sign ${name} no longer can: ask somebody else, or recall it`,
};

/** Creates to-dos about a document, and withdraws those of other users. @param current the users with an open one. */
export async function assignRequests(
  work: Work,
  kind: SignedKind,
  row: SignedRow,
  asked: RequestKind,
  wanted: readonly string[],
  current: readonly string[] = [],
): Promise<void> {
  const todo = {
    topic: topicOf(kind, asked),
    subjectId: row.id,
    description: said[asked](kind.nameOf(row)),
    card: null,
    link: `${kind.page}/${row.id}`,
  };
  await assignSystemTodos(work, todo, current, wanted);
}

/** The users with open to-dos about documents. */
export async function readRequested(
  work: Work,
  kind: Pick<SignedKind, 'key'>,
  ids: readonly string[],
): Promise<(asked: RequestKind, id: string) => string[]> {
  const topics = [topicOf(kind, 'signature'), topicOf(kind, 'signatory_gone')];
  const assigned = await readAssignees(work, topics, ids);
  return (asked, id) => assigned(topicOf(kind, asked), id);
}

/** Closes to-dos about a document: of all users, or of one. */
export async function closeRequests(
  work: Work,
  kind: SignedKind,
  id: string,
  asked: RequestKind,
  { of, how }: { of?: string; how: 'done' | 'withdrawn' },
): Promise<void> {
  await closeSystemTodos(work, { topic: topicOf(kind, asked), subjectId: id, assignedTo: of }, how);
}

/** Withdraws all to-dos about a document that is returned to draft or deleted. */
export async function withdrawTodos(work: Work, kind: SignedKind, id: string): Promise<void> {
  await closeRequests(work, kind, id, 'signature', { how: 'withdrawn' });
  await closeRequests(work, kind, id, 'signatory_gone', { how: 'withdrawn' });
}
