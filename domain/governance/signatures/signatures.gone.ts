import { queryRows } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { pendingIds } from './signatures.rules.ts';
import { type Abilities, abilitiesOf } from './signatures.signatories.ts';
import { type Asked, askAbout, askedAbout, settleAsked } from './signatures.todos.ts';
import type { SignedKind, SignedRow } from './signatures.types.ts';

/**
 * Follows accounts that were closed, opened again, deleted or given another role, inside the same command: documents that
 * wait for the signature of somebody who can no longer give it would wait for ever, so whoever answers for them is asked
 * to see to it.
 */
export async function followSignatories<Row extends SignedRow>(
  work: Work,
  ctx: Ctx,
  kind: SignedKind<Row>,
  userIds: readonly string[],
): Promise<void> {
  const rows = await queryRows<{ row: Row }>(
    work.sql,
    `select to_jsonb(t) as row from ${kind.model.tableName} t
     where t.status = 'in_review' and (t.created_by = any(?::uuid[]) or exists (
       select from jsonb_array_elements(t.signatories) s where (s.value ->> 'user_id')::uuid = any(?::uuid[])))
     order by t.id for no key update`,
    [userIds, userIds],
  );
  await follow(
    work,
    ctx,
    kind,
    rows.map(({ row }) => row),
    ['signature', 'signatory_gone'],
  );
}

/**
 * Asks somebody to see to those who are to sign one document and cannot, or takes that back where everybody can. To-dos to
 * sign are left alone: they come and go with the writes that the caller makes or undoes.
 */
export async function followGone<Row extends SignedRow>(
  work: Work,
  ctx: Ctx,
  kind: SignedKind<Row>,
  row: Row,
): Promise<void> {
  await follow(work, ctx, kind, [row], ['signatory_gone']);
}

/** Brings what people are asked about documents in step with what they can do; locked, and few queries for many. */
async function follow<Row extends SignedRow>(
  work: Work,
  ctx: Ctx,
  kind: SignedKind<Row>,
  rows: readonly Row[],
  what: readonly Asked[],
): Promise<void> {
  if (rows.length === 0) return;
  const people = new Set(
    rows.flatMap(({ created_by, signatories }) => [
      ...(created_by === null ? [] : [created_by]),
      ...signatories.map(({ user_id }) => user_id),
    ]),
  );
  const abilities = await abilitiesOf(work.sql, kind.rights, [...people]);
  const asked = await askedAbout(
    work,
    kind,
    rows.map(({ id }) => id),
  );
  for (const row of rows) {
    const waitedFor = row.status === 'in_review' ? pendingIds(row.signatories) : [];
    const able = waitedFor.filter((id) => abilities.get(id)?.sign);
    const keepers = able.length < waitedFor.length ? keepersOf(row, abilities, ctx.caller.userId) : [];
    const wanted = { signature: able, signatory_gone: keepers };
    for (const one of what) {
      const now = asked(one, row.id);
      for (const of of now) {
        if (!wanted[one].includes(of)) await settleAsked(work, kind, row.id, one, { of, how: 'withdrawn' });
      }
      await askAbout(
        work,
        kind,
        row,
        one,
        wanted[one].filter((id) => !now.includes(id)),
      );
    }
  }
}

/** Who sees to a document: its author; where that one cannot, the others who sign it; else who acts. */
function keepersOf(
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
