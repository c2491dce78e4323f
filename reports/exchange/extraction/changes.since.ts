import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import { parseFilter } from '../../../domain/inventory/filters/filters.parser.ts';
import type { FilterNode } from '../../../domain/inventory/filters/filters.types.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { checkPosition, feedEnds } from '../../../domain/kernel/events/changes.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import type { CardChanges } from './changes.cards.ts';
import type { Moved } from './changes.moved.ts';

/**
 * Checks the position after which changes are asked for. Ids of what is gone are told, as in the change feed.
 * @returns it, and how many positions there are behind it.
 * @throws EstateError `forbidden` without `inventory.view`, `validation_failed`, `position_expired`.
 */
export async function checkAfter(ctx: Ctx, text: string): Promise<{ after: number; since: number }> {
  requirePermission(ctx.caller, 'inventory.view');
  const ends = await feedEnds(ctx.db);
  const after = checkPosition(text, ends, 'after');
  return { after, since: ends.newest - after };
}

/** Over how many relations a filter looks at other cards. */
function hopsOf(node: FilterNode | null): number {
  if (!node) return 0;
  if (node.kind === 'not') return hopsOf(node.item);
  if (node.kind !== 'condition') return Math.max(...node.items.map(hopsOf));
  return node.path.filter(({ text }) => text === 'relation').length;
}

/** What decides which cards may look different to a request. */
export function cardChanges(
  request: ExportRequest,
  { after, types, moved }: { after: number; types: string[]; moved: Moved },
): CardChanges {
  const { profile, columns, filter } = request;
  const every = request.kind === 'relations' || request.types.length === 0;
  return {
    after,
    moved,
    told: every ? [...types, ...moved.cardTypes.keys()] : types,
    paths: profile === 'roundtrip' && (columns.length === 0 || columns.includes('parent_path')),
    hops: hopsOf(parseFilter(filter)),
    authors: /created_by|updated_by/.test(filter),
    filtered: filter.trim() !== '',
  };
}

/** Relation types of which the caller may have been told relations before: the visible ones, and those that were. */
export function relationTypesTold({ metamodel }: Ctx, moved: Moved): string[] {
  const before = [...metamodel.relationTypes.values()].filter(
    (type) => moved.cardTypes.has(type.source_type_key) || moved.cardTypes.has(type.target_type_key),
  );
  return [...metamodel.visibleRelationTypes, ...moved.relationTypes.keys(), ...before.map(({ key }) => key)];
}
