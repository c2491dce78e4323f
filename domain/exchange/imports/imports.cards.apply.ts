import { embed, query, type Transaction } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields } from '../../../platform/errors.ts';
import { loadCards, lockCards, lockHierarchy, type StoredCard } from '../../inventory/cards/cards.load.ts';
import { type CardWrite, insertCards, levelWrites, saveCards } from '../../inventory/cards/cards.save.ts';
import { findCyclicMoves, readParents } from '../../inventory/cards/cards.tree.ts';
import { nameTaken } from '../../inventory/cards/cards.unique.ts';
import { hasLevels, levelAt } from '../../inventory/cards/rules/capability.ts';
import { checkRelationInput, seesRelationCosts } from '../../inventory/relations/relations.admit.ts';
import { loadCompeting, loadEnds } from '../../inventory/relations/relations.load.ts';
import type { RelationEnd, RelationInput } from '../../inventory/relations/relations.model.ts';
import { diffRelation, withInput } from '../../inventory/relations/relations.rules.ts';
import { saveRelations } from '../../inventory/relations/relations.save.ts';
import {
  createWorkingSet,
  type RelationWorkingSet,
} from '../../inventory/relations/relations.working-set.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { mergeCard, newCard, sinceRead } from './imports.cards.merge.ts';
import { parentColumn } from './imports.cards.stage.ts';
import type { CardPayload, StagedCard } from './imports.cards.types.ts';
import { cardChanges, relationChanges } from './imports.changes.ts';
import { nameOfLine } from './imports.lines.ts';
import {
  type AttachedCard,
  attachedBy,
  outdatedAttached,
  type PeopleAndTags,
  readPeopleAndTags,
  savePeopleAndTags,
} from './imports.people.write.ts';
import { costErrors } from './imports.rights.ts';
import { type Applying, BatchConflict, type RowOutcome } from './imports.types.ts';

/** A row of the plan with its write. */
interface PlannedCard {
  line: number;
  card_id: string;
  is_new: boolean;
  parent_id: string | null;
  parent_line: number | null;
  level: string | null;
  structural: boolean;
  type: string;
  parent_by: StagedCard['parent_by'];
  payload: CardPayload;
  /** Whether the row that creates the parent has failed since planning. */
  orphaned: boolean;
}

/** The write of one row. */
interface CardStep {
  row: PlannedCard;
  type: CardType;
  before: StoredCard | null;
  after: StoredCard;
  /** Whether the card itself changes. */
  changed: boolean;
  write?: CardWrite;
  attached: AttachedCard['attached'];
}

/**
 * Applies one batch of the plan in the caller's transaction: cards are locked, merged like in a single write, and
 * written in a few statements, with an event for each.
 * @throws BatchConflict if concurrent writes have invalidated the plan.
 */
export async function applyCards(applying: Applying, batch: number): Promise<RowOutcome[]> {
  const { work, jobId } = applying;
  const ctx = { ...applying.ctx, metamodel: work.metamodel };
  const rows = await readBatch(applying, batch);
  await lockHierarchy(work.sql, rows.some(({ structural }) => structural) ? 'exclusive' : 'shared');
  const ids = rows.filter(({ is_new }) => !is_new).map(({ card_id }) => card_id);
  if (ids.length > 0) await lockCards(work, ids);
  const stored = ids.length > 0 ? await loadCards(work, ctx, ids) : new Map<string, StoredCard>();
  const around = await readPeopleAndTags(work.sql, rows);

  const errors = new Map<number, FieldError[]>();
  const steps: CardStep[] = [];
  for (const row of rows) {
    const error = applying.known.get(row.line) ?? orphanError(row, errors);
    const step = error ? [error] : prepare(row);
    if (Array.isArray(step)) errors.set(row.line, step);
    else steps.push(step);
  }

  function prepare(row: PlannedCard): CardStep | FieldError[] {
    const { card_id, payload, parent_id, level } = row;
    const before = row.is_new ? null : (stored.get(card_id) ?? null);
    const type = work.metamodel.cardTypes.get(row.type);
    if (!type) return [{ field: 'type', code: 'unknown_type', message: 'was removed while the import ran' }];
    if (!row.is_new && !before) {
      return [{ field: 'id', code: 'unknown_id', message: 'the card was deleted meanwhile' }];
    }
    const outdated = outdatedAttached(payload, type, around);
    if (outdated.length > 0) return outdated;
    const attached = attachedBy(card_id, payload, around);
    const cardRow = { type, payload, parent_id, level, archive_batch_id: jobId };
    if (!before) {
      const { card, errors: wrong } = newCard(ctx, card_id, cardRow, attached);
      return card ? { row, type, before, after: card, changed: true, attached } : wrong;
    }
    // A row that does not move its card must not revert the move of another row.
    const place = row.structural ? cardRow : { ...cardRow, parent_id: before.parent_id };
    const { errors: wrong, after, changed, event } = mergeCard(ctx, before, place, attached);
    if (wrong.length > 0) return wrong;
    return { row, type, before, after, changed, write: { before, after, event }, attached };
  }

  await refuseTaken(applying, steps);
  await write(applying, steps, around);
  if (!applying.dryRun) await verifyPlaces(applying, steps);
  return outcomesOf(applying, rows, steps, errors, around);
}

