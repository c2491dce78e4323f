import { sha256 } from '../../../platform/crypto.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { Signatory, SignedRow, SignedStatus } from './signatures.types.ts';

/** Whether the content of a document still equals the signed one; null before it is signed. */
type Integrity = 'intact' | 'changed' | null;

/**
 * JSON in the canonical form of RFC 8785: members sorted by the code units of their names, no whitespace. Numbers must
 * be integers.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** SHA-256, in hexadecimal, of a document's content in canonical form (UTF-8). */
export const contentHash = (content: Record<string, unknown>): string => sha256(canonicalJson(content));

/** Compares the content of a document with the signed hash. */
export function integrityOf(
  content: Record<string, unknown>,
  { content_hash, signatories }: { content_hash: string | null; signatories: readonly Signatory[] },
): Integrity {
  const hashes = [content_hash, ...signatories.map((one) => one.content_hash)].filter(
    (hash) => hash !== null,
  );
  if (hashes.length === 0) return null;
  const now = contentHash(content);
  return hashes.every((hash) => hash === now) ? 'intact' : 'changed';
}

/** The statuses in which each action is allowed. */
export const signingActions = {
  edit: ['draft', 'approved'],
  request: ['draft', 'approved'],
  sign: ['in_review'],
  recall: ['in_review'],
  reject: ['in_review'],
  replace: ['in_review'],
  revise: ['signed'],
} as const satisfies Record<string, readonly SignedStatus[]>;

export type SigningAction = keyof typeof signingActions;

const actionTexts: Record<SigningAction, string> = {
  edit: 'changed',
  request: 'sent for signature',
  sign: 'signed',
  recall: 'recalled',
  reject: 'rejected',
  replace: 'given to somebody else to sign',
  revise: 'revised',
};
const statusTexts: Record<SignedStatus, string> = {
  draft: 'is a draft',
  in_review: 'is in review; recall it first',
  approved: 'is approved, and not in review',
  signed: 'is signed, and stays as it is; revise it (POST …/revise) and change the new draft instead',
};

/** The actions that are allowed for a document in this state. */
export function actionsOf(status: SignedStatus): SigningAction[] {
  return (Object.keys(signingActions) as SigningAction[]).filter((action) =>
    (signingActions[action] as readonly SignedStatus[]).includes(status),
  );
}

/**
 * @throws EstateError with the `state` and the `allowed` actions: `document_signed` for editing a signed document,
 * whatever the permissions, else `wrong_state`.
 */
export function requireAction(action: SigningAction, status: SignedStatus): void {
  const allowed = actionsOf(status);
  if (allowed.includes(action)) return;
  const code = action === 'edit' && status === 'signed' ? 'document_signed' : 'wrong_state';
  throw new EstateError(code, `It cannot be ${actionTexts[action]}: it ${statusTexts[status]}.`, {
    extra: { state: status, allowed },
  });
}

/** The error for a status in a request body that differs from the current one. */
export function statusChangeError(): EstateError {
  const message = 'is changed by operations of its own: request-signatures, sign, recall-signatures, reject';
  return new EstateError('use_operation', `status ${message}.`, {
    errors: [{ field: 'status', code: 'use_operation', message }],
  });
}

/**
 * The signatories of a request, without duplicates, none of whom has signed. @throws EstateError `validation_failed` if
 * empty.
 */
export function newSignatories(userIds: readonly string[]): Signatory[] {
  const ids = [...new Set(userIds.map((id) => id.toLowerCase()))];
  if (ids.length === 0) throw invalidField('user_ids', 'required', 'must name at least one user');
  return ids.map((user_id) => ({ user_id, status: 'pending', signed_at: null, content_hash: null }));
}

/**
 * The entry of a user among the pending signatories.
 * @throws EstateError `not_signatory`, or `wrong_state` if the user has signed.
 */
export function pendingOf(signatories: readonly Signatory[], userId: string | null): Signatory {
  const own = signatories.find(({ user_id }) => user_id === userId);
  if (!own) throw new EstateError('not_signatory', 'You are not asked to sign it.');
  if (own.status === 'signed') throw new EstateError('wrong_state', 'You have signed it already.');
  return own;
}

/** Those who have not signed yet. */
export const pendingIds = (signatories: readonly Signatory[]): string[] =>
  signatories.filter(({ status }) => status === 'pending').map(({ user_id }) => user_id);

/**
 * Replaces a signatory who has not signed yet.
 * @throws EstateError `validation_failed`, or `wrong_state` if the signatory has signed.
 */
export function withSignatory(signatories: readonly Signatory[], left: string, asked: string): Signatory[] {
  const place = signatories.findIndex(({ user_id }) => user_id === left);
  if (place < 0) throw invalidField('user_id', 'unknown_value', 'is not asked to sign it');
  if (signatories[place]!.status === 'signed') {
    throw new EstateError('wrong_state', 'Whoever has signed already is not replaced.');
  }
  if (signatories.some(({ user_id }) => user_id === asked)) {
    throw invalidField('new_user_id', 'duplicate', 'is asked to sign it already');
  }
  return signatories.with(place, newSignatories([asked])[0]!);
}

/** The changes of a signature: with the last one the document is signed, with the hash of its content. */
export function signature(
  { signatories, status }: Pick<SignedRow, 'signatories' | 'status'>,
  { userId, at, hash }: { userId: string | null; at: string; hash: string },
): Pick<SignedRow, 'signatories' | 'status' | 'signed_at' | 'content_hash'> {
  requireAction('sign', status);
  const own = pendingOf(signatories, userId);
  const after = signatories.map((one) =>
    one === own ? { ...one, status: 'signed' as const, signed_at: at, content_hash: hash } : one,
  );
  const complete = after.every((one) => one.status === 'signed');
  return {
    signatories: after,
    status: complete ? 'signed' : status,
    signed_at: complete ? at : null,
    content_hash: complete ? hash : null,
  };
}
