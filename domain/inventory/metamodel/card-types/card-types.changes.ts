import { EstateError, invalidFields, notFound } from '../../../../platform/errors.ts';
import { differing, type StoredRow } from '../../../kernel/events/row-changes.ts';
import { insertRow, lockRow } from '../../../kernel/events/stored-rows.ts';
import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import { checkSeen } from '../changes/changes.seen.ts';
import { type ChangeRun, noImpact } from '../changes/changes.types.ts';
import { countRows } from '../changes/impact.ts';
import { restateInventory } from '../changes/restate.ts';
import { readCardType } from '../metamodel.queries.ts';
import { tellRelationType } from '../relation-types/relation-types.rows.ts';
import { deleteRole, lockRoles } from '../roles/roles.rows.ts';
import { createRoles, syncRoles } from '../roles/roles.sync.ts';
import { type CardTypeInput, type CardTypeState, cleanCardType } from './card-types.rules.ts';
import { tellCardType, writeCardType } from './card-types.write.ts';

const nothingYet: CardTypeState = { subtypes: [], fields_schema: [], section_config: {} };

/** Creates a card type of the workspace's own. @throws EstateError `key_taken`, `validation_failed`. */
export async function createCardType(run: ChangeRun, input: CardTypeInput): Promise<JsonText> {
  const { work } = run;
  const key = input.key!;
  if (work.metamodel.cardTypes.has(key)) {
    throw new EstateError('key_taken', `There is a card type ${key} already.`);
  }
  const { values, faults } = cleanCardType(input, nothingYet);
  if (faults.length > 0) throw invalidFields(faults);
  tellCardType(work, null, await insertRow(work.sql, 'card_types', values));
  await createRoles(work, key, input.stakeholder_roles);
  await restateInventory(run);
  return await readCardType(work.sql, key, run.language);
}

/**
 * Changes a card type and, with it, its cards: values of fields, options and subtypes that are left out are taken away,
 * values of a field of another type converted. What is not sent stays.
 * @returns the type, or the impact of a dry run.
 * @throws EstateError `not_found`, `precondition_failed`, `validation_failed`, `values_do_not_fit`, `role_in_use`,
 * `last_active_role`, `built_in_frozen`; LargeChange.
 */
export async function patchCardType(run: ChangeRun, key: string, input: CardTypeInput): Promise<JsonText> {
  const { work } = run;
  const before = await lockCardType(run, key);
  const { values, faults } = cleanCardType(input, before as unknown as CardTypeState);
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
 * Deletes a type of the workspace's own, with its roles and the relation types that join it; a built-in one is hidden.
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
export async function removeCardType({ work }: ChangeRun, before: StoredRow): Promise<void> {
  const key = before.key as string;
  const cards = await countRows({ work }, { table: 'cards', type: key }, 'true');
  if (cards > 0) {
    throw new EstateError(
      'cards_present',
      `The type has ${cards} cards, archived ones included: delete them, or hide the type.`,
      { extra: { key, card_count: cards } },
    );
  }
  const { rows } = await work.sql.raw(
    `select to_jsonb(r) as row from relation_types r where ? in (r.source_type_key, r.target_type_key)
     order by r.key for update`,
    [key],
  );
  const joining: StoredRow[] = rows.map(({ row }: { row: StoredRow }) => row);
  const builtIn = joining.filter((type) => type.built_in).map((type) => type.key);
  if (builtIn.length > 0) {
    throw new EstateError(
      'relation_types_present',
      `The built-in relation types ${builtIn.join(', ')} join the type: give them other ends.`,
      { extra: { key, relation_type_keys: builtIn } },
    );
  }
  for (const type of joining) {
    await work.sql('relation_types').where({ key: type.key }).delete();
    tellRelationType(work, type, null);
  }
  for (const role of await lockRoles(work, key)) await deleteRole(work, role);
  await work.sql('card_types').where({ key }).delete();
  tellCardType(work, before, null);
}

async function lockCardType(run: ChangeRun, key: string): Promise<StoredRow> {
  const row = await lockRow(run.work.sql, 'card_types', { key });
  if (!row) throw notFound('card type', key);
  await checkSeen(run, () => readCardType(run.work.sql, key, run.language));
  return row;
}
