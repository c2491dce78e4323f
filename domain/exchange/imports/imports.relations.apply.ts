import { query } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields } from '../../../platform/errors.ts';
import { lockCards } from '../../inventory/cards/cards.load.ts';
import { checkRelationInput, seesRelationCosts } from '../../inventory/relations/relations.admit.ts';
import { loadCompeting, loadEnds } from '../../inventory/relations/relations.load.ts';
import { diffRelation, withInput } from '../../inventory/relations/relations.rules.ts';
import { saveRelations } from '../../inventory/relations/relations.save.ts';
import type { RelationEnd, RelationInput } from '../../inventory/relations/relations.types.ts';
import {
  createWorkingSet,
  type RelationWorkingSet,
} from '../../inventory/relations/relations.working-set.ts';
import { costErrors } from './imports.rights.ts';
import type { Applying, Outcome, RowOutcome } from './imports.types.ts';

/** A row of the plan with its write. */
interface PlannedRelation {
  line: number;
  relation_id: string;
  is_new: boolean;
  type: string;
  source_id: string;
  target_id: string;
  payload: RelationInput;
}

/**
 * Applies one batch of the plan in the caller's transaction: the ends are locked, each row is checked like a single
 * write, and all are written in a few statements, with an event for each.
 */
export async function applyRelations(applying: Applying, batch: number): Promise<RowOutcome[]> {
  const { work, ctx, jobId } = applying;
  const rows = await query(work.sql).rows<PlannedRelation>`select p.line, p.relation_id, p.is_new, p.type,
    p.source_id, p.target_id, r.payload
     from import_relation_plan p join import_relation_rows r on r.job_id = p.job_id and r.line = p.line
     where p.job_id = ${jobId} and p.batch = ${batch} order by p.line`;
  const cards = new Set(rows.flatMap(({ source_id, target_id }) => [source_id, target_id]));
  await lockCards(work, cards);
  const ends = await loadEnds(work.sql, ctx, cards);
  const competing = await loadCompeting(
    work.sql,
    rows.flatMap(({ type: key, source_id, target_id }) => {
      const type = work.metamodel.relationTypes.get(key);
      return type ? [{ type, source_id, target_id }] : [];
    }),
  );
  const relations = createWorkingSet(competing);
  const outcomes = rows.map((row): RowOutcome => {
    const known = applying.known.get(row.line);
    if (known) return { line: row.line, outcome: 'failed', errors: [known] };
    try {
      return { line: row.line, outcome: step(applying, relations, row, ends), errors: null };
    } catch (error) {
      if (!(error instanceof EstateError)) throw error;
      return { line: row.line, outcome: 'failed', errors: faultsOf(error) };
    }
  });
  await saveRelations(work, ctx, relations.writes(), ends);
  return outcomes;
}

/** Applies one row to the relations as they are after the previous rows. */
function step(
  { work, ctx }: Applying,
  relations: RelationWorkingSet,
  row: PlannedRelation,
  ends: ReadonlyMap<string, RelationEnd>,
): Outcome {
  const type = work.metamodel.relationTypes.get(row.type);
  const source = ends.get(row.source_id);
  const target = ends.get(row.target_id);
  if (!type || !work.metamodel.visibleRelationTypes.includes(row.type)) {
    throw new EstateError('not_found', 'The relation type was removed meanwhile.');
  }
  if (!source || !target) throw new EstateError('not_found', 'A card of the relation was deleted meanwhile.');
  const place = { type: type.key, source_id: source.id, target_id: target.id };
  const sees = seesRelationCosts(ctx, source, target);
  const costs = sees ? [] : costErrors(type, row.payload);
  if (costs.length > 0) throw invalidFields(costs);
  checkRelationInput(ctx, type, source, target, row.payload);
  const there = relations.find(place);
  if (row.is_new) {
    if (there) throw new EstateError('duplicate_relation', 'The cards have such a relation already.');
    relations.requireRoom(type, place);
    const empty = { id: row.relation_id, ...place, attributes: {}, description: null };
    relations.put(withInput(empty, row.payload));
    return 'created';
  }
  if (!there || there.id !== row.relation_id) {
    throw new EstateError('not_found', 'The relation was deleted meanwhile.');
  }
  const after = withInput(there, row.payload, sees ? [] : type.costKeys);
  if (Object.keys(diffRelation(there, after)).length === 0) return 'unchanged';
  relations.put(after);
  return 'updated';
}

function faultsOf(error: EstateError): FieldError[] {
  return error.errors ?? [{ field: 'row', code: error.code, message: error.message }];
}
