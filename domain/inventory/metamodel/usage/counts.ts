import { embed, fragment, query } from '../../../../platform/database.ts';
import { invalidField, notFound } from '../../../../platform/errors.ts';
import type { Ctx } from '../../../kernel/context.ts';
import type { Fragment } from '../../../kernel/lists/lists.types.ts';
import type { CardType, CompiledField } from '../../../kernel/metamodel/metamodel.compile.ts';
import { hasOption } from '../changes/values.diff.ts';

/** The number of cards that have a value: active ones, and archived ones. */
interface Usage {
  card_count: number;
  archived_count: number;
}

/** How many cards have a value in the field. @throws EstateError `not_found`, `validation_failed`. */
export async function fieldUsage(
  ctx: Ctx,
  typeKey: string,
  fieldKey: string,
): Promise<Usage & { field_key: string }> {
  requireField(requireType(ctx, typeKey), 'field_key', fieldKey);
  const usage = await count(ctx, typeKey, fragment`jsonb_exists(c.attributes, ${fieldKey})`);
  return { field_key: fieldKey, ...usage };
}

/** The number of cards that have the option. @throws EstateError `not_found`, `validation_failed`. */
export async function optionUsage(
  ctx: Ctx,
  typeKey: string,
  fieldKey: string,
  optionKey: string,
): Promise<Usage & { field_key: string; option_key: string }> {
  requireOption(requireType(ctx, typeKey), fieldKey, optionKey);
  const usage = await count(ctx, typeKey, hasOption('c.attributes', fieldKey, [optionKey]));
  return { field_key: fieldKey, option_key: optionKey, ...usage };
}

/**
 * The number of cards that have a value in each of the fields (comma-separated), and in any of them.
 * @throws EstateError `not_found`, `validation_failed`.
 */
export async function sectionUsage(
  ctx: Ctx,
  typeKey: string,
  fieldKeys: string,
): Promise<Usage & { fields: (Usage & { field_key: string })[] }> {
  const type = requireType(ctx, typeKey);
  const keys = [...new Set(fieldKeys.split(',').map((key) => key.trim()))];
  for (const key of keys) requireField(type, 'field_keys', key);
  const rows = await query(ctx.db).rows<Usage & { field_key: string }>`select k.field_key,
      (count(*) filter (where c.status = 'ACTIVE'))::int as card_count,
      (count(*) filter (where c.status <> 'ACTIVE'))::int as archived_count
    from cards c cross join unnest(${keys}::text[]) as k (field_key)
    where c.type = ${typeKey} and jsonb_exists(c.attributes, k.field_key) group by k.field_key`;
  const used = new Map(rows.map((row) => [row.field_key, row]));
  return {
    ...(await count(ctx, typeKey, fragment`jsonb_exists_any(c.attributes, ${keys}::text[])`)),
    fields: keys.map((key) => used.get(key) ?? { field_key: key, card_count: 0, archived_count: 0 }),
  };
}

/** How many relations of the type there are. @throws EstateError `not_found`. */
export async function instanceCount(ctx: Ctx, key: string): Promise<{ key: string; instance_count: number }> {
  if (!ctx.metamodel.relationTypes.has(key)) throw notFound('relation type', key);
  const instance_count = await query(ctx.db)
    .value<number>`select count(*) from relations where type = ${key}`;
  return { key, instance_count };
}

function requireType(ctx: Ctx, key: string): CardType {
  const type = ctx.metamodel.cardTypes.get(key);
  if (!type) throw notFound('card type', key);
  return type;
}

/** Requires the field and the option, if given. @throws EstateError `validation_failed`. */
export function requireOption(
  type: { fields: ReadonlyMap<string, CompiledField> },
  fieldKey: string | undefined,
  optionKey: string | undefined,
): void {
  if (fieldKey === undefined) {
    if (optionKey === undefined) return;
    throw invalidField('field_key', 'required', 'is needed with option_key');
  }
  const field = requireField(type, 'field_key', fieldKey);
  if (optionKey !== undefined && !field.options.has(optionKey)) {
    throw invalidField('option_key', 'unknown_option', 'is none of the options of this field');
  }
}

function requireField(type: Pick<CardType, 'fields'>, parameter: string, key: string): CompiledField {
  const field = type.fields.get(key);
  if (field) return field;
  throw invalidField(parameter, 'unknown_attribute', `"${key}" is no field of this type`);
}

async function count(ctx: Ctx, type: string, condition: Fragment): Promise<Usage> {
  const usage = await query(ctx.db).row<Usage>`select
      count(*) filter (where c.status = 'ACTIVE') as card_count,
      count(*) filter (where c.status <> 'ACTIVE') as archived_count
     from cards c where c.type = ${type} and (${embed(condition)})`;
  return usage!;
}
