import { embed, fragment } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidField, invalidFields } from '../../../platform/errors.ts';
import { prepareNode } from '../../inventory/filters/filters.prepare.ts';
import type { FilterNode, FilterOperator, FilterWord } from '../../inventory/filters/filters.types.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import type { BookmarkFilters } from './bookmarks.input.ts';

type FilterScalar = string | number | boolean;

const PHASES = ['plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife'];

/** The current phase: the last one that has begun. */
const PRESENT_PHASE = `(select p.phase from unnest(array['${PHASES.join("','")}']) with ordinality as p (phase, n)
  where c.lifecycle->>p.phase <= to_char(now() at time zone 'UTC', 'YYYY-MM-DD')
  order by c.lifecycle->>p.phase desc, p.n desc limit 1)`;

/**
 * A view's filters except `search`, as conditions over the alias `c` of `cards`.
 * @throws EstateError 422 naming the member under `filters`; `forbidden` for fields that the caller may not see.
 */
export async function bookmarkConditions(ctx: Ctx, filters: BookmarkFilters): Promise<Condition[]> {
  const conditions: Condition[] = [];
  const oneOf = (sql: string, values: string[] | undefined) => {
    if (values?.length) conditions.push(fragment`${embed(sql)} = any(${values}::text[])`);
  };
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
  for (const [key, value] of Object.entries(filters.attributes ?? {})) {
    if (Array.isArray(value) && value.length === 0) continue;
    const path = ['attributes', key];
    conditions.push(await prepared(ctx, `filters.attributes.${key}`, attributeNode(path, value)));
  }
  for (const [key, value] of Object.entries(filters.relations ?? {})) {
    if (value !== true && value.length === 0) continue;
    conditions.push(await prepared(ctx, `filters.relations.${key}`, relationNode(key, value)));
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
        errors.push({
          field: `filters.${member}.${n}`,
          code: 'unknown_value',
          message: `"${value}" is not known`,
        });
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

const word = (text: string, quoted: boolean): FilterWord => ({ text, quoted, position: 1 });

function condition(path: string[], operator: FilterOperator, values: FilterScalar[]): FilterNode {
  return {
    kind: 'condition',
    path: path.map((part, n) => word(part, n > 0)),
    operator,
    position: 1,
    values: values.map((value) => word(String(value), typeof value === 'string')),
  };
}

function attributeNode(path: string[], value: FilterScalar | FilterScalar[] | null): FilterNode {
  if (value === null) return condition(path, 'is empty', []);
  return Array.isArray(value) ? condition(path, 'in', value) : condition(path, '=', [value]);
}

/** The card may be either end of the relation. */
function relationNode(key: string, value: string[] | true): FilterNode {
  if (value === true) return plain(condition(['relation', key], 'is not empty', []));
  const items = ['target', 'source'].map((end) =>
    plain(condition(['relation', key, end, 'id'], 'in', value)),
  );
  return { kind: 'or', items };
}

/** A path of bare words. */
function plain(node: FilterNode): FilterNode {
  if (node.kind !== 'condition') return node;
  return { ...node, path: node.path.map(({ text }) => word(text, false)) };
}

/** A condition of the filter language; errors name the view's member. */
async function prepared(ctx: Ctx, field: string, node: FilterNode): Promise<Condition> {
  try {
    return await prepareNode(ctx, node);
  } catch (error) {
    if (!(error instanceof EstateError) || error.status !== 422) throw error;
    const first = error.errors?.[0];
    throw invalidField(field, first?.code ?? 'filter_value', first?.message ?? error.message);
  }
}
