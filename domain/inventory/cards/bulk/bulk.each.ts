import { EstateError } from '../../../../platform/errors.ts';
import { type Attempt, attempt } from '../../../kernel/command.ts';
import type { Ctx, Work } from '../../../kernel/context.ts';
import { requireOnCard } from '../../../kernel/permissions/policy.ts';
import { archiveAll, restoreAll } from '../cards.archive.ts';
import { loadCards, lockCards, lockHierarchy, requireCard, type StoredCard, typeOf } from '../cards.load.ts';
import { type CardPatch, EDIT, movesCards, patchCardWithin, patchedCard } from '../cards.patch.ts';
import { type CardWrite, saveCards } from '../cards.save.ts';
import { findLoops, type ParentCard, readParents, requireFittingParent } from '../cards.tree.ts';
import { hasLevels } from '../rules/capability.ts';
import { cleanCardInput, refuseOperations } from '../rules/values.ts';

/** How often all are written together, without those that were in the way the time before. */
const MAX_ATTEMPTS = 5;

/** A change of one card. */
export interface CardPatchRow {
  card_id: string;
  patch: CardPatch;
}

/**
 * Changes many cards, each in its own way and by the rules of a single patch, in few statements. What is refused of one
 * card stops no other. Each card is named once.
 * @returns for each row nothing, or why it was refused.
 */
export async function patchEachWithin(
  work: Work,
  ctx: Ctx,
  rows: readonly CardPatchRow[],
): Promise<(EstateError | null)[]> {
  if (rows.some(({ patch }) => patch.parent_id !== undefined)) await lockHierarchy(work.sql, 'exclusive');
  const ids = rows.map(({ card_id }) => card_id);
  await lockCards(work, ids);
  const cards = await loadCards(work, ctx, ids);
  const parents = await readParents(work.sql, [
    ...new Set(rows.flatMap(({ patch }) => patch.parent_id ?? [])),
  ]);
  const refused = new Map<string, EstateError>();
  const writes = new Map<string, CardWrite>();
  for (const { card_id, patch } of rows) {
    const prepared = prepare(work, ctx, cards, parents, card_id, patch);
    if (prepared instanceof EstateError) refused.set(card_id, prepared);
    else if (prepared) writes.set(card_id, prepared);
  }
  const moved = rows.flatMap(({ card_id, patch }) => (patch.parent_id ? [card_id] : []));
  await saveTogether(work, ctx, writes, moved, refused);
  // levels follow from the place, for the card and all below it: such cards are moved one by one
  for (const { card_id, patch } of rows) {
    if (refused.has(card_id) || writes.has(card_id)) continue;
    const done = await attempt(work, (part) => patchCardWithin(part, ctx, card_id, patch));
    if (!done.ok) refused.set(card_id, done.error);
  }
  return rows.map(({ card_id }) => refused.get(card_id) ?? null);
}

/** One card's write, or why it is refused; nothing where it has to be made by itself. */
function prepare(
  work: Work,
  ctx: Ctx,
  cards: Map<string, StoredCard>,
  parents: ReadonlyMap<string, ParentCard>,
  id: string,
  patch: CardPatch,
): CardWrite | EstateError | null {
  try {
    refuseOperations(patch);
    const before = requireCard(cards, id);
    const type = typeOf(work.metamodel, before);
    const input = cleanCardInput(patch);
    requireOnCard(ctx, EDIT, before);
    if (hasLevels(type) && movesCards(input)) return null;
    const moves = input.parent_id !== undefined && input.parent_id !== before.parent_id;
    if (moves && input.parent_id !== null) requireFittingParent(type, parents.get(input.parent_id!));
    return patchedCard(work, ctx, before, input, null);
  } catch (error) {
    if (error instanceof EstateError) return error;
    throw error;
  }
}

/**
 * Writes all that can be together. Those that meet another card are taken out of `writes` and refused, those that make a
 * circle are taken out.
 */
async function saveTogether(
  work: Work,
  ctx: Ctx,
  writes: Map<string, CardWrite>,
  moved: readonly string[],
  refused: Map<string, EstateError>,
): Promise<void> {
  for (let tries = 0; writes.size > 0; tries += 1) {
    const saved = await attempt(work, async (part) => {
      await saveCards(part, ctx, [...writes.values()]);
      const moving = moved.filter((id) => writes.has(id));
      const loops = moving.length > 0 ? await findLoops(part.sql, moving) : new Set<string>();
      if (loops.size > 0) throw new Circles(loops);
    });
    if (saved.ok) return;
    const { error } = saved;
    const guilty = error instanceof Circles ? [...error.cards] : [String(error.extra?.card_id ?? '')];
    const known = guilty.filter((id) => writes.has(id));
    if (known.length === 0 || tries === MAX_ATTEMPTS) {
      // one by one: each is refused for a reason of its own
      writes.clear();
      return;
    }
    for (const id of known) {
      writes.delete(id);
      // of those that make a circle together only the last one closes it
      if (!(error instanceof Circles)) refused.set(id, error);
    }
  }
}

class Circles extends EstateError {
  readonly cards: ReadonlySet<string>;

  constructor(cards: ReadonlySet<string>) {
    super('parent_cycle', 'Cards would lie below themselves.');
    this.cards = cards;
  }
}

/**
 * Archives many active cards; what is refused of one stops no other.
 * @returns for each card nothing, or why it was refused.
 */
export const archiveEachWithin = (work: Work, ctx: Ctx, ids: readonly string[]) =>
  together(work, ctx, ids, (part, cards) => archiveAll(part, ctx, cards, {}));

/**
 * Restores many archived cards; what is refused of one stops no other.
 * @returns for each card nothing, or why it was refused.
 */
export const restoreEachWithin = (work: Work, ctx: Ctx, ids: readonly string[]) =>
  together(work, ctx, ids, (part, cards) => restoreAll(part, ctx, cards));

/** All at once, or where one of them is refused, one by one. */
async function together(
  work: Work,
  ctx: Ctx,
  ids: readonly string[],
  act: (part: Work, cards: StoredCard[]) => Promise<unknown>,
): Promise<(EstateError | null)[]> {
  if (ids.length === 0) return [];
  await lockHierarchy(work.sql, 'exclusive');
  await lockCards(work, ids);
  const of = async (part: Work, wanted: readonly string[]): Promise<Attempt<unknown>> =>
    await attempt(part, async (inner) => {
      const cards = await loadCards(inner, ctx, wanted);
      return await act(
        inner,
        wanted.map((id) => requireCard(cards, id)),
      );
    });
  const all = await of(work, ids);
  if (all.ok) return ids.map(() => null);
  const errors: (EstateError | null)[] = [];
  for (const id of ids) {
    const one = await of(work, [id]);
    errors.push(one.ok ? null : one.error);
  }
  return errors;
}
