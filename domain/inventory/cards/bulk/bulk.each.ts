import { EstateError } from '../../../../platform/errors.ts';
import { type Attempt, attempt, commandWith } from '../../../kernel/command.ts';
import type { Ctx, Work } from '../../../kernel/context.ts';
import { type CardRight, requireOnCard, requireOnCards } from '../../../kernel/permissions/policy.ts';
import { archiveAll, restoreAll } from '../cards.archive.ts';
import { loadCards, lockCards, lockHierarchy, requireCard, type StoredCard, typeOf } from '../cards.load.ts';
import { ARCHIVE, DELETE, deleteAll, type RemovalRequest } from '../cards.removal.ts';
import { type CardWrite, saveCards } from '../cards.save.ts';
import { findCyclicMoves, type ParentCard, readParents, requireFittingParent } from '../cards.tree.ts';
import { type CardPatch, EDIT, movesCards, patchCardWithin, patchedCard } from '../cards.write.ts';
import { hasLevels } from '../rules/capability.ts';
import { cleanCardInput, refuseOperations } from '../rules/values.ts';

/** How often the batch is written again without the cards that conflicted in the previous attempt. */
const MAX_ATTEMPTS = 5;

/** A change of one card. */
export interface CardPatchRow {
  card_id: string;
  patch: CardPatch;
}

/**
 * Changes many cards, each with its own patch and with the checks of a single patch, in few statements. If one card is
 * refused, the others are still changed. Each card occurs once.
 * @returns for each row undefined, or why it was refused.
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
  // Levels of the card and its descendants depend on its place: such cards are moved one at a time.
  for (const { card_id, patch } of rows) {
    if (refused.has(card_id) || writes.has(card_id)) continue;
    const done = await attempt(work, (part) => patchCardWithin(part, ctx, card_id, patch));
    if (!done.ok) refused.set(card_id, done.error);
  }
  return rows.map(({ card_id }) => refused.get(card_id) ?? null);
}

/** The write of one card, or why it is refused; undefined if it has to be executed separately. */
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
 * Writes all cards that can be written together. Cards that conflict with another card are removed from `writes` and
 * refused; cards that form a cycle are removed.
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
      const loops = moving.length > 0 ? await findCyclicMoves(part.sql, moving) : new Set<string>();
      if (loops.size > 0) throw new Circles(loops);
    });
    if (saved.ok) return;
    const { error } = saved;
    const guilty = error instanceof Circles ? [...error.cards] : [String(error.extra?.card_id ?? '')];
    const known = guilty.filter((id) => writes.has(id));
    if (known.length === 0 || tries === MAX_ATTEMPTS) {
      // One at a time: each is refused for its own reason.
      writes.clear();
      return;
    }
    for (const id of known) {
      writes.delete(id);
      // Of moves that form a cycle together, only the last one closes it.
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
 * Archives many active cards. If one card is refused, the others are still archived.
 * @returns for each card undefined, or why it was refused.
 */
export const archiveEachWithin = (work: Work, ctx: Ctx, ids: readonly string[]) =>
  together(work, ctx, ids, (part, cards) => archiveAll(part, ctx, cards, {}));

/**
 * Restores many archived cards. If one card is refused, the others are still restored.
 * @returns for each card undefined, or why it was refused.
 */
export const restoreEachWithin = (work: Work, ctx: Ctx, ids: readonly string[]) =>
  together(work, ctx, ids, (part, cards) => restoreAll(part, ctx, cards));

/** All at once or, if one of them is refused, one at a time. */
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
      const chosen = wanted.map((id) => requireCard(cards, id));
      return await act(inner, chosen);
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

/** The options of a bulk removal; related cards cannot be selected individually. */
interface BulkRemovalRequest extends Omit<RemovalRequest, 'related_card_ids'> {
  card_ids: string[];
  dry_run: boolean;
}

async function removeAll(
  ctx: Ctx,
  request: BulkRemovalRequest,
  right: CardRight,
  act: typeof archiveAll,
  reasonToSkip: (card: StoredCard) => string | undefined,
) {
  const { card_ids, dry_run } = request;
  return await commandWith(ctx, { dryRun: dry_run }, async (work) => {
    const { chosen, skipped } = await chooseCards(work, ctx, card_ids, reasonToSkip);
    requireOnCards(ctx, right, chosen);
    const plan = chosen.length > 0 ? await act(work, ctx, chosen, request) : undefined;
    const cascaded = new Set([...(plan?.cascaded ?? []), ...(plan?.related ?? [])]);
    return {
      requested: card_ids.length,
      removed: plan?.removed.filter((id) => !cascaded.has(id)) ?? [],
      cascaded_card_ids: [...cascaded],
      moved_card_ids: [...(plan?.moved.keys() ?? [])],
      skipped,
      dry_run,
    };
  });
}

/**
 * Archives cards in one operation: all of them or, if one is refused, none. Cards that are already archived or do not
 * exist are skipped.
 * @throws EstateError `forbidden` naming the cards, `children_present`, `too_many_descendants`, `sibling_name_taken`.
 */
export const archiveCards = (ctx: Ctx, request: BulkRemovalRequest) =>
  removeAll(ctx, request, ARCHIVE, archiveAll, ({ status }) =>
    status === 'ARCHIVED' ? 'already_archived' : undefined,
  );

/**
 * Deletes cards, active or archived: all of them or none. Cards that do not exist are skipped.
 * @throws EstateError as {@link archiveCards}.
 */
export const deleteCards = (ctx: Ctx, request: BulkRemovalRequest) =>
  removeAll(ctx, request, DELETE, deleteAll, () => undefined);

/**
 * Restores many archived cards: all of them or none, parents together with their children.
 * @throws EstateError `forbidden` naming the cards, `wrong_state` below an archived card, `sibling_name_taken`.
 */
export async function restoreCards(ctx: Ctx, request: { card_ids: string[]; dry_run: boolean }) {
  return await commandWith(ctx, { dryRun: request.dry_run }, async (work) => {
    const { chosen, skipped } = await chooseCards(work, ctx, request.card_ids, ({ status }) =>
      status === 'ACTIVE' ? 'already_active' : undefined,
    );
    await restoreAll(work, ctx, chosen);
    const restored_card_ids = chosen.map((card) => card.id);
    const { card_ids, dry_run } = request;
    return { requested: card_ids.length, restored_card_ids, skipped, dry_run };
  });
}

/** A card that a bulk operation skips. */
interface SkippedCard {
  card_id: string;
  reason: string;
}

/** The ids in canonical form, without duplicates. */
export const uniqueIds = (ids: string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))];

/** The cards of a bulk operation that changes their state, locked, and the skipped ones. */
async function chooseCards(
  work: Work,
  ctx: Ctx,
  ids: string[],
  reasonToSkip: (card: StoredCard) => string | undefined,
): Promise<{ chosen: StoredCard[]; skipped: SkippedCard[] }> {
  await lockHierarchy(work.sql, 'exclusive');
  const wanted = uniqueIds(ids);
  await lockCards(work, wanted);
  const cards = await loadCards(work, ctx, wanted);
  const chosen: StoredCard[] = [];
  const skipped: SkippedCard[] = [];
  for (const card_id of wanted) {
    const card = cards.get(card_id);
    const reason = card ? reasonToSkip(card) : 'not_found';
    if (reason === undefined) chosen.push(card!);
    else skipped.push({ card_id, reason });
  }
  return { chosen, skipped };
}
