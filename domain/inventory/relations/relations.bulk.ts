import { EstateError } from '../../../platform/errors.ts';
import { commandWith } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { lockCards } from '../cards/cards.load.ts';
import { newIds } from '../cards/cards.save.ts';
import { checkRelationInput, guardDuplicates, requireManage, seesRelationCosts } from './relations.admit.ts';
import {
  type CardRef,
  loadCompeting,
  loadEnds,
  type ResolvedRef,
  refErrors,
  resolveRefs,
  type WantedRelation,
} from './relations.load.ts';
import type { RelationEnd, RelationInput } from './relations.model.ts';
import { diffRelation, requireFittingEnds, requireRelationType, withInput } from './relations.rules.ts';
import { saveRelations } from './relations.save.ts';
import { createWorkingSet, type RelationWorkingSet } from './relations.working-set.ts';

export interface BulkOperation extends RelationInput {
  row_index: number;
  action: 'upsert' | 'delete';
  type: string;
  source: CardRef;
  target: CardRef;
}

interface BulkRowResult {
  row_index: number;
  /** `noop`: the row would change nothing. */
  status: 'upserted' | 'deleted' | 'noop' | 'failed';
  relation_id: string | null;
  /** Why a row failed. */
  error: string | null;
  code: string | null;
}

type Outcome = Pick<BulkRowResult, 'status' | 'relation_id'>;

/**
 * Creates, changes and deletes many relations in one transaction and a fixed number of statements; each row is checked
 * like a single operation. A failed row is reported, the others are executed. A dry run returns the same and writes
 * nothing.
 */
export async function bulkRelations(ctx: Ctx, operations: BulkOperation[], dryRun: boolean) {
  const results = await guardDuplicates(() =>
    commandWith(ctx, { dryRun }, (work) => bulkRelationsWithin(work, ctx, operations)),
  );
  const count = (status: BulkRowResult['status']) =>
    results.filter((result) => result.status === status).length;
  return {
    results,
    upserted: count('upserted'),
    deleted: count('deleted'),
    failed: count('failed'),
    dry_run: dryRun,
  };
}

/** {@link bulkRelations} within another command: one result for each row. */
export async function bulkRelationsWithin(
  work: Work,
  ctx: Ctx,
  operations: BulkOperation[],
): Promise<BulkRowResult[]> {
  const ends = operations.flatMap((row) => [row.source, row.target]);
  const refs = await resolveRefs(work.sql, ctx, ends);
  const cardIds = new Set(refs.flatMap((ref) => ('id' in ref ? ref.id : [])));
  await lockCards(work, cardIds);
  return await applyOperations(work, ctx, operations, refs, await loadEnds(work.sql, ctx, cardIds));
}

/** {@link bulkRelationsWithin} for ends that are named by id and whose cards the caller has locked. */
export async function bulkRelationsOfLocked(
  work: Work,
  ctx: Ctx,
  operations: (BulkOperation & Record<'source' | 'target', { id: string }>)[],
): Promise<BulkRowResult[]> {
  const ids = operations.flatMap(({ source, target }) => [source.id, target.id]);
  const ends = await loadEnds(work.sql, ctx, new Set(ids));
  const refs = ids.map((id): ResolvedRef => (ends.has(id) ? { id } : { error: 'missing' }));
  return await applyOperations(work, ctx, operations, refs, ends);
}

/** @param refs the ends of each operation, source before target. */
async function applyOperations(
  work: Work,
  ctx: Ctx,
  operations: BulkOperation[],
  refs: ResolvedRef[],
  ends: Map<string, RelationEnd>,
): Promise<BulkRowResult[]> {
  const { sql, metamodel } = work;
  const rows = operations.map((operation, n) => ({
    operation,
    source: refs[2 * n]!,
    target: refs[2 * n + 1]!,
  }));
  const wanted = rows.flatMap(({ operation, source, target }): WantedRelation[] => {
    const type = metamodel.relationTypes.get(operation.type);
    return type && 'id' in source && 'id' in target
      ? [{ type, source_id: source.id, target_id: target.id }]
      : [];
  });
  const workingSet = createWorkingSet(await loadCompeting(sql, wanted));
  const ids = await newIds(work, rows.length);

  const results = rows.map(({ operation, source, target }, n): BulkRowResult => {
    const { row_index } = operation;
    try {
      const cards = { source: cardOf('source', source, ends), target: cardOf('target', target, ends) };
      const outcome = step(work, ctx, workingSet, operation, cards, ids[n]!);
      return { row_index, ...outcome, error: null, code: null };
    } catch (error) {
      if (!(error instanceof EstateError)) throw error;
      const code = error.errors?.[0]?.code ?? error.code;
      return { row_index, status: 'failed', relation_id: null, error: error.message, code };
    }
  });
  await saveRelations(work, ctx, workingSet.writes(), ends);
  return results;
}

function cardOf(field: string, ref: ResolvedRef, ends: Map<string, RelationEnd>): RelationEnd | undefined {
  if ('id' in ref) return ends.get(ref.id);
  const message = refErrors[ref.error];
  throw new EstateError('validation_failed', `${field}: ${message}`, {
    errors: [{ field, code: `reference_${ref.error}`, message }],
  });
}

/** Applies one row to the working set with the changes of the previous rows. */
function step(
  work: Work,
  ctx: Ctx,
  workingSet: RelationWorkingSet,
  operation: BulkOperation,
  cards: { source: RelationEnd | undefined; target: RelationEnd | undefined },
  newId: string,
): Outcome {
  const type = requireRelationType(work.metamodel, operation.type);
  const { source, target } = requireFittingEnds(type, cards.source, cards.target);
  requireManage(ctx, source, target);
  const place = { type: type.key, source_id: source.id, target_id: target.id };
  const there = workingSet.find(place);
  if (operation.action === 'delete') {
    if (!there) return { status: 'noop', relation_id: null };
    workingSet.remove(there);
    return { status: 'deleted', relation_id: there.id };
  }
  const values = checkRelationInput(work, ctx, { type, source, target }, operation, there);
  if (!there) {
    workingSet.requireCardinality(type, place);
    workingSet.put(withInput({ id: newId, ...place, attributes: {}, description: null }, values));
    return { status: 'upserted', relation_id: newId };
  }
  const hidden = seesRelationCosts(ctx, source, target) ? [] : type.costKeys;
  const after = withInput(there, values, hidden);
  if (Object.keys(diffRelation(there, after)).length === 0) return { status: 'noop', relation_id: there.id };
  workingSet.put(after);
  return { status: 'upserted', relation_id: there.id };
}
