import { EstateError, invalidFields, notFound } from '../../../../platform/errors.ts';
import type { Work } from '../../../kernel/context.ts';
import { differing } from '../../../kernel/events/row-changes.ts';
import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import { RelationTypeDefinition, type RelationTypeRow } from '../../../kernel/metamodel/metamodel.model.ts';
import { deleteRows, insertRow, lockRow } from '../../../kernel/resources/rows.ts';
import { checkSeen } from '../changes/changes.seen.ts';
import { type ChangeRun, LargeChange, noImpact, workOf } from '../changes/changes.types.ts';
import { deleteInstances } from '../changes/restate.relations.ts';
import { restateInventory } from '../changes/restate.ts';
import { readRelationType } from '../metamodel.list.ts';
import { requireFreePair, requireKnownEnds } from './relation-types.checks.ts';
import { cleanRelationType, type Frozen, type RelationTypeInput } from './relation-types.rules.ts';
import { countInstances, emitRelationType, writeRelationType } from './relation-types.write.ts';

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
  const { values, faults } = cleanRelationType(input, []);
  faults.push(...requireKnownEnds(work.metamodel, input));
  if (faults.length > 0) throw invalidFields(faults);
  const row = await insertRow(work.sql, RelationTypeDefinition, values);
  await requireFreePair(work, row);
  await restateInventory(run);
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
  const { values, faults, frozen } = cleanRelationType(input, before.attributes_schema);
  faults.push(...requireKnownEnds(work.metamodel, input));
  if (faults.length > 0) throw invalidFields(faults);
  refuseFrozen(frozen);
  const changed = differing(before, values);
  const impact = Object.keys(changed).length === 0 ? noImpact : await writeRelationType(run, before, changed);
  return run.dryRun ? JSON.stringify(impact) : await readRelationType(work.sql, key, run.language);
}

/**
 * Deletes a custom relation type, or hides a built-in one, with its relations; where there are any, that needs `force`.
 * @throws EstateError `not_found`, `precondition_failed`, `instances_present`; LargeChange.
 */
export async function deleteRelationType(run: ChangeRun, key: string): Promise<JsonText> {
  const { work } = run;
  const before = await lockRelationType(run, key);
  const instances = await countInstances(work, key);
  if (instances > 0 && !run.force) {
    const message = `There are ${instances} relations of the type; force=true deletes them with it.`;
    throw new EstateError('instances_present', message, {
      extra: { message, instance_count: instances, key },
    });
  }
  await removeInstances(run, before, instances);
  if (before.built_in) {
    if (!before.is_hidden) await writeRelationType(run, before, { is_hidden: true });
  } else await removeRelationType(run, before);
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
  const writing: Work = { ...(await workOf(run, instances)), metamodel: { ...metamodel, cardTypes } };
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
  await restateInventory(run);
  emitRelationType(work, before, null);
}

/** Shows a hidden relation type again. @throws EstateError `not_found`, `wrong_state`, `pair_taken`; LargeChange. */
export async function restoreRelationType(run: ChangeRun, key: string): Promise<JsonText> {
  const before = await lockRelationType(run, key);
  if (!before.is_hidden) throw new EstateError('wrong_state', 'The relation type is not hidden.');
  await writeRelationType(run, before, { is_hidden: false });
  return await readRelationType(run.work.sql, key, run.language);
}

async function lockRelationType(run: ChangeRun, key: string): Promise<RelationTypeRow> {
  const row = await lockRow(run.work.sql, RelationTypeDefinition, { key });
  if (!row) throw notFound('relation type', key);
  await checkSeen(run, () => readRelationType(run.work.sql, key, run.language));
  return row;
}

function refuseFrozen(frozen: Frozen[]): void {
  if (frozen.length === 0) return;
  const names = frozen.map(({ attribute, option }) => (option ? `${attribute}.${option}` : attribute));
  throw new EstateError(
    'built_in_frozen',
    `Built in, and neither changed nor removed: ${names.join(', ')}. Options can be hidden instead.`,
    { extra: { frozen: names } },
  );
}
