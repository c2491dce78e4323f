import { EstateError, invalidFields } from '../../../../platform/errors.ts';
import { differingMembers } from '../../../kernel/events/row-changes.ts';
import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import {
  CardTypeDefinition,
  type CardTypeRow,
  RelationTypeDefinition,
} from '../../../kernel/metamodel/metamodel.model.ts';
import type { Alias } from '../../../kernel/metamodel/metamodel.types.ts';
import { updateRow } from '../../../kernel/resources/rows.ts';
import { ANNUAL_COST } from '../../cards/rules/values.ts';
import {
  emitCardType,
  fieldsOf,
  lockCardType,
  refuseFrozenLevels,
} from '../card-types/card-types.changes.ts';
import { cleanCardType } from '../card-types/card-types.rules.ts';
import type { ChangeRun } from '../changes/changes.types.ts';
import { noRenames, type Renames, type ValueChanges } from '../changes/values.diff.ts';
import { readCardType, readRelationType } from '../metamodel.list.ts';
import {
  emitRelationType,
  lockRelationType,
  refuseFrozen,
} from '../relation-types/relation-types.changes.ts';
import { cleanRelationType } from '../relation-types/relation-types.rules.ts';
import { followRename, type Rename, renamed, requireRenamable } from './renames.ts';

/** A field, or an option of it, that gets another key. */
export interface PartRename extends Rename {
  field_key: string;
  option_key?: string;
}

const valuesOf = (renames: Partial<Renames>): ValueChanges => ({
  ...{ removed: [], retyped: [], options: [] },
  ...noRenames,
  ...renames,
});

/**
 * Gives a field of a card type, or an option of it, another key, with its values in cards and its name in stored objects.
 * Until the removal of the alias requests may name it by the former key.
 * @returns the type, or the impact of a dry run.
 * @throws EstateError `not_found`, `precondition_failed`, `wrong_state`, `validation_failed`, `built_in_frozen`, `in_use` for
 * objects that cannot follow; LargeChange.
 */
export async function renameField(run: ChangeRun, type: string, input: PartRename): Promise<JsonText> {
  const { work } = run;
  const before = await lockCardType(run, type);
  const all = before.fields_schema.flatMap(({ fields }) => fields);
  requirePart(all, input);
  const { field_key, option_key, key } = input;
  if (option_key === undefined && field_key === ANNUAL_COST) {
    const detail = `The service computes ${ANNUAL_COST} from costs by its key.`;
    throw new EstateError('built_in_frozen', detail, { extra: { field_key } });
  }
  const stored = withPart(before, input, (part) => ({ ...part, key }));
  const declared = withPart(before, input, (part) => renamed(part, input));
  const { values, errors } = cleanCardType(declared, { ...before, ...stored });
  if (errors.length > 0) throw invalidFields(errors);
  const after = { ...before, ...values };
  refuseFrozenLevels(type, fieldsOf(before), fieldsOf(after));
  const columns = { fields_schema: after.fields_schema, subtypes: after.subtypes };
  const changed = differingMembers(before, columns);
  const written = await updateRow(work.sql, CardTypeDefinition, { key: type }, changed);
  const cards = { type, values: changesOf(input), removedSubtypes: new Set<string>() };
  const impact = await followRename(run, pathOf('', type, input), { cards });
  emitCardType(work, before, written);
  return run.dryRun ? impact : await readCardType(work.sql, type, run.language);
}

/**
 * Gives an option of a relation type another key, with the values of relations.
 * @returns the type, or the impact of a dry run.
 * @throws EstateError as {@link renameField}.
 */
export async function renameRelationOption(
  run: ChangeRun,
  type: string,
  input: PartRename & { option_key: string },
): Promise<JsonText> {
  const { work } = run;
  const before = await lockRelationType(run, type);
  requirePart(before.attributes_schema, input);
  const changedBy = (change: <P extends Part>(part: P) => P) => ({
    attributes_schema: before.attributes_schema.map((field) => withOption(field, input, change)),
  });
  const stored = changedBy((part) => ({ ...part, key: input.key }));
  const declared = changedBy((part) => renamed(part, input));
  const { values, errors } = cleanRelationType(declared, { ...before, ...stored });
  if (errors.length > 0) throw invalidFields(errors);
  refuseFrozen(cleanRelationType(declared, before).frozen);
  const written = await updateRow(work.sql, RelationTypeDefinition, { key: type }, values);
  const relations = { type, values: changesOf(input) };
  const impact = await followRename(run, pathOf('relation_', type, input), { relations });
  emitRelationType(work, before, written);
  return run.dryRun ? impact : await readRelationType(work.sql, type, run.language);
}

interface Part {
  key: string;
  aliases?: Alias[] | undefined;
}
interface PartWithOptions extends Part {
  options?: Part[] | undefined;
}

function requirePart(all: readonly PartWithOptions[], { field_key, option_key, key }: PartRename): void {
  if (option_key === undefined) requireRenamable('field', all, field_key, key);
  // only to find the field
  const field = requireRenamable('field', all, field_key, '');
  if (option_key !== undefined) requireRenamable('option', field.options ?? [], option_key, key);
}

const pathOf = (prefix: '' | 'relation_', type: string, { field_key, option_key }: PartRename) =>
  option_key === undefined
    ? `${prefix}field:${type}.${field_key}`
    : `${prefix}option:${type}.${field_key}.${option_key}`;

const changesOf = ({ field_key: field, option_key: from, key: to }: PartRename) =>
  valuesOf(
    from === undefined ? { renamed: [{ from: field, to }] } : { renamedOptions: [{ field, from, to }] },
  );

function withOption<F extends PartWithOptions>(
  field: F,
  { field_key, option_key }: PartRename,
  change: <P extends Part>(part: P) => P,
): F {
  if (field.key !== field_key || !field.options) return field;
  const options = field.options.map((option) => (option.key === option_key ? change(option) : option));
  return { ...field, options };
}

/** The fields and subtypes of a type, with one field or option changed. */
function withPart(
  { fields_schema, subtypes }: CardTypeRow,
  input: PartRename,
  change: <P extends Part>(part: P) => P,
): Pick<CardTypeRow, 'fields_schema' | 'subtypes'> {
  const { field_key: from, option_key, key: to } = input;
  const isOption = option_key !== undefined;
  return {
    fields_schema: fields_schema.map((section) => ({
      ...section,
      fields: section.fields.map((field) => {
        if (isOption) return withOption(field, input, change);
        return field.key === from ? change(field) : field;
      }),
    })),
    subtypes: subtypes.map((subtype) =>
      subtype.hidden_fields && !isOption
        ? { ...subtype, hidden_fields: subtype.hidden_fields.map((key) => (key === from ? to : key)) }
        : subtype,
    ),
  };
}
