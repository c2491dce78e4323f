import { EstateError, invalidFields, notFound } from '../../../../platform/errors.ts';
import { differing } from '../../../kernel/events/row-changes.ts';
import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import {
  CardTypeDefinition,
  type CardTypeRow,
  RelationTypeDefinition,
} from '../../../kernel/metamodel/metamodel.model.ts';
import { deleteRows, findRows, insertRow, lockRow } from '../../../kernel/resources/rows.ts';
import { checkSeen } from '../changes/changes.seen.ts';
import { type ChangeRun, noImpact } from '../changes/changes.types.ts';
import { countRows } from '../changes/impact.ts';
import { restateInventory } from '../changes/restate.ts';
import { readCardType } from '../metamodel.list.ts';
import { emitRelationType } from '../relation-types/relation-types.write.ts';
import { deleteRole, lockRoles } from '../roles/roles.rows.ts';
import { createRoles, syncRoles } from '../roles/roles.sync.ts';
import { type CardTypeInput, type CardTypeState, cleanCardType } from './card-types.rules.ts';
import { emitCardType, writeCardType } from './card-types.write.ts';

const emptyType: CardTypeState = { subtypes: [], fields_schema: [], section_config: {} };

/** Creates a custom card type. @throws EstateError `key_taken`, `validation_failed`. */
export async function createCardType(run: ChangeRun, input: CardTypeInput): Promise<JsonText> {
  const { work } = run;
  const key = input.key!;
  if (work.metamodel.cardTypes.has(key)) {
    throw new EstateError('key_taken', `There is a card type ${key} already.`);
  }
  const { values, faults } = cleanCardType(input, emptyType);
  if (faults.length > 0) throw invalidFields(faults);
  emitCardType(work, null, await insertRow(work.sql, CardTypeDefinition, values));
  await createRoles(work, key, input.stakeholder_roles);
  await restateInventory(run);
  return await readCardType(work.sql, key, run.language);
}

/**
 * Changes a card type and its cards: values of removed fields, options and subtypes are deleted, values of fields whose type
 * changes are converted. Members that are not sent remain.
 * @returns the type, or the impact of a dry run.
 * @throws EstateError `not_found`, `precondition_failed`, `validation_failed`, `values_do_not_fit`, `role_in_use`,
 * `last_active_role`, `built_in_frozen`; LargeChange.
 */
export async function patchCardType(run: ChangeRun, key: string, input: CardTypeInput): Promise<JsonText> {
  const { work } = run;
  const before = await lockCardType(run, key);
  const { values, faults } = cleanCardType(input, before);
  if (faults.length > 0) throw invalidFields(faults);
  const changed = differing(before, values);
  const roles = input.stakeholder_roles;
  const impact =
    Object.keys(changed).length === 0 && !roles
      ? noImpact
      : await writeCardType(run, before, changed, async () => {
          if (roles) await syncRoles(work, key, roles);
        });
  return run.dryRun ? JSON.stringify(impact) : await readCardType(work.sql, key, run.language);
}

/**
 * Deletes a custom type with its roles and the relation types that connect it; a built-in type is hidden.
 * @throws EstateError `not_found`, `precondition_failed`, `cards_present`, `relation_types_present`; LargeChange.
 */
export async function deleteCardType(run: ChangeRun, key: string): Promise<JsonText> {
  const before = await lockCardType(run, key);
  if (before.built_in) {
    if (!before.is_hidden) await writeCardType(run, before, { is_hidden: true });
    return JSON.stringify({ status: 'hidden', key });
  }
  await removeCardType(run, before);
  await restateInventory(run);
  return JSON.stringify({ status: 'deleted', key });
}

/** Removes the type's rows. @throws EstateError `cards_present`, `relation_types_present`. */
export async function removeCardType({ work }: ChangeRun, before: CardTypeRow): Promise<void> {
  const { key } = before;
  const cards = await countRows({ work }, { table: 'cards', type: key }, 'true');
  if (cards > 0) {
    throw new EstateError(
      'cards_present',
      `The type has ${cards} cards, archived ones included: delete them, or hide the type.`,
      { extra: { key, card_count: cards } },
    );
  }
  const joining = await findRows(work.sql, RelationTypeDefinition, (query) =>
    query.where({ source_type_key: key }).orWhere({ target_type_key: key }).orderBy('key').forUpdate(),
  );
  const builtIn = joining.filter((type) => type.built_in).map((type) => type.key);
  if (builtIn.length > 0) {
    throw new EstateError(
      'relation_types_present',
      `The built-in relation types ${builtIn.join(', ')} join the type: give them other ends.`,
      { extra: { key, relation_type_keys: builtIn } },
    );
  }
  for (const type of joining) {
    await deleteRows(work.sql, RelationTypeDefinition, (query) => query.where({ key: type.key }));
    emitRelationType(work, type, null);
  }
  for (const role of await lockRoles(work, key)) await deleteRole(work, role);
  await deleteRows(work.sql, CardTypeDefinition, (query) => query.where({ key }));
  emitCardType(work, before, null);
}

async function lockCardType(run: ChangeRun, key: string): Promise<CardTypeRow> {
  const row = await lockRow(run.work.sql, CardTypeDefinition, { key });
  if (!row) throw notFound('card type', key);
  await checkSeen(run, () => readCardType(run.work.sql, key, run.language));
  return row;
}
