import { EstateError, invalidField } from '../../../../platform/errors.ts';
import type { Ctx, Work } from '../../../kernel/context.ts';
import type { CardType } from '../../../kernel/metamodel/metamodel.compile.ts';
import { levelsAfter } from '../cards.levels.ts';
import type { StoredCard } from '../cards.load.ts';
import { ancestorsOf, requireParent } from '../cards.tree.ts';
import { hasLevels, LEVEL_FIELD, MACRO } from '../rules/capability.ts';

/** What a merge does to the hierarchy. */
export interface MergedTree {
  /** The new parents of the merged cards' children, and of the survivor where it moves. */
  moved: Map<string, string | null>;
  /** The new levels of capabilities that stay. */
  levels: Map<string, string>;
}

/**
 * Decides where the merged cards' children and the survivor lie, under the exclusive hierarchy lock: children move to
 * the survivor. What lies between a merged card and a survivor below it moves up instead, to the nearest card that
 * stays.
 * @param chosen the survivor's new parent; undefined leaves it where it is.
 * @throws EstateError `validation_failed`, `parent_cycle`, `capability_too_deep`.
 */
export async function planTree(
  work: Work,
  ctx: Ctx,
  {
    type,
    survivor,
    merged,
    chosen,
  }: { type: CardType; survivor: StoredCard; merged: StoredCard[]; chosen: string | null | undefined },
): Promise<MergedTree> {
  const { sql } = work;
  const gone = new Set(merged.map((card) => card.id));
  const above = await ancestorsOf(sql, [survivor.id, ...gone]);
  const { rows: children } = await sql.raw(
    'select id, parent_id from cards where parent_id = any(?::uuid[]) order by id',
    [[...gone]],
  );
  /** The nearest card that stays, of a card's parents. */
  const staying = (id: string) => above.get(id)!.find((up) => !gone.has(up)) ?? null;
  const aboveSurvivor = new Set(above.get(survivor.id));
  const moved = new Map<string, string | null>();
  for (const child of children as { id: string; parent_id: string }[]) {
    if (gone.has(child.id)) continue;
    const between = child.id === survivor.id || aboveSurvivor.has(child.id);
    moved.set(child.id, between ? staying(child.parent_id) : survivor.id);
  }
  if (chosen !== undefined && chosen !== survivor.parent_id) {
    const parent = chosen !== null && gone.has(chosen) ? staying(chosen) : chosen;
    await requireParent(work, ctx, type, parent, null);
    moved.set(survivor.id, parent);
  }
  const parent = moved.has(survivor.id) ? moved.get(survivor.id) : survivor.parent_id;
  if (hasLevels(type) && survivor.attributes[LEVEL_FIELD] === MACRO && parent !== null) {
    throw invalidField('fields.parent_id', 'macro_not_root', 'a Macro stays a root');
  }
  return { moved, levels: await levelsAfter(work, { moved, gone }) };
}

/** The refusal of a merge of cards that are not of one type, or not in the right state. */
export function requireMergeable(survivor: StoredCard, merged: StoredCard[]): void {
  const faults = merged.flatMap((card, n) =>
    card.type === survivor.type
      ? []
      : {
          field: `merged_ids.${n}`,
          code: 'type_differs',
          message: `must be a card of the type ${survivor.type}`,
        },
  );
  if (faults.length > 0) {
    throw new EstateError('validation_failed', 'Only cards of one type can be merged.', { errors: faults });
  }
  if (survivor.status !== 'ACTIVE') {
    throw new EstateError('wrong_state', 'The surviving card is archived; restore it first.');
  }
}
