import type { StoredCard } from '../../inventory/cards/cards.load.ts';
import { type Changes, costKeysIn, diffCard } from '../../inventory/cards/rules/diff.ts';
import type { CostRow } from '../../inventory/costs/costs.model.ts';
import type { StoredRelation } from '../../inventory/relations/relations.model.ts';
import { diffRelation } from '../../inventory/relations/relations.rules.ts';
import type { Ctx } from '../../kernel/context.ts';
import { may } from '../../kernel/permissions/policy.ts';
import type { AttachedCard, PeopleAndTags } from './imports.people.write.ts';

/** Without costs, unless the caller may see those of all cards: the file of the report has no rights for single rows. */
function shownTo({ caller }: Ctx, changes: Changes, costKeys: readonly string[]): Changes {
  if (!may(caller, 'costs.view')) for (const key of costKeysIn(changes, costKeys) ?? []) delete changes[key];
  return changes;
}

/** The old and new value of each field of a card that its row changes, tags and stakeholders by their names. */
export function cardChanges(
  ctx: Ctx,
  before: StoredCard | null,
  { card, type, attached }: AttachedCard & { card: StoredCard },
  { tags, holders, catalogue, users }: PeopleAndTags,
): Changes {
  const changes = shownTo(ctx, diffCard(before, card), type.costKeys);
  if (attached.addedTags.length + attached.removedTags.length > 0) {
    const stored = [...(tags.get(card.id) ?? [])];
    const kept = stored.filter((id) => !attached.removedTags.includes(id));
    const names = (ids: string[]) =>
      ids.map((id) => `${catalogue.get(id)?.group}/${catalogue.get(id)?.name}`).sort();
    changes.tags = { old: names(stored), new: names([...kept, ...attached.addedTags]) };
  }
  if (attached.changesHolders) {
    const stored = holders.get(card.id) ?? [];
    const removed = new Set(attached.removedHolders.map(({ id }) => id));
    const kept = stored.filter(({ id }) => !removed.has(id));
    const names = (some: readonly { role: string; user_id: string }[]) =>
      some.map(({ role, user_id }) => `${role}:${users.get(user_id)}`).sort();
    changes.stakeholders = { old: names(stored), new: names([...kept, ...attached.addedHolders]) };
  }
  return changes;
}

/** The old and new value of each member of a relation that its row changes. */
export function relationChanges(
  ctx: Ctx,
  { costKeys }: { costKeys: readonly string[] },
  before: StoredRelation | null,
  after: StoredRelation,
): Changes {
  return shownTo(ctx, diffRelation(before, after), costKeys);
}

/** The old and new value of each member of a cost that its row changes. */
export function costChanges(before: CostRow | null, values: Partial<CostRow>): Changes {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([key, value]) => key !== 'id' && (before !== null || value !== null))
      .map(([key, value]) => [key, { old: before?.[key as keyof CostRow] ?? null, new: value }]),
  );
}