async function readBatch({ work, jobId }: Applying, batch: number): Promise<PlannedCard[]> {
  const rows = await query(work.sql).rows`select p.line, p.card_id, p.is_new, p.parent_id, p.parent_line,
    p.level, p.structural, r.type, r.parent_by,
       r.payload, coalesce(o.outcome = 'failed', false) as orphaned
     from import_card_plan p
     join import_card_rows r on r.job_id = p.job_id and r.line = p.line
     left join import_outcomes o on o.job_id = p.job_id and o.line = p.parent_line
     where p.job_id = ${jobId} and p.batch = ${batch} order by p.line`;
  return inTreeOrder(rows);
}

/** Rows of a batch with parents before their children. */
function inTreeOrder(rows: PlannedCard[]): PlannedCard[] {
  const byLine = new Map(rows.map((row) => [row.line, row]));
  const ordered = new Set<PlannedCard>();
  for (const row of rows) {
    const chain: PlannedCard[] = [];
    for (let at: PlannedCard | undefined = row; at && !ordered.has(at); ) {
      chain.push(at);
      at = at.parent_line === null ? undefined : byLine.get(at.parent_line);
    }
    for (const next of chain.reverse()) ordered.add(next);
  }
  return [...ordered];
}

function orphanError(row: PlannedCard, errors: ReadonlyMap<number, unknown>): FieldError | undefined {
  const { parent_line, is_new, structural } = row;
  if (parent_line === null || (!is_new && !structural)) return undefined;
  if (!row.orphaned && !errors.has(parent_line)) return undefined;
  const message = `the row of the parent, ${nameOfLine(parent_line)}, has failed`;
  return { field: parentColumn(row.parent_by), code: 'parent_failed', message };
}

/** Finds the rows that violate a unique index. @throws BatchConflict naming them. */
async function refuseTaken({ work, searchTaken, known }: Applying, steps: CardStep[]): Promise<void> {
  if (!searchTaken) return;
  const written = steps.map(({ row, after }) => ({ ...after, line: row.line, is_new: row.is_new }));
  const taken = await findTaken(work.sql, written);
  if (taken.size > 0) throw new BatchConflict(new Map([...known, ...taken]));
}

async function write(applying: Applying, steps: CardStep[], around: PeopleAndTags): Promise<void> {
  const { work, ctx } = applying;
  const cards = steps.filter(({ before }) => before === null).map(({ after }) => after);
  await insertCards(work, ctx, cards);
  const writes = steps.flatMap((step) => step.write ?? []);
  await saveCards(work, ctx, writes);
  const attachedTo = steps.map(({ after, type, attached }) => ({ card: after, type, attached }));
  await savePeopleAndTags(work, attachedTo, around);
  const moved = steps.filter(({ row, type }) => row.structural && row.level !== null && hasLevels(type));
  if (moved.length === 0) return;
  const places = moved.map(({ row }) => ({ id: row.card_id, level: row.level! }));
  const levels = await levelsToFollow(work.sql, places);
  await lockCards(work, levels.keys());
  await saveCards(work, ctx, levelWrites(work, await loadCards(work, ctx, levels.keys()), levels));
}

