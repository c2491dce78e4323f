import { EstateError, type FieldError, invalidFields } from '../../../../platform/errors.ts';
import { command } from '../../../kernel/command.ts';
import type { Ctx, Work } from '../../../kernel/context.ts';
import { requireOnCards, requirePermission, seesCosts } from '../../../kernel/permissions/policy.ts';
import { refuseHiddenCosts } from '../cards.costs.ts';
import { levelsAfter } from '../cards.levels.ts';
import { loadCards, lockCards, lockHierarchy, type StoredCard, typeOf } from '../cards.load.ts';
import { type CardPatch, EDIT, keptKeys } from '../cards.patch.ts';
import { type CardWrite, levelWrites, type SavedCard, saveCards, settled } from '../cards.save.ts';
import { summedKeys } from '../cards.sums.ts';
import { requireParent } from '../cards.tree.ts';
import { hasLevels, LEVEL_FIELD, MACRO } from '../rules/capability.ts';
import type { CardInput } from '../rules/card.types.ts';
import type { Changes } from '../rules/diff.ts';
import { cleanCardInput, refuseOperations, validateCardInput } from '../rules/input.ts';
import { checkLifecycleOrder } from '../rules/lifecycle.ts';
import { patchedValues } from '../rules/merge.ts';
import { uniqueIds } from './bulk.rows.ts';

interface BulkPatchRow {
  /** The place of the id in the request. */
  row_index: number;
  card_id: string;
  status: 'updated' | 'would_update' | 'unchanged' | 'not_found';
  /** Null where there is no such card. */
  id: string | null;
  /** What has changed, in the shape of a card. */
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}

export interface BulkPatchAnswer {
  dry_run: boolean;
  results: BulkPatchRow[];
  updated: number;
  would_update: number;
}

/**
 * Makes one change to many cards by the rules of a single patch, in a fixed number of statements: to all of them or,
 * when one is refused, to none. Cards that it does not change are not written.
 * @throws EstateError as `patchCard` does, naming the card where it is one alone.
 */
export async function patchCards(
  ctx: Ctx,
  ids: string[],
  patch: CardPatch,
  dryRun: boolean,
): Promise<BulkPatchAnswer> {
  requirePermission(ctx.caller, 'inventory.bulk_edit');
  const wanted = uniqueIds(ids);
  return await command(
    ctx,
    async (work) => {
      const input = cleanCardInput(patch);
      refuseOperations(patch);
      const leveled = input.attributes != null && LEVEL_FIELD in input.attributes;
      const moves = leveled || input.parent_id !== undefined;
      if (moves) await lockHierarchy(work.sql, 'exclusive');
      const levels = moves ? await levelsOf(work, wanted, input, leveled) : new Map<string, string>();
      await lockCards(work, new Set([...wanted, ...levels.keys()]));
      const cards = await loadCards(work, ctx, wanted);
      requireOnCards(ctx, EDIT, cards.values());
      if (input.parent_id !== undefined) {
        const moving = [...cards.values()].filter((card) => card.parent_id !== input.parent_id);
        for (const type of new Set(moving.map((card) => typeOf(work.metamodel, card)))) {
          await requireParent(work, ctx, type, input.parent_id, null);
        }
      }
      const writes = [...cards.values()].map((card) =>
        patchedCard(work, ctx, card, input, moves ? levels : null),
      );
      if (moves) {
        const others = new Map([...levels].filter(([id]) => !cards.has(id)));
        writes.push(...levelWrites(work, await loadCards(work, ctx, others.keys()), others));
      }
      const saved = await saveCards(work, ctx, writes);
      return answerOf(work, ctx, ids, cards, saved, dryRun);
    },
    { dryRun },
  );
}

