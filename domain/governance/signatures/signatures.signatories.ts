import { embed, query, type Sql } from '../../../platform/database.ts';
import { EstateError, invalidFields } from '../../../platform/errors.ts';
import { permissionSet } from '../../access/access.sessions.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import type { Resource, ResourceUndo } from '../../kernel/resources/resource.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import { type BatchEvent, undoRow } from '../../kernel/undo/undo.rows.ts';
import { assignRequests, type RequestKind, readRequested } from './signatures.records.ts';
import { pendingIds } from './signatures.rules.ts';
import type { SignedKind, SignedRow } from './signatures.types.ts';

type Rights = SignedKind['rights'];

/** The permissions of the active users among these, by id. */
async function heldBy(
  sql: Sql,
  userIds: readonly string[],
  lock: '' | 'for share',
): Promise<Map<string, ReturnType<typeof permissionSet>>> {
  const rows = await query(sql).rows<{ id: string; permissions: Record<string, boolean> }>`select u.id,
    r.permissions from users u join roles r on r.key = u.role
     where u.id = any(${userIds}::uuid[]) and u.is_active and u.kind = 'person' and not r.is_archived
     order by u.id ${embed(lock)}`;
  return new Map(rows.map(({ id, permissions }) => [id, permissionSet(permissions)]));
}

const lackOf = (
  held: ReturnType<typeof permissionSet>,
  needed: readonly AppPermission[],
): AppPermission | undefined => (held === '*' ? undefined : needed.find((key) => !held.has(key)));

const toSign = ({ view, sign }: Rights) => [view, sign];
const toManage = ({ view, manage }: Rights) => [view, manage];

/** Whether people can sign documents of a kind, and whether they can ask others to. */
type Abilities = ReadonlyMap<string, { sign: boolean; manage: boolean }>;

/** What users can do with documents of a kind, without those who are not active. */
async function abilitiesOf(sql: Sql, rights: Rights, userIds: readonly string[]): Promise<Abilities> {
  return new Map(
    [...(await heldBy(sql, userIds, ''))].map(([id, held]) => [
      id,
      {
        sign: lackOf(held, toSign(rights)) === undefined,
        manage: lackOf(held, toManage(rights)) === undefined,
      },
    ]),
  );
}

/**
 * Checks that all users can sign: active users whose role allows to read and to sign the document. Their accounts and
 * roles are locked until the command has ended.
 * @throws EstateError `validation_failed` naming each user who cannot.
 */
export async function requireSignatories(
  { sql }: Work,
  rights: Rights,
  userIds: readonly string[],
  fieldOf: (n: number) => string,
): Promise<void> {
  const held = await heldBy(sql, userIds, 'for share');
  const errors = userIds.flatMap((given, n) => {
    const permissions = held.get(given.toLowerCase());
    const field = fieldOf(n);
    if (!permissions) return [{ field, code: 'unknown_user', message: 'is no active user' }];
    const lacks = lackOf(permissions, toSign(rights));
    return lacks ? [{ field, code: 'cannot_sign', message: `lacks the permission ${lacks}` }] : [];
  });
  if (errors.length > 0) throw invalidFields(errors);
}

/** @throws EstateError `forbidden` for the service itself. */
export function requirePerson(userId: string | null): string {
  if (userId === null) throw new EstateError('forbidden', 'Only people sign.');
  return userId;
}

/**
 * Updates to-dos after changes of accounts and roles, in the same command. If a signatory can no longer sign, the user
 * responsible for the document gets a to-do, because the document would stay in review otherwise.
 */
export async function followSignatories(
  work: Work,
  ctx: Ctx,
  kind: SignedKind,
  userIds: readonly string[],
): Promise<void> {
  const rows = await query(work.sql).rows<{ row: SignedRow }>`select to_jsonb(t) as row
    from ${embed(kind.model.tableName)} t
     where t.status = 'in_review' and (t.created_by = any(${userIds}::uuid[]) or exists (
       select from jsonb_array_elements(t.signatories) s
       where (s.value ->> 'user_id')::uuid = any(${userIds}::uuid[])))
     order by t.id for no key update`;
  const records = rows.map(({ row }) => row);
  await follow(work, ctx, kind, records, ['signature', 'signatory_gone']);
}

/**
 * Creates or withdraws the to-do to replace signatories of one document who can no longer sign. To-dos to sign are not
 * changed: the caller updates them.
 */
export async function updateGoneSignatories(
  work: Work,
  ctx: Ctx,
  kind: SignedKind,
  row: SignedRow,
): Promise<void> {
  await follow(work, ctx, kind, [row], ['signatory_gone']);
}

/** Updates the to-dos about documents after changes of permissions; locks the documents, with few queries for many. */
async function follow(
  work: Work,
  ctx: Ctx,
  kind: SignedKind,
  rows: readonly SignedRow[],
  what: readonly RequestKind[],
): Promise<void> {
  if (rows.length === 0) return;
  const people = new Set(
    rows.flatMap(({ created_by, signatories }) =>
      [created_by ?? [], ...signatories.map(({ user_id }) => user_id)].flat(),
    ),
  );
  const abilities = await abilitiesOf(work.sql, kind.rights, [...people]);
  const ids = rows.map(({ id }) => id);
  const asked = await readRequested(work, kind, ids);
  for (const row of rows) {
    const waitedFor = row.status === 'in_review' ? pendingIds(row.signatories) : [];
    const able = waitedFor.filter((id) => abilities.get(id)?.sign);
    const responsible =
      able.length < waitedFor.length ? responsibleFor(row, abilities, ctx.caller.userId) : [];
    const wanted = { signature: able, signatory_gone: responsible };
    for (const one of what) await assignRequests(work, kind, row, one, wanted[one], asked(one, row.id));
  }
}

/**
 * The user responsible for a document: its author; if that user cannot manage it, its other signatories; else the
 * caller.
 */
function responsibleFor(
  { created_by, signatories }: SignedRow,
  abilities: Abilities,
  actor: string | null,
): string[] {
  const able = (id: string) => abilities.get(id)?.manage === true;
  if (created_by !== null && able(created_by)) return [created_by];
  const others = signatories.map(({ user_id }) => user_id).filter(able);
  if (others.length > 0) return others;
  return actor === null ? [] : [actor];
}

/** The events of a kind of documents with signatures. */
export const signedEvents = (key: SignedKind['key']): Required<Resource['events']> => ({
  created: [`${key}.created`],
  updated: [
    `${key}.updated`,
    `${key}.signatures_requested`,
    `${key}.signatory_replaced`,
    `${key}.signed`,
    `${key}.signatures_recalled`,
    `${key}.rejected`,
  ],
  deleted: [`${key}.deleted`],
});

/**
 * How writes of a kind of documents are undone: like other rows, but completely or not at all, because a partial undo could
 * change what was signed later.
 */
export function undoSigned(kind: SignedKind): ResourceUndo['undo'] {
  const { key, entity, model } = kind;
  const spec = { entity, model, events: signedEvents(key) };
  return async (work, ctx, event) => {
    const refusal = await undoRow(work, spec, event as BatchEvent, false);
    const row = (await lockRow(work.sql, model, { id: event.id })) as SignedRow | undefined;
    // the restored document may have signatories who can no longer sign
    if (row) await updateGoneSignatories(work, ctx, kind, row);
    return refusal;
  };
}