/**
 * Checks the parent of each card again: concurrent writers may have moved, archived or deleted cards since planning.
 * @throws BatchConflict naming the rows that are no longer valid.
 */
async function verifyPlaces({ work, known }: Applying, steps: CardStep[]): Promise<void> {
  const placed = steps.filter(({ row }) => row.is_new || row.structural);
  const moved = placed.filter(({ row }) => row.structural).map(({ row }) => row.card_id);
  const archived = steps.filter(({ row, after }) => row.structural && after.status === 'ARCHIVED');
  const parentIds = new Set(placed.flatMap(({ after }) => after.parent_id ?? []));
  if (parentIds.size === 0 && archived.length === 0) return;
  const parents = await readParents(work.sql, [...parentIds]);
  const loops = moved.length > 0 ? await findCyclicMoves(work.sql, moved) : new Set();
  const ids = archived.map(({ row }) => row.card_id);
  const abandoning = await findAbandoning(work.sql, ids);

  const errorOf = ({ row, type, after }: CardStep): FieldError | undefined => {
    const field = parentColumn(row.parent_by);
    if (loops.has(row.card_id)) return { field, code: 'parent_cycle', message: 'would lie below itself' };
    if (abandoning.has(row.card_id)) {
      return { field: 'status', code: 'children_present', message: 'the card has active children' };
    }
    if (after.parent_id === null) return undefined;
    const parent = parents.get(after.parent_id);
    if (!parent) return { field, code: 'unknown_parent', message: 'was deleted meanwhile' };
    if (parent.status === 'ARCHIVED' && after.status === 'ACTIVE') {
      return { field, code: 'parent_archived', message: 'is archived' };
    }
    return hasLevels(type) && row.level !== levelAt(parent.place)
      ? { field, code: 'conflict', message: 'the parent was moved meanwhile' }
      : undefined;
  };
  const errors = placed.flatMap((step): [number, FieldError][] => {
    const error = errorOf(step);
    return error ? [[step.row.line, error]] : [];
  });
  if (errors.length > 0) throw new BatchConflict(new Map([...known, ...errors]));
}

function outcomesOf(
  { ctx, withChanges }: Applying,
  rows: PlannedCard[],
  steps: CardStep[],
  errors: ReadonlyMap<number, FieldError[]>,
  around: PeopleAndTags,
): RowOutcome[] {
  const done = new Map(steps.map((step) => [step.row.line, step]));
  const created = new Set<string>();
  return rows.map(({ line }) => {
    const step = done.get(line);
    if (!step) return { line, outcome: 'failed', errors: errors.get(line)! };
    const changed = step.changed || step.attached.changes;
    const outcome = step.before === null ? 'created' : changed ? 'updated' : 'unchanged';
    const row: RowOutcome = { line, outcome, errors: null };
    if (withChanges && outcome !== 'unchanged') {
      row.changes = cardChanges(ctx, step.before, { ...step, card: step.after }, around);
    }
    const tags = step.attached.addedTags.filter((id) => around.catalogue.get(id)!.isNew && !created.has(id));
    if (tags.length > 0) {
      row.created_tags = tags.map((id) => {
        created.add(id);
        const { group, name } = around.catalogue.get(id)!;
        return { group, name };
      });
    }
    return row;
  });
}

/** The rows whose id, external id or name is used by another card meanwhile, by line. */
async function findTaken(
  sql: Transaction,
  cards: (StoredCard & { line: number; is_new: boolean })[],
): Promise<Map<number, FieldError>> {
  const rows = await query(sql).rows`with v as (
       select * from jsonb_to_recordset(${JSON.stringify(cards)}::jsonb)
         as v(line integer, is_new boolean, id uuid, type text, parent_id uuid, name text, external_id text,
         status text)
     )
     select v.line, 'id' as field, 'id_taken' as code, 'is a card already' as message
     from v join cards o on v.is_new and o.id = v.id
     union all
     select v.line, 'external_id', 'external_id_taken', 'the card ' || o.id || ' of this type has it already'
     from v join cards o on o.type = v.type and o.external_id = v.external_id and o.id <> v.id
     union all
     select v.line, 'name', 'sibling_name_taken',
     'the card ' || o.id || ' below the same parent has it already'
     from v join cards o on v.status = 'ACTIVE' and o.id <> v.id
       and ${embed(nameTaken('v.type', 'v.parent_id', 'lower(v.name)', 'v.external_id'))}`;
  return new Map(rows.map(({ line, ...error }: FieldError & { line: number }) => [line, error]));
}

