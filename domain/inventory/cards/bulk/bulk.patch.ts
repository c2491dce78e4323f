import { EstateError } from '../../../../platform/errors.ts';
import { commandWith } from '../../../kernel/command.ts';
import { type Ctx, etagOf, type Work } from '../../../kernel/context.ts';
import { requireOnCards, requirePermission, seesCosts } from '../../../kernel/permissions/policy.ts';
import { typeOf, writtenCard } from '../cards.load.ts';
import { saveCards } from '../cards.save.ts';
import { type CardPatch, EDIT, planPatch } from '../cards.write.ts';
import type { Changes } from '../rules/diff.ts';
import { uniqueIds } from './bulk.each.ts';

/**
 * Applies one patch to many cards with the checks of a single patch, in a fixed number of statements: to all of them
 * or, if one is refused, to none. Cards that the patch does not change are not written.
 * @param etags the ETags of cards as they were read, by id.
 * @throws EstateError as `patchCard` does; it names the card if only one card is concerned. `precondition_failed` names
 * the cards that have changed.
 */
export async function patchCards(
  ctx: Ctx,
  ids: string[],
  patch: CardPatch,
  dryRun: boolean,
  etags: Readonly<Record<string, string>> = {},
) {
  requirePermission(ctx.caller, 'inventory.bulk_edit');
  const wanted = uniqueIds(ids);
  return await commandWith(ctx, { dryRun }, async (work) => {
    const { cards, writes } = await planPatch(work, ctx, wanted, patch, async (found) => {
      requireOnCards(ctx, EDIT, found.values());
      await requireUnchanged(work, ctx, [...found.keys()], etags);
    });
    const saved = new Map((await saveCards(work, ctx, writes)).map((write) => [write.before.id, write]));
    const rowIndex = new Map(ids.map((id, n) => [id.toLowerCase(), n] as const).toReversed());
    const status = dryRun ? ('would_update' as const) : ('updated' as const);
    const results = wanted.map((card_id) => {
      const card = cards.get(card_id);
      const write = saved.get(card_id);
      const row = { row_index: rowIndex.get(card_id)!, card_id, id: card ? card_id : null };
      if (!card) return { ...row, status: 'not_found' as const, before: {}, after: {} };
      if (!write) return { ...row, status: 'unchanged' as const, before: {}, after: {} };
      const hidden = seesCosts(ctx, card) ? [] : typeOf(work.metamodel, card).costKeys;
      const before = nested(write.changes, 'old', hidden);
      return { ...row, status, before, after: nested(write.changes, 'new', hidden) };
    });
    const count = results.filter((result) => result.status === status).length;
    return { dry_run: dryRun, results, updated: dryRun ? 0 : count, would_update: dryRun ? count : 0 };
  });
}

/** @throws EstateError `precondition_failed` naming the cards that have changed since they were read. */
async function requireUnchanged(
  work: Work,
  ctx: Ctx,
  ids: string[],
  etags: Readonly<Record<string, string>>,
): Promise<void> {
  const expected = new Map(Object.entries(etags).map(([id, etag]) => [id.toLowerCase(), etag]));
  const changed: string[] = [];
  for (const id of ids) {
    const etag = expected.get(id);
    if (etag !== undefined && etag !== etagOf(await writtenCard(work.sql, ctx, id))) changed.push(id);
  }
  if (changed.length === 0) return;
  const detail = 'Cards have changed since you read them; read them again.';
  throw new EstateError('precondition_failed', detail, { extra: { card_ids: changed } });
}

/** One side of changes in the shape of a card, without the attributes named in `hidden`. */
function nested(changes: Changes, side: 'old' | 'new', hidden: readonly string[]): Record<string, unknown> {
  const card: Record<string, unknown> = {};
  for (const [field, change] of Object.entries(changes)) {
    const dot = field.indexOf('.');
    if (dot < 0) {
      card[field] = change[side];
      continue;
    }
    const [object, key] = [field.slice(0, dot), field.slice(dot + 1)];
    if (object === 'attributes' && hidden.includes(key)) continue;
    const members = (card[object] ?? {}) as Record<string, unknown>;
    members[key] = change[side];
    card[object] = members;
  }
  return card;
}
