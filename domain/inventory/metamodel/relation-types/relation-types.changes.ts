import { counted } from '../../../../platform/counted.ts';
import { embed, fragment, query } from '../../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields } from '../../../../platform/errors.ts';
import type { Work } from '../../../kernel/context.ts';
import { differingMembers, rowEvent } from '../../../kernel/events/row-changes.ts';
import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import { compileField, type Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { RelationTypeDefinition, type RelationTypeRow } from '../../../kernel/metamodel/metamodel.model.ts';
import { METAMODEL_TOPIC } from '../../../kernel/metamodel/metamodel.store.ts';
import type { Cardinality } from '../../../kernel/metamodel/metamodel.types.ts';
import { deleteRows, insertRow, requireRow, updateRow } from '../../../kernel/resources/rows.ts';
import { deleteInstances, updateInventory } from '../changes/changes.inventory.ts';
import {
  brokenBy,
  type ChangeRun,
  changeWork,
  checkSeen,
  type Impact,
  LargeChange,
  noImpact,
} from '../changes/changes.types.ts';
import { countRows, type Fields, measureValues, type Renames, valueChanges } from '../changes/values.diff.ts';
import { readRelationType } from '../metamodel.list.ts';
import { breaks, listed } from '../usage/consumers.ts';
import { type BuiltInChange, cleanRelationType, type RelationTypeInput } from './relation-types.rules.ts';

/**
 * Creates a custom relation type.
 * @throws EstateError `key_taken`, `pair_taken`, `validation_failed`; LargeChange when it is mandatory.
 */
export async function createRelationType(run: ChangeRun, input: RelationTypeInput): Promise<JsonText> {
  const { work } = run;
  const key = input.key!;
  if (work.metamodel.relationTypes.has(key)) {
    throw new EstateError('key_taken', `There is a relation type ${key} already.`);
  }
  const { values, errors } = cleanRelationType(input, { attributes_schema: [], deprecation: null });
  errors.push(...requireKnownEnds(work.metamodel, input));
  if (errors.length > 0) throw invalidFields(errors);
  const row = await insertRow(work.sql, RelationTypeDefinition, values);
  await requireFreePair(work, row);
  await updateInventory(run);
  emitRelationType(work, null, row);
  return await readRelationType(work.sql, key, run.language);
}

/**
 * Changes a relation type and its relations. Its ends cannot change once it has relations.
 * @returns the type, or the impact of a dry run.
 * @throws EstateError `not_found`, `precondition_failed`, `validation_failed`, `built_in_frozen`, `pair_taken`,
 * `instances_present`, `cardinality_violated`, `values_do_not_fit`; LargeChange.
 */
export async function patchRelationType(
  run: ChangeRun,
  key: string,
  input: RelationTypeInput,
): Promise<JsonText> {
  const { work } = run;
  const before = await lockRelationType(run, key);
  const { values, errors, frozen } = cleanRelationType(input, before);
  errors.push(...requireKnownEnds(work.metamodel, input));
  if (errors.length > 0) throw invalidFields(errors);
  refuseFrozen(frozen);
  const changed = differingMembers(before, values);
  const impact = Object.keys(changed).length === 0 ? noImpact : await writeRelationType(run, before, changed);
  return run.dryRun ? JSON.stringify(impact) : await readRelationType(work.sql, key, run.language);
}

/**
 * Deletes a custom relation type, or hides a built-in one, with its relations; if there are any, that needs `force`.
 * @throws EstateError `not_found`, `precondition_failed`, `instances_present`; LargeChange.
 */
export async function deleteRelationType(run: ChangeRun, key: string): Promise<JsonText> {
  const { work } = run;
  const before = await lockRelationType(run, key);
  const instances = await countInstances(work, key);
  if (instances > 0 && !run.force && !run.dryRun) {
    const message = `The type has ${counted(instances, 'relation')}; force=true deletes them with it.`;
    throw new EstateError('instances_present', message, {
      extra: { message, instance_count: instances, key },
    });
  }
  if (!run.dryRun) await removeInstances(run, before, instances);
  // a dry run only hides it: its relations are still there
  if (before.built_in || run.dryRun) {
    if (!before.is_hidden) await writeRelationType(run, before, { is_hidden: true });
  } else await removeRelationType(run, before);
  if (run.dryRun) {
    const consumers = brokenBy(run);
    const needs_force = consumers.needs_force || instances > 0;
    const as_job = instances > run.limit;
    return JSON.stringify({ ...noImpact, relations: instances, ...consumers, needs_force, as_job });
  }
  const status = before.built_in ? 'hidden' : 'deleted';
  return JSON.stringify({ status, key, removed_instances: instances });
}

/**
 * Deletes all relations of a type that is about to be removed, with an event for each. The data quality of their cards is
 * computed afterwards, without the type.
 * @throws LargeChange.
 */
async function removeInstances(run: ChangeRun, type: RelationTypeRow, instances: number): Promise<void> {
  if (instances === 0) return;
  if (instances > run.limit) throw new LargeChange(instances);
  const { metamodel } = run.work;
  const cardTypes = new Map(
    [...metamodel.cardTypes].map(([key, cardType]) => [
      key,
      {
        ...cardType,
        mandatoryRelations: cardType.mandatoryRelations.filter((slot) => slot.relationType !== type.key),
      },
    ]),
  );
  const writing: Work = { ...(await changeWork(run, instances)), metamodel: { ...metamodel, cardTypes } };
  let done = 0;
  await deleteInstances(run, writing, type.key, async (rows) => {
    await run.held?.flush();
    done += rows;
    run.progress(done, instances);
  });
}

/** Removes the row of a type that has no relations. */
export async function removeRelationType(run: ChangeRun, before: RelationTypeRow): Promise<void> {
  const { work } = run;
  await deleteRows(work.sql, RelationTypeDefinition, (query) => query.where({ key: before.key }));
  await updateInventory(run);
  emitRelationType(work, before, null);
}

/** Shows a hidden relation type again. @throws EstateError `not_found`, `wrong_state`, `pair_taken`; LargeChange. */
export async function restoreRelationType(run: ChangeRun, key: string): Promise<JsonText> {
  const before = await lockRelationType(run, key);
  if (!before.is_hidden) throw new EstateError('wrong_state', 'The relation type is not hidden.');
  await writeRelationType(run, before, { is_hidden: false });
  return await readRelationType(run.work.sql, key, run.language);
}

export async function lockRelationType(run: ChangeRun, key: string): Promise<RelationTypeRow> {
  const row = await requireRow(run.work.sql, RelationTypeDefinition, 'relation type', { key });
  await checkSeen(run, () => readRelationType(run.work.sql, key, run.language));
  return row;
}

export function refuseFrozen(frozen: BuiltInChange[]): void {
  if (frozen.length === 0) return;
  const names = frozen.map(({ attribute, option }) => (option ? `${attribute}.${option}` : attribute));
  throw new EstateError(
    'built_in_frozen',
    `Built in, and neither changed nor removed: ${names.join(', ')}. Options can be hidden instead.`,
    { extra: { frozen: names } },
  );
}

/** Checks that the ends are card types, hidden or not. */
function requireKnownEnds(metamodel: Metamodel, input: RelationTypeInput): FieldError[] {
  return (['source_type_key', 'target_type_key'] as const).flatMap((field) => {
    const key = input[field];
    if (key === undefined || metamodel.cardTypes.has(key)) return [];
    return [{ field, code: 'unknown_type', message: 'is no card type' }];
  });
}

/**
 * Checks that no other visible relation type connects the same card types in the same direction; successor types are
 * exempt. Call it after the row is written.
 * @throws EstateError `pair_taken`.
 */
export async function requireFreePair({ sql }: Work, row: RelationTypeRow): Promise<void> {
  if (row.is_hidden || /Successor$/.test(row.key)) return;
  const [taken] = await query(sql).rows<{ key: string }>`select key from relation_types
    where source_type_key = ${row.source_type_key} and target_type_key = ${row.target_type_key}
    and key <> ${row.key}
       and not is_hidden and key not like '%Successor' limit 1`;
  if (!taken) return;
  throw new EstateError(
    'pair_taken',
    `The relation type ${taken.key} joins ${row.source_type_key} and ${row.target_type_key} already.`,
    { extra: { existing_key: taken.key } },
  );
}

/** The sides on which a card may have only one relation. */
const limited: Record<Cardinality, ('source_id' | 'target_id')[]> = {
  'n:m': [],
  '1:n': ['target_id'],
  '1:1': ['target_id', 'source_id'],
};

/**
 * Checks that the existing relations fit a cardinality.
 * @throws EstateError `cardinality_violated` naming some cards with too many.
 */
async function requireCardinality({ sql }: Work, key: string, cardinality: Cardinality): Promise<void> {
  for (const side of limited[cardinality]) {
    const rows = await query(sql).rows<{ id: string; cards: number }>`select ${embed(side)} as id,
      count(*) over () as cards from relations where type = ${key}
       group by ${embed(side)} having count(*) > 1 order by ${embed(side)} limit 10`;
    const [first] = rows;
    if (!first) continue;
    const { cards } = first;
    throw new EstateError(
      'cardinality_violated',
      `${cardinality} does not allow ${counted(cards, 'card')} to have several relations of the type as their ${side.slice(0, 6)}.`,
      { extra: { card_count: cards, card_ids: rows.map(({ id }) => id) } },
    );
  }
}

/** Emits the event of one written relation type. */
export function emitRelationType(
  work: Work,
  before: RelationTypeRow | null,
  after: RelationTypeRow | null,
): void {
  const { key, label, source_type_key, target_type_key } = (after ?? before)!;
  work.emit(
    rowEvent('relation_type', before, after, { id: key, key, label, source_type_key, target_type_key }),
  );
  work.raise(METAMODEL_TOPIC);
}

/** How many relations of the type there are. */
export async function countInstances(work: Work, key: string): Promise<number> {
  return await countRows({ work }, { table: 'relations', type: key });
}

/**
 * Writes the changed columns of a relation type and updates its relations and the data quality of cards.
 * @param renames options that get another key.
 * @throws EstateError `instances_present`, `pair_taken`, `cardinality_violated`, `values_do_not_fit`; LargeChange.
 */
export async function writeRelationType(
  run: ChangeRun,
  before: RelationTypeRow,
  changed: Partial<RelationTypeRow>,
  { besides, renames }: { besides?: () => Promise<void>; renames?: Renames } = {},
): Promise<Impact> {
  const { work } = run;
  const { key } = before;
  if ('source_type_key' in changed || 'target_type_key' in changed) {
    const instances = await countInstances(work, key);
    if (instances > 0) {
      const detail = `The ends of a relation type with relations are fixed; there are ${instances}.`;
      throw new EstateError('instances_present', detail, { extra: { key, instance_count: instances } });
    }
  }
  if (changed.cardinality) await requireCardinality(work, key, changed.cardinality);
  const values = valueChanges(fieldsOf(before), fieldsOf({ ...before, ...changed }), renames);
  const measured = await measureValues(run, { table: 'relations', type: key }, values);
  const after = await updateRow(work.sql, RelationTypeDefinition, { key }, changed);
  await requireFreePair(work, after);
  await besides?.();
  const converted = await updateInventory(run, { relations: { type: key, values } });
  emitRelationType(work, before, after);
  return {
    dry_run: true,
    ...converted,
    ...measured,
    removed_subtypes: [],
    required_fields: [],
    mandatory_sides: run.dryRun ? await countLacking(run, before, after) : [],
    ...listed(run.broken),
    needs_force:
      breaks(run.unannounced) || measured.changed_fields.some(({ unconvertible }) => unconvertible > 0),
    as_job: converted.cards + converted.relations > run.limit,
  };
}

function fieldsOf({ attributes_schema }: RelationTypeRow): Fields {
  return new Map(attributes_schema.map((attribute) => [attribute.key, compileField(attribute)]));
}

/** For sides that become mandatory, the number of cards that have no relation of the type. */
async function countLacking(
  run: ChangeRun,
  before: RelationTypeRow,
  after: RelationTypeRow,
): Promise<Impact['mandatory_sides']> {
  const counted = [];
  for (const side of ['source', 'target'] as const) {
    const asks = (row: RelationTypeRow) =>
      row[`${side}_mandatory`] && row[`${side}_visible`] && !row.is_hidden;
    if (!asks(after) || asks(before)) continue;
    const type = after[`${side}_type_key`];
    const missing = await countRows(
      run,
      { table: 'cards', type },
      fragment`not exists (select from relations r where r.${embed(`${side}_id`)} = t.id and r.type = ${after.key})`,
    );
    counted.push({ side, missing });
  }
  return counted;
}