/** The levels of the capabilities below moved ones, if they change. */
async function levelsToFollow(
  sql: Transaction,
  moved: { id: string; level: string }[],
): Promise<Map<string, string>> {
  const rows = await query(sql).rows`with recursive below as (
       select c.id, case v.level when 'Macro' then 0 else substr(v.level, 2)::int end + 1 as level
       from jsonb_to_recordset(${JSON.stringify(moved)}::jsonb) as v(id uuid, level text)
       join cards c on c.parent_id = v.id
       union
       select c.id, b.level + 1 from below b join cards c on c.parent_id = b.id where b.level < 100
     )
     select distinct b.id, 'L' || b.level as level from below b join cards c on c.id = b.id
     where c.attributes ->> 'capabilityLevel' is distinct from 'L' || b.level`;
  return new Map(rows.map((row: { id: string; level: string }) => [row.id, row.level]));
}

/** Of archived cards, those that have active children. */
async function findAbandoning(sql: Transaction, archived: string[]): Promise<Set<string>> {
  const rows = await query(sql).rows`select distinct parent_id as id from cards
    where parent_id = any(${archived}::uuid[]) and status = 'ACTIVE'`;
  return new Set(rows.map((row: { id: string }) => row.id));
}

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
      return { line: row.line, errors: null, ...step(applying, relations, row, ends) };
    } catch (error) {
      if (!(error instanceof EstateError)) throw error;
      return { line: row.line, outcome: 'failed', errors: errorsOf(error) };
    }
  });
  await saveRelations(work, ctx, relations.writes(), ends);
  return outcomes;
}

/** Applies one row to the relations as they are after the previous rows. */
function step(
  { work, ctx, withChanges }: Applying,
  relations: RelationWorkingSet,
  row: PlannedRelation,
  ends: ReadonlyMap<string, RelationEnd>,
): Pick<RowOutcome, 'outcome' | 'changes'> {
  const type = work.metamodel.relationTypes.get(row.type);
  const source = ends.get(row.source_id);
  const target = ends.get(row.target_id);
  if (!type || !work.metamodel.visibleRelationTypes.includes(row.type)) {
    throw new EstateError('not_found', 'The relation type was removed meanwhile.');
  }
  if (!source || !target)
    throw new EstateError('not_found', 'A card of the relation does not exist or is not visible.');
  const place = { type: type.key, source_id: source.id, target_id: target.id };
  const sees = seesRelationCosts(ctx, source, target);
  const costs = sees ? [] : costErrors(type, row.payload);
  if (costs.length > 0) throw invalidFields(costs);
  const there = relations.find(place);
  const input = checkRelationInput(work, ctx, { type, source, target }, row.payload, there);
  if (row.is_new) {
    if (there) throw new EstateError('duplicate_relation', 'The cards have such a relation already.');
    relations.requireCardinality(type, place);
    const empty = { id: row.relation_id, ...place, attributes: {}, description: null };
    const created = withInput(empty, input);
    relations.put(created);
    return {
      outcome: 'created',
      ...(withChanges && { changes: relationChanges(ctx, type, null, created) }),
    };
  }
  if (!there || there.id !== row.relation_id) {
    throw new EstateError('not_found', 'The relation was deleted meanwhile.');
  }
  const after = withInput(there, input, sees ? [] : type.costKeys);
  if (Object.keys(diffRelation(there, after)).length === 0) return { outcome: 'unchanged' };
  relations.put(after);
  return { outcome: 'updated', ...(withChanges && { changes: relationChanges(ctx, type, there, after) }) };
}

function errorsOf(error: EstateError): FieldError[] {
  return sinceRead(error.errors ?? [{ field: 'row', code: error.code, message: error.message }]);
}
