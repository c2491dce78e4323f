import { EstateError } from '../../../../platform/errors.ts';
import type { Work } from '../../../kernel/context.ts';
import { rowEvent } from '../../../kernel/events/row-changes.ts';
import { compileField } from '../../../kernel/metamodel/metamodel.compile.ts';
import { RelationTypeDefinition, type RelationTypeRow } from '../../../kernel/metamodel/metamodel.model.ts';
import { METAMODEL_TOPIC } from '../../../kernel/metamodel/metamodel.store.ts';
import { updateRow } from '../../../kernel/resources/rows.ts';
import type { ChangeRun, Impact } from '../changes/changes.types.ts';
import { countRows, measureValues, refuseMisfits } from '../changes/impact.ts';
import { restateInventory } from '../changes/restate.ts';
import { type Fields, valueChanges } from '../changes/values.diff.ts';
import { requireCardinality, requireFreePair } from './relation-types.checks.ts';

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
  return await countRows({ work }, { table: 'relations', type: key }, 'true');
}

/**
 * Writes the changed columns of a relation type and updates its relations and the data quality of cards.
 * @throws EstateError `instances_present`, `pair_taken`, `cardinality_violated`, `values_do_not_fit`; LargeChange.
 */
export async function writeRelationType(
  run: ChangeRun,
  before: RelationTypeRow,
  changed: Partial<RelationTypeRow>,
): Promise<Impact> {
  const { work } = run;
  const { key } = before;
  if ('source_type_key' in changed || 'target_type_key' in changed) {
    const instances = await countInstances(work, key);
    if (instances > 0) {
      throw new EstateError(
        'instances_present',
        `The ends of a relation type with relations are fixed; there are ${instances}.`,
        { extra: { key, instance_count: instances } },
      );
    }
  }
  if (changed.cardinality) await requireCardinality(work, key, changed.cardinality);
  const values = valueChanges(fieldsOf(before), fieldsOf({ ...before, ...changed }));
  const holder = { table: 'relations', type: key } as const;
  const asked = run.dryRun ? values : { ...values, removed: [], options: [] };
  const measured = await measureValues(run, holder, asked);
  refuseMisfits(run, measured);
  const after = await updateRow(work.sql, RelationTypeDefinition, { key }, changed);
  await requireFreePair(work, after);
  const restated = await restateInventory(run, { relations: { type: key, values } });
  emitRelationType(work, before, after);
  return {
    dry_run: true,
    ...restated,
    ...measured,
    removed_subtypes: [],
    required_fields: [],
    mandatory_sides: run.dryRun ? await countLacking(run, before, after) : [],
    needs_force: measured.changed_fields.some(({ misfits }) => misfits > 0),
    as_job: restated.cards + restated.relations > run.limit,
  };
}

function fieldsOf({ attributes_schema }: RelationTypeRow): Fields {
  return new Map(attributes_schema.map((attribute) => [attribute.key, compileField(attribute)]));
}

/** For sides that are mandatory from now on, the cards that have no relation of the type. */
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
      `not exists (select from relations r where r.${side}_id = t.id and r.type = ?)`,
      [after.key],
    );
    counted.push({ side, missing });
  }
  return counted;
}
