import { adrKind } from '../adr/adr.kind.ts';
import type { Work } from '../command.ts';
import type { Ctx } from '../context.ts';
import { soawKind } from '../soaw/soaw.kind.ts';
import { pendingIds } from './signatures.rules.ts';
import { askAbout, settleAsked } from './signatures.todos.ts';
import type { SignedKind, SignedRow } from './signatures.types.ts';

/** Every kind of documents that people sign. */
const kinds: readonly SignedKind[] = [adrKind, soawKind] as unknown as SignedKind[];

/**
 * Follows accounts that were closed, opened again or deleted, inside the same command: documents that wait for the
 * signature of somebody who is gone would wait for ever, so whoever answers for them is asked to see to it.
 */
export async function followSignatories(work: Work, ctx: Ctx, userIds: readonly string[]): Promise<void> {
  for (const kind of kinds) {
    const { rows } = await work.sql.raw(
      `select to_jsonb(t) as row from ${kind.table} t
       where t.status = 'in_review' and t.id in (
         select a.id from unnest(?::text[]) u (id) join ${kind.table} a
         on a.signatories @> jsonb_build_array(jsonb_build_object('user_id', u.id, 'status', 'pending')))
       order by t.id for no key update`,
      [userIds] as never,
    );
    for (const { row } of rows as { row: SignedRow }[]) await followGone(work, ctx, kind, row);
  }
}

/** Asks somebody to see to those who are to sign a document and are gone, or takes that back where nobody is. */
export async function followGone<Row extends SignedRow>(
  work: Work,
  ctx: Ctx,
  kind: SignedKind<Row>,
  row: Row,
): Promise<void> {
  const waitedFor = row.status === 'in_review' ? pendingIds(row.signatories) : [];
  const signatories = row.signatories.map(({ user_id }) => user_id);
  const present = new Set<string>(
    await work
      .sql('users')
      .whereIn('id', [...signatories, ...(row.created_by === null ? [] : [row.created_by])])
      .where({ is_active: true })
      .pluck('id'),
  );
  if (waitedFor.every((id) => present.has(id))) {
    await settleAsked(work, kind, row.id, 'signatory_gone', { how: 'withdrawn' });
    return;
  }
  await askAbout(work, kind, row, 'signatory_gone', keepersOf(row, present, ctx.caller.userId));
}

/** Who sees to a document: its author; where that one is gone as well, the others who sign it; else who acts. */
function keepersOf(
  { created_by, signatories }: SignedRow,
  present: ReadonlySet<string>,
  actor: string | null,
): string[] {
  if (created_by !== null && present.has(created_by)) return [created_by];
  const others = signatories.map(({ user_id }) => user_id).filter((id) => present.has(id));
  if (others.length > 0) return others;
  return actor === null ? [] : [actor];
}
