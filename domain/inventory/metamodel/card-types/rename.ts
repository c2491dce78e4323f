import { EstateError, invalidFields, notFound } from '../../../../platform/errors.ts';
import { differingMembers } from '../../../kernel/events/row-changes.ts';
import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import { CardTypeDefinition, type CardTypeRow } from '../../../kernel/metamodel/metamodel.model.ts';
import { loadMetamodel } from '../../../kernel/metamodel/metamodel.store.ts';
import type { Deprecation, Field } from '../../../kernel/metamodel/metamodel.types.ts';
import { updateRow } from '../../../kernel/resources/rows.ts';
import { ANNUAL_COST } from '../../cards/rules/values.ts';
import { updateInventory } from '../changes/changes.inventory.ts';
import { type ChangeRun, noImpact } from '../changes/changes.types.ts';
import { readCardType } from '../metamodel.list.ts';
import {
  breaks,
  consumersOf,
  type FoundConsumers,
  inUse,
  listed,
  renameInConsumers,
} from '../usage/consumers.ts';
import { emitCardType, fieldsOf, lockCardType, refuseFrozenLevels } from './card-types.changes.ts';
import { cleanCardType } from './card-types.rules.ts';

export interface FieldRename extends Pick<Deprecation, 'removal' | 'note'> {
  /** The present key, and the new one. */
  field_key: string;
  key: string;
}

/**
 * Gives a field of a card type another key, with its values in cards and its name in stored objects. Until the removal of the
 * alias requests may name it by the former key.
 * @returns the type, or the impact of a dry run.
 * @throws EstateError `not_found`, `precondition_failed`, `validation_failed`, `built_in_frozen`, `in_use` for objects that
 * cannot follow; LargeChange.
 */
export async function renameField(run: ChangeRun, type: string, input: FieldRename): Promise<JsonText> {
  const { work } = run;
  const before = await lockCardType(run, type);
  const { field_key: from, key: to, removal, note } = input;
  if (!fieldsOf(before).has(from)) throw notFound('field', from);
  if (from === ANNUAL_COST) {
    const detail = `The service computes ${ANNUAL_COST} from costs by its key.`;
    throw new EstateError('built_in_frozen', detail, { extra: { field_key: from } });
  }
  const alias = { key: from, deprecation: { removal, ...(note === undefined ? {} : { note }) } };
  const changed = renamed(before, from, (field) => ({ ...field, key: to }));
  const declared = renamed(before, from, (field) => ({
    ...field,
    key: to,
    // a former key that becomes the present one again is none any more
    aliases: [...(field.aliases ?? []).filter(({ key }) => key !== to), alias],
  }));
  const { values, errors } = cleanCardType(declared, { ...before, ...changed });
  if (errors.length > 0) throw invalidFields(errors);
  const after = { ...before, ...values };
  refuseFrozenLevels(type, fieldsOf(before), fieldsOf(after));
  const written = await updateRow(
    work.sql,
    CardTypeDefinition,
    { key: type },
    differingMembers(before, { fields_schema: after.fields_schema, subtypes: after.subtypes }),
  );
  const metamodel = await loadMetamodel(work.sql);
  await renameInConsumers(run.ctx, work, metamodel);
  const left = await unable(run, metamodel, `field:${type}.${from}`);
  if (breaks(left) && !run.force && !run.dryRun) throw inUse(left);
  const renames = { removed: [], retyped: [], renamed: [{ from, to }], options: [] };
  const counts = await updateInventory(run, { cards: { type, values: renames, removedSubtypes: new Set() } });
  run.broken = left;
  emitCardType(work, before, written);
  if (!run.dryRun) return await readCardType(work.sql, type, run.language);
  const as_job = counts.cards + counts.relations > run.limit;
  return JSON.stringify({ ...noImpact, ...counts, ...listed(left), needs_force: breaks(left), as_job });
}

/**
 * The fields that undoing a change of a type gives another key again: those that the change has renamed, or named back by
 * undoing a rename. All values follow, also those that cards have got since.
 */
export function renamesUndone(present: CardTypeRow, past: CardTypeRow): { from: string; to: string }[] {
  const all = ({ fields_schema }: CardTypeRow) => fields_schema.flatMap(({ fields }) => fields);
  const without = (row: CardTypeRow, other: CardTypeRow) => {
    const keys = new Set(all(other).map(({ key }) => key));
    return all(row).filter(({ key }) => !keys.has(key));
  };
  const names = ({ aliases }: Field, key: string) => aliases?.some((alias) => alias.key === key) === true;
  const returning = without(past, present);
  return without(present, past).flatMap((field) => {
    const to = returning.find((other) => names(field, other.key) || names(other, field.key));
    return to && to.type === field.type ? [{ from: field.key, to: to.key }] : [];
  });
}

/** The fields and subtypes of a type, with one field changed and named as that. */
function renamed(
  { fields_schema, subtypes }: CardTypeRow,
  from: string,
  change: (field: Field) => Field,
): Pick<CardTypeRow, 'fields_schema' | 'subtypes'> {
  const { key: to } = change({ key: from } as Field);
  return {
    fields_schema: fields_schema.map((section) => ({
      ...section,
      fields: section.fields.map((field) => (field.key === from ? change(field) : field)),
    })),
    subtypes: subtypes.map((subtype) =>
      subtype.hidden_fields
        ? { ...subtype, hidden_fields: subtype.hidden_fields.map((key) => (key === from ? to : key)) }
        : subtype,
    ),
  };
}

/** The objects that still name a field by its former key, but for clients, whose requests may do so. */
async function unable(
  { ctx, work }: ChangeRun,
  metamodel: Awaited<ReturnType<typeof loadMetamodel>>,
  former: string,
): Promise<FoundConsumers> {
  const clients = ctx.extensions.consumers.filter((kind) => kind.tables.includes('odata_reads'));
  const consumers = ctx.extensions.consumers.filter((kind) => !clients.includes(kind));
  const stored = { ...ctx, extensions: { ...ctx.extensions, consumers } };
  return await consumersOf(stored, work.sql, metamodel, new Set([former]));
}
