import { counted } from '../../../../platform/counted.ts';
import { fragment, query } from '../../../../platform/database.ts';
import { EstateError, type FieldError, invalidFields } from '../../../../platform/errors.ts';
import type { Work } from '../../../kernel/context.ts';
import { differingMembers, rowEvent } from '../../../kernel/events/row-changes.ts';
import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import { compileField } from '../../../kernel/metamodel/metamodel.compile.ts';
import {
  CardTypeDefinition,
  type CardTypeRow,
  RelationTypeDefinition,
} from '../../../kernel/metamodel/metamodel.model.ts';
import { METAMODEL_TOPIC } from '../../../kernel/metamodel/metamodel.store.ts';
import { deleteRows, findRows, insertRow, requireRow, updateRow } from '../../../kernel/resources/rows.ts';
import { CAPABILITY_TYPE, LEVEL_FIELD, levelOptions } from '../../cards/rules/capability.ts';
import { updateInventory } from '../changes/changes.inventory.ts';
import { brokenBy, type ChangeRun, checkSeen, type Impact, noImpact } from '../changes/changes.types.ts';
import {
  countRows,
  type Fields,
  measureValues,
  type Renames,
  setDifference,
  valueChanges,
} from '../changes/values.diff.ts';
import { readCardType } from '../metamodel.list.ts';
import { emitRelationType } from '../relation-types/relation-types.changes.ts';
import { createRoles, deleteRole, lockRoles, syncRoles } from '../roles/roles.changes.ts';
import { breaks, listed } from '../usage/consumers.ts';
import { type CardTypeInput, type CardTypeState, cleanCardType } from './card-types.rules.ts';

const emptyType: CardTypeState = { subtypes: [], fields_schema: [], section_config: {}, deprecation: null };

/** Creates a custom card type. @throws EstateError `key_taken`, `validation_failed`. */
export async function createCardType(run: ChangeRun, input: CardTypeInput): Promise<JsonText> {
  const { work } = run;
  const key = input.key!;
  if (work.metamodel.cardTypes.has(key)) {
    throw new EstateError('key_taken', `There is a card type ${key} already.`);
  }
  const { values, errors } = cleanCardType(input, emptyType);
  errors.push(...takenPrefix(work, key, values.number_prefix));
  if (errors.length > 0) throw invalidFields(errors);
  emitCardType(work, null, await insertRow(work.sql, CardTypeDefinition, values));
  await createRoles(work, key, input.stakeholder_roles);
  await updateInventory(run);
  return await readCardType(work.sql, key, run.language);
}

/**
 * Changes a card type and its cards: values of removed fields, options and subtypes are deleted, values of fields whose
 * type changes are converted. Absent members are not changed.
 * @returns the type, or the impact of a dry run.
 * @throws EstateError `not_found`, `precondition_failed`, `validation_failed`, `values_do_not_fit`, `role_in_use`,
 * `last_active_role`, `built_in_frozen`; LargeChange.
 */
export async function patchCardType(run: ChangeRun, key: string, input: CardTypeInput): Promise<JsonText> {
  const { work } = run;
  const before = await lockCardType(run, key);
  const { values, errors } = cleanCardType(input, before);
  errors.push(...takenPrefix(work, key, values.number_prefix));
  if (errors.length > 0) throw invalidFields(errors);
  const changed = differingMembers(before, values);
  const roles = input.stakeholder_roles;
  const impact =
    Object.keys(changed).length === 0 && !roles
      ? noImpact
      : await writeCardType(run, before, changed, {
          besides: async () => {
            if (roles) await syncRoles(work, key, roles);
          },
        });
  return run.dryRun ? JSON.stringify(impact) : await readCardType(work.sql, key, run.language);
}

/**
 * Deletes a custom type with its roles and the relation types that connect it; a built-in type is hidden.
 * @returns the result, or the impact of a dry run.
 * @throws EstateError `not_found`, `precondition_failed`, `cards_present`, `relation_types_present`; LargeChange.
 */
export async function deleteCardType(run: ChangeRun, key: string): Promise<JsonText> {
  const before = await lockCardType(run, key);
  const status = before.built_in ? 'hidden' : 'deleted';
  let impact = noImpact;
  if (!before.built_in) {
    await removeCardType(run, before);
    impact = { ...noImpact, ...(await updateInventory(run)), ...brokenBy(run) };
  } else if (!before.is_hidden) impact = await writeCardType(run, before, { is_hidden: true });
  return JSON.stringify(run.dryRun ? impact : { status, key });
}

/** @throws EstateError `same_names_present` with the number of active cards that share their name with a sibling. */
async function refuseSameNames({ sql }: Work, key: string): Promise<void> {
  const cards = await query(sql).value<number>`select coalesce(sum(n), 0)::int from (
    select count(*) as n from cards where type = ${key} and status = 'ACTIVE'
    group by parent_id, lower(name) having count(*) > 1) same`;
  if (cards === 0) return;
  const detail = `${counted(cards, 'card')} share their names with siblings: rename or merge them first.`;
  throw new EstateError('same_names_present', detail, { extra: { key, card_count: cards } });
}

