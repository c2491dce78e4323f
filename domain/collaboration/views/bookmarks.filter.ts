import { embed, fragment } from '../../../platform/database.ts';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import {
  conditionOn,
  prepareFilter,
  prepareMember,
  prepareNode,
} from '../../inventory/filters/filters.prepare.ts';
import type { FilterNode } from '../../inventory/filters/filters.types.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import type { BookmarkFilters } from './bookmarks.input.ts';

type FilterScalar = string | number | boolean;

const PHASES = ['plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife'];

/** The current phase: the last one that has begun; `plan` if all dates are to come. */
const PRESENT_PHASE = `coalesce((select p.phase from unnest(array['${PHASES.join("','")}']) with ordinality as p (phase, n)
  where c.lifecycle->>p.phase <= to_char(now() at time zone 'UTC', 'YYYY-MM-DD')
  order by c.lifecycle->>p.phase desc, p.n desc limit 1),
  case when c.lifecycle <> '{}' then 'plan' end)`;

/**
 * A view's filters except `search`, as conditions over the alias `c` of `cards`.
 * @throws EstateError 422 naming the member under `filters`; `forbidden` for fields that the caller may not see.
 */
export async function bookmarkConditions(ctx: Ctx, filters: BookmarkFilters): Promise<Condition[]> {
  const conditions: Condition[] = [];
  const oneOf = (sql: string, values: string[] | undefined) => {
    if (values?.length) conditions.push(fragment`${embed(sql)} = any(${values}::text[])`);
  };
  const { expression, mine } = filters;
  if (expression?.trim()) {
    const asked = await prepareMember('filters.expression', () => prepareFilter(ctx, expression));
    if (asked) conditions.push(asked);
  }
  if (mine) {
    conditions.push(fragment`exists (select from stakeholders h
      where h.card_id = c.id and h.user_id = ${ctx.caller.userId}::uuid)`);
  }
  oneOf('c.type', filters.types);
  oneOf('c.subtype', filters.subtypes);
  oneOf('c.approval_status', filters.approvalStatuses);
  oneOf(PRESENT_PHASE, filters.lifecyclePhases);
  if (typeof filters.dataQualityMin === 'number') {
    conditions.push(fragment`c.data_quality >= ${filters.dataQualityMin}::numeric`);
  }
  if (filters.tagIds?.length) {
    conditions.push(fragment`exists (select from card_tags k
      where k.card_id = c.id and k.tag_id = any(${filters.tagIds}::uuid[]))`);
  }
  const add = async (field: string, node: FilterNode) =>
    void conditions.push(await prepareMember(field, () => prepareNode(ctx, node)));
  for (const [key, value] of Object.entries(filters.attributes ?? {})) {
    if (Array.isArray(value) && value.length === 0) continue;
    await add(`filters.attributes.${key}`, attributeNode(key, value));
  }
  for (const [key, value] of Object.entries(filters.relations ?? {})) {
    if (value !== true && value.length === 0) continue;
    await add(`filters.relations.${key}`, relationNode(key, value));
  }
  return conditions;
}

/**
 * Checks a view's filters when they are written: against the metamodel, and that the tags exist.
 * @throws EstateError as {@link bookmarkConditions} does.
 */
export async function checkBookmarkFilters(ctx: Ctx, filters: BookmarkFilters): Promise<void> {
  const errors: FieldError[] = [];
  const known = (member: string, values: string[] | undefined, has: (value: string) => boolean) => {
    for (const [n, value] of (values ?? []).entries()) {
      if (!has(value)) {
        const message = `"${value}" is not known`;
        errors.push({ field: `filters.${member}.${n}`, code: 'unknown_value', message });
      }
    }
  };
  const types = ctx.metamodel.visibleTypes;
  const subtypes = new Set(types.flatMap((key) => [...ctx.metamodel.cardTypes.get(key)!.subtypeKeys]));
  known('types', filters.types, (key) => types.includes(key));
  known('subtypes', filters.subtypes, (key) => subtypes.has(key));
  if (filters.tagIds?.length) {
    const found = new Set(await ctx.db('tags').whereIn('id', filters.tagIds).pluck('id'));
    known('tagIds', filters.tagIds, (id) => found.has(id.toLowerCase()));
  }
  if (errors.length > 0) throw invalidFields(errors);
  await bookmarkConditions(ctx, filters);
}

function attributeNode(key: string, value: FilterScalar | FilterScalar[] | null): FilterNode {
  const path = ['attributes', key];
  if (value === null) return conditionOn(path, 'is empty');
  return Array.isArray(value) ? conditionOn(path, 'in', value) : conditionOn(path, '=', [value]);
}

/** The card may be either end of the relation. */
function relationNode(key: string, value: string[] | true): FilterNode {
  if (value === true) return conditionOn(['relation', key], 'is not empty');
  const items = ['target', 'source'].map((end) => conditionOn(['relation', key, end, 'id'], 'in', value));
  return { kind: 'or', items };
}
