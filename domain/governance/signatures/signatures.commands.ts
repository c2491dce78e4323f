import Type, { type Static } from 'typebox';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { differingMembers, type StoredRow } from '../../kernel/events/row-changes.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import { Clearable, isObject, object, Uuid } from '../../kernel/shapes.ts';
import {
  assignRequests,
  closeRequests,
  insertRecord,
  lockRecord,
  recordText,
  storeRecord,
  withdrawTodos,
} from './signatures.records.ts';
import {
  contentHash,
  newSignatories,
  pendingOf,
  requireAction,
  signature,
  statusChangeError,
  withSignatory,
} from './signatures.rules.ts';
import { requirePerson, requireSignatories, updateGoneSignatories } from './signatures.signatories.ts';
import type { SignedKind, SignedRow, SignedStatus, SigningEvent } from './signatures.types.ts';

/**
 * Changes the content of a document that is not in review, and its status as far as users may set it.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `document_signed`, `wrong_state` for one in review,
 * `use_operation` for other states, `validation_failed`.
 */
export async function patchRecord(
  ctx: Ctx,
  kind: SignedKind,
  id: string,
  { status, ...input }: { status?: SignedStatus },
): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.manage);
  const values = kind.checked(input);
  return await command(ctx, async (work) => {
    // cards are locked before the rows that refer to them, to avoid deadlocks
    await kind.lockReferences?.(work, ctx, values);
    const before = await lockRecord(work, ctx, kind, id);
    requireAction('edit', before.status);
    if (status !== undefined && status !== before.status && !kind.settable.includes(status)) {
      throw statusChangeError();
    }
    const changed = differingMembers<StoredRow>(before, { ...values, ...(status && { status }) });
    if (Object.keys(changed).length > 0) await storeRecord(work, kind, before, changed);
    return await recordText(work.sql, ctx, kind, before.id);
  });
}

/** The writes of a step of the signing process. */
interface Step {
  values: StoredRow;
  event: SigningEvent;
  /** Members of the event, such as the `recipients` who are notified. */
  data: Record<string, unknown>;
  /** Updates the to-dos. */
  follow(after: SignedRow): Promise<void>;
}

/** Locks a document and executes a step on it. @throws EstateError `not_found`, `precondition_failed`, as `decide` does. */
async function takeStep(
  ctx: Ctx,
  kind: SignedKind,
  id: string,
  decide: (before: SignedRow, work: Work) => Step | Promise<Step>,
): Promise<JsonText> {
  return await command(ctx, async (work) => {
    const before = await lockRecord(work, ctx, kind, id);
    const { values, event, data, follow } = await decide(before, work);
    const type = `${kind.key}.${event}` as const;
    await follow(await storeRecord(work, kind, before, values, { type, more: data }));
    return await recordText(work.sql, ctx, kind, before.id);
  });
}

export const SignatureRequestBody = object({
  user_ids: Type.Array(Uuid, { minItems: 1, maxItems: 100, description: 'Duplicates count once' }),
  message: Clearable(Type.String({ maxLength: 2000, description: 'Shown to the signatories' })),
});
type SignatureRequest = Static<typeof SignatureRequestBody>;

/**
 * Requests signatures for a draft: it is in review until all signatories have signed, and each gets a to-do.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`, `validation_failed`.
 */
export async function requestSignatures(
  ctx: Ctx,
  kind: SignedKind,
  id: string,
  { user_ids, message }: SignatureRequest,
): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.manage);
  const signatories = newSignatories(user_ids);
  return await takeStep(ctx, kind, id, async ({ status }, work) => {
    requireAction('request', status);
    await requireSignatories(work, kind.rights, user_ids, (n) => `user_ids.${n}`);
    const recipients = signatories.map(({ user_id }) => user_id);
    return {
      values: { status: 'in_review', signatories, rejection: null },
      event: 'signatures_requested',
      data: { recipients, message: message?.trim() || null },
      follow: (after) => assignRequests(work, kind, after, 'signature', recipients),
    };
  });
}

/**
 * Signs as one of the signatories; with the last signature the document is signed and cannot be changed.
 * @throws EstateError `forbidden`, `not_signatory`, `not_found`, `precondition_failed`, `wrong_state`.
 */
export async function signRecord(ctx: Ctx, kind: SignedKind, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.sign);
  const userId = requirePerson(ctx.caller.userId);
  return await takeStep(ctx, kind, id, (before, work) => {
    const hash = contentHash(kind.contentOf(before));
    const values = signature(before, { userId, at: new Date().toISOString(), hash });
    const recipients = values.status === 'signed' ? involved(before) : [];
    return {
      values,
      event: 'signed',
      data: { signed_by: userId, signed_hash: hash, recipients },
      follow: () => closeRequests(work, kind, before.id, 'signature', { of: userId, how: 'done' }),
    };
  });
}

/**
 * Recalls the signature request: the document becomes a draft without signatures.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`.
 */
export async function recallSignatures(ctx: Ctx, kind: SignedKind, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.manage);
  return await takeStep(ctx, kind, id, (before, work) => {
    requireAction('recall', before.status);
    return {
      values: { status: 'draft', signatories: [] },
      event: 'signatures_recalled',
      data: { recipients: before.signatories.map(({ user_id }) => user_id) },
      follow: () => withdrawTodos(work, kind, before.id),
    };
  });
}

/**
 * Rejects as one of the pending signatories: the document becomes a draft again, with the reason.
 * @throws EstateError `forbidden`, `not_signatory`, `not_found`, `precondition_failed`, `wrong_state`,
 * `validation_failed` without a comment.
 */