/** The levels that follow from the patch. */
async function levelsOf(
  work: Work,
  ids: string[],
  input: CardInput,
  leveled: boolean,
): Promise<Map<string, string>> {
  const { parent_id } = input;
  const macro = input.attributes?.[LEVEL_FIELD] === MACRO;
  return await levelsAfter(work, {
    moved: new Map(parent_id === undefined ? [] : ids.map((id) => [id, parent_id])),
    macros: new Map(leveled ? ids.map((id) => [id, macro]) : []),
  });
}

/**
 * One card's write. `levels` are those that follow from the patch, null where none can.
 * @throws EstateError `forbidden`, `validation_failed`.
 */
export function patchedCard(
  work: Work,
  ctx: Ctx,
  before: StoredCard,
  input: CardInput,
  levels: ReadonlyMap<string, string> | null,
): CardWrite {
  const type = typeOf(work.metamodel, before);
  refuseHiddenCosts(type.costKeys, input.attributes, seesCosts(ctx, before));
  const checks = { stored: before.attributes, summed: summedKeys(type, before) };
  const faults = validateCardInput(work.metamodel, type.key, input, checks);
  const after = { ...before, ...patchedValues(before, input, keptKeys(ctx, type, before)) };
  if (faults.length === 0) faults.push(...checkLifecycleOrder(after.lifecycle));
  if (levels && hasLevels(type)) {
    const level = levels.get(before.id) ?? (before.attributes[LEVEL_FIELD] as string);
    faults.push(...levelFaults(input, before, level));
    after.attributes = { ...after.attributes, [LEVEL_FIELD]: level };
  }
  if (faults.length > 0) throw ofCard(invalidFields(faults), before);
  return { before, after: settled(type, before, after) };
}

/** Checks the level that is sent, or that a Macro keeps, against the one that follows from the place. */
function levelFaults(input: CardInput, before: StoredCard, level: string): FieldError[] {
  const field = `attributes.${LEVEL_FIELD}`;
  const sent = input.attributes?.[LEVEL_FIELD];
  const expected = sent === undefined && before.attributes[LEVEL_FIELD] === MACRO ? MACRO : sent;
  if (expected === undefined || expected === null || expected === level) return [];
  return expected === MACRO
    ? [{ field, code: 'macro_not_root', message: 'is Macro on roots only' }]
    : [{ field, code: 'readonly', message: `follows from the place in the hierarchy, ${level}` }];
}

function ofCard(error: EstateError, { id, type }: StoredCard): EstateError {
  const { code, message, errors, extra } = error;
  return new EstateError(code, message, {
    ...(errors ? { errors } : {}),
    extra: { ...extra, card_id: id, card_type: type },
  });
}

function answerOf(
  work: Work,
  ctx: Ctx,
  ids: string[],
  cards: ReadonlyMap<string, StoredCard>,
  saved: SavedCard[],
  dryRun: boolean,
): BulkPatchAnswer {
  const written = new Map(saved.map((write) => [write.before.id, write]));
  const seen = new Set<string>();
  const results: BulkPatchRow[] = [];
  for (const [row_index, given] of ids.entries()) {
    const card_id = given.toLowerCase();
    if (seen.has(card_id)) continue;
    seen.add(card_id);
    const card = cards.get(card_id);
    const write = written.get(card_id);
    const row = { row_index, card_id, id: card ? card_id : null };
    if (!card || !write) {
      results.push({ ...row, status: card ? 'unchanged' : 'not_found', before: {}, after: {} });
      continue;
    }
    const hidden = seesCosts(ctx, card) ? [] : typeOf(work.metamodel, card).costKeys;
    results.push({
      ...row,
      status: dryRun ? 'would_update' : 'updated',
      before: nested(write.changes, 'old', hidden),
      after: nested(write.changes, 'new', hidden),
    });
  }
  const count = results.filter(({ status }) => status === 'updated' || status === 'would_update').length;
  return { dry_run: dryRun, results, updated: dryRun ? 0 : count, would_update: dryRun ? count : 0 };
}

/** One side of changes in the shape of a card; the attributes named in `hidden` are left out. */
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