/** Removes the type's rows. @throws EstateError `cards_present`, `relation_types_present`. */
export async function removeCardType({ work }: ChangeRun, before: CardTypeRow): Promise<void> {
  const { key } = before;
  const cards = await countRows({ work }, { table: 'cards', type: key });
  if (cards > 0) {
    throw new EstateError(
      'cards_present',
      `The type has ${counted(cards, 'card')}, archived ones included: delete them, or hide the type.`,
      { extra: { key, card_count: cards } },
    );
  }
  const joining = await findRows(work.sql, RelationTypeDefinition, (query) =>
    query.where({ source_type_key: key }).orWhere({ target_type_key: key }).orderBy('key').forUpdate(),
  );
  const builtIn = joining.filter((type) => type.built_in).map((type) => type.key);
  if (builtIn.length > 0) {
    const detail = `The built-in relation types ${builtIn.join(', ')} join the type: give them other ends.`;
    throw new EstateError('relation_types_present', detail, { extra: { key, relation_type_keys: builtIn } });
  }
  for (const type of joining) {
    await deleteRows(work.sql, RelationTypeDefinition, (query) => query.where({ key: type.key }));
    emitRelationType(work, type, null);
  }
  for (const role of await lockRoles(work, key)) await deleteRole(work, role);
  await deleteRows(work.sql, CardTypeDefinition, (query) => query.where({ key }));
  emitCardType(work, before, null);
}

/** The error of a prefix that another type has; types without one get one that is free. */
function takenPrefix({ metamodel }: Work, key: string, prefix: string | undefined): FieldError[] {
  const other = [...metamodel.cardTypes.values()].find((type) => type.number_prefix === prefix);
  if (!other || other.key === key) return [];
  const message = `is the prefix of the card type ${other.key}`;
  return [{ field: 'number_prefix', code: 'prefix_taken', message }];
}

export async function lockCardType(run: ChangeRun, key: string): Promise<CardTypeRow> {
  const row = await requireRow(run.work.sql, CardTypeDefinition, 'card type', { key });
  await checkSeen(run, () => readCardType(run.work.sql, key, run.language));
  return row;
}

/** Emits the event of one written card type. */
export function emitCardType(work: Work, before: CardTypeRow | null, after: CardTypeRow | null): void {
  const { key, label } = (after ?? before)!;
  work.emit(rowEvent('card_type', before, after, { id: key, key, label }));
  work.raise(METAMODEL_TOPIC);
}

/**
 * Writes the changed columns of a card type and updates its cards accordingly.
 * @param options.besides writes other parts of the same change, such as roles, before the cards.
 * @param options.renames fields and options that get another key.
 * @throws EstateError `built_in_frozen`, `values_do_not_fit`, `same_names_present`; LargeChange.
 */
export async function writeCardType(
  run: ChangeRun,
  before: CardTypeRow,
  changed: Partial<CardTypeRow>,
  { besides, renames }: { besides?: () => Promise<void>; renames?: Renames } = {},
): Promise<Impact> {
  const { work } = run;
  const type = before.key;
  const after = { ...before, ...changed };
  if (before.allow_same_name && !after.allow_same_name) await refuseSameNames(work, type);
  const fields = { before: fieldsOf(before), after: fieldsOf(after) };
  refuseFrozenLevels(type, fields.before, fields.after);
  const values = valueChanges(fields.before, fields.after, renames);
  const measured = await measureValues(run, { table: 'cards', type }, values);
  const removedSubtypes = setDifference(subtypesOf(before), subtypesOf(after));

  let written = before;
  if (Object.keys(changed).length > 0) {
    written = await updateRow(work.sql, CardTypeDefinition, { key: type }, changed);
  }
  await besides?.();
  const converted = await updateInventory(run, { cards: { type, values, removedSubtypes } });
  // Emitted after the events of its cards: an undo restores the type first, so that the old values are valid.
  if (written !== before) emitCardType(work, before, written);
  return {
    dry_run: true,
    ...converted,
    ...measured,
    removed_subtypes: run.dryRun ? await countSubtypes(run, type, removedSubtypes) : [],
    required_fields: run.dryRun ? await countMissing(run, type, fields.before, fields.after) : [],
    mandatory_sides: [],
    ...listed(run.broken),
    needs_force:
      breaks(run.unannounced) || measured.changed_fields.some(({ unconvertible }) => unconvertible > 0),
    as_job: converted.cards + converted.relations > run.limit,
  };
}

export function fieldsOf({ fields_schema }: CardTypeRow): Fields {
  return new Map(
    fields_schema.flatMap(({ fields }) => fields).map((field) => [field.key, compileField(field)]),
  );
}

const subtypesOf = ({ subtypes }: CardTypeRow) => new Set(subtypes.map(({ key }) => key));

/** The service writes the levels of capabilities itself, so their field must accept the values that it writes. */
export function refuseFrozenLevels(type: string, before: Fields, after: Fields): void {
  if (type !== CAPABILITY_TYPE || !before.has(LEVEL_FIELD)) return;
  const field = after.get(LEVEL_FIELD);
  const fits = field?.type === 'single_select' && levelOptions.every((option) => field.options.has(option));
  if (fits) return;
  throw new EstateError(
    'built_in_frozen',
    `The service sets ${LEVEL_FIELD} itself: the field stays a select with the options ${levelOptions.join(', ')}.`,
    { extra: { field_key: LEVEL_FIELD } },
  );
}

async function countSubtypes(
  run: ChangeRun,
  type: string,
  removed: ReadonlySet<string>,
): Promise<Impact['removed_subtypes']> {
  const counted = [];
  for (const subtype_key of removed) {
    const affected = await countRows(run, { table: 'cards', type }, fragment`t.subtype = ${subtype_key}`);
    counted.push({ subtype_key, affected });
  }
  return counted;
}

async function countMissing(
  run: ChangeRun,
  type: string,
  before: Fields,
  after: Fields,
): Promise<Impact['required_fields']> {
  const counted = [];
  for (const { key, required } of after.values()) {
    if (!required || before.get(key)?.required) continue;
    const absent = fragment`not jsonb_exists(t.attributes, ${key})`;
    counted.push({ field_key: key, missing: await countRows(run, { table: 'cards', type }, absent) });
  }
  return counted;
}