export async function rejectRecord(
  ctx: Ctx,
  kind: SignedKind,
  id: string,
  input: { comment: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.sign);
  const user_id = requirePerson(ctx.caller.userId);
  const comment = input.comment.trim();
  if (comment === '') throw invalidField('comment', 'required', 'must say why');
  return await takeStep(ctx, kind, id, (before, work) => {
    requireAction('reject', before.status);
    pendingOf(before.signatories, user_id);
    const rejection = { user_id, comment, rejected_at: new Date().toISOString() };
    return {
      values: { status: 'draft', signatories: [], rejection },
      event: 'rejected',
      data: { recipients: involved(before), comment },
      follow: () => withdrawTodos(work, kind, before.id),
    };
  });
}

/** The author and the signatories of a document. */
const involved = ({ created_by, signatories }: SignedRow): string[] => [
  ...new Set([created_by, ...signatories.map(({ user_id }) => user_id)].filter((id) => id !== null)),
];

export const ReplacementBody = object({
  user_id: Type.String({ ...Uuid, description: 'The signatory who has not signed' }),
  new_user_id: Type.String({ ...Uuid, description: 'The new signatory' }),
  message: Clearable(Type.String({ maxLength: 2000, description: 'Shown to the new signatory' })),
});
type Replacement = Static<typeof ReplacementBody>;

/**
 * Replaces a signatory who has not signed; existing signatures are kept.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`, `validation_failed`.
 */
export async function replaceSignatory(
  ctx: Ctx,
  kind: SignedKind,
  id: string,
  { message, ...input }: Replacement,
): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.manage);
  const [left, asked] = [input.user_id.toLowerCase(), input.new_user_id.toLowerCase()];
  return await takeStep(ctx, kind, id, async (before, work) => {
    requireAction('replace', before.status);
    const signatories = withSignatory(before.signatories, left, asked);
    await requireSignatories(work, kind.rights, [asked], () => 'new_user_id');
    return {
      values: { signatories },
      event: 'signatory_replaced',
      data: { recipients: [asked], replaced: [left], message: message?.trim() || null },
      async follow(after) {
        await closeRequests(work, kind, before.id, 'signature', { of: left, how: 'withdrawn' });
        await assignRequests(work, kind, after, 'signature', [asked]);
        await updateGoneSignatories(work, ctx, kind, after);
      },
    };
  });
}

/**
 * Writes the next revision of a signed document, as a draft with the same content. There is one after each.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state`.
 */
export async function reviseRecord<Row extends SignedRow>(
  ctx: Ctx,
  kind: SignedKind<Row>,
  id: string,
): Promise<JsonText> {
  requirePermission(ctx.caller, kind.rights.manage);
  return await command(ctx, async (work) => {
    const row = await lockRecord(work, ctx, kind, id);
    requireAction('revise', row.status);
    // the row lock serialises concurrent revisions of the same document
    const later = await work
      .sql(kind.model.tableName)
      .where({ series_id: row.series_id })
      .where('revision_number', '>', row.revision_number)
      .orderBy('revision_number', 'desc')
      .first('id', 'revision_number');
    if (later) {
      throw new EstateError('wrong_state', `There is a later revision already: ${later.revision_number}.`, {
        extra: { state: row.status, latest_id: later.id },
      });
    }
    const made = await insertRecord(work, ctx, kind, {
      ...kind.copied(row),
      series_id: row.series_id,
      parent_id: row.id,
      revision_number: row.revision_number + 1,
    });
    await kind.copyLinked?.(work, ctx, row, made);
    return await recordText(work.sql, ctx, kind, made.id);
  });
}

/** One member that differs, identified by its path. */
interface FieldDifference {
  field: string;
  old: unknown;
  new: unknown;
}

/**
 * The differences of two contents: texts one at a time; lists as a whole if they contain only texts.
 * @param old,now as {@link SignedKind.contentOf} returns them.
 */
export function differencesOf(
  old: Record<string, unknown>,
  now: Record<string, unknown>,
  path = '',
): FieldDifference[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return names.flatMap((name): FieldDifference[] => {
    const [before, after] = [old[name] ?? null, now[name] ?? null];
    if (JSON.stringify(before) === JSON.stringify(after)) return [];
    const field = path === '' ? name : `${path}.${name}`;
    if (isObject(before) && isObject(after)) return differencesOf(before, after, field);
    return [{ field, old: before, new: after }];
  });
}

/**
 * Compares a revision with another of the same document, by default the one before it; from the older to the newer.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed` for a document that is no revision of it.
 */
export async function compareRevisions(ctx: Ctx, kind: SignedKind, id: string, withId?: string) {
  requirePermission(ctx.caller, kind.rights.view);
  const read = async (wanted: string): Promise<SignedRow | undefined> => {
    const [found] = await findRows(ctx.db, kind.model, (query) => query.where({ id: wanted }));
    return found as SignedRow | undefined;
  };
  const one = await read(id);
  if (!one) throw notFound(kind.entity, id);
  const otherId = withId ?? one.parent_id;
  if (otherId === null) throw invalidField('with', 'required', 'must name a revision: none comes before it');
  const other = await read(otherId);
  if (!other || other.series_id !== one.series_id) {
    throw invalidField('with', 'unknown_revision', 'is no revision of the same document');
  }
  const [from, to] = other.revision_number > one.revision_number ? [one, other] : [other, one];
  const named = ({ id: revision, revision_number, status }: SignedRow) => ({
    id: revision,
    revision_number,
    status,
  });
  const changes = differencesOf(kind.contentOf(from), kind.contentOf(to)).filter(
    ({ field }) => field !== 'revision_number',
  );
  return { from: named(from), to: named(to), changes };
}
