import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { forbidden, may } from '../../kernel/permissions/policy.ts';
import { visibleCards } from '../cards/cards.projection.ts';
import { checkFilter } from './filters.check.ts';
import { compileFilter } from './filters.compile.ts';
import { parseFilter } from './filters.parser.ts';
import { createFilterSchema, type FilterTagGroup } from './filters.schema.ts';
import type { FilterNode, FilterOperator } from './filters.types.ts';

/**
 * A caller's filter as a condition over the alias `c` of `cards`; undefined for a blank filter, which selects all. Data
 * that a caller may not see cannot be tested either: costs, relations and stakeholders need their permission, and only
 * visible related cards are considered.
 * @param day the day of lifecycle phases, YYYY-MM-DD; today by default.
 * @throws EstateError 422 if the filter is not valid, `forbidden` naming the missing permission.
 */
export async function prepareFilter(ctx: Ctx, text: string, day?: string): Promise<Condition | undefined> {
  const parsed = parseFilter(text);
  return parsed ? await prepareNode(ctx, parsed, day) : undefined;
}

/** {@link prepareFilter} for a filter that is built by code instead of parsed. */
export async function prepareNode(ctx: Ctx, parsed: FilterNode, day?: string): Promise<Condition> {
  const tagGroups: FilterTagGroup[] = namesTags(parsed)
    ? await ctx.db('tag_groups').select('id', 'name')
    : [];
  const filter = checkFilter(parsed, createFilterSchema(ctx.metamodel, tagGroups));
  if (filter.relations && !may(ctx.caller, 'relations.view')) throw forbidden('relations.view');
  if (filter.stakeholders && !may(ctx.caller, 'stakeholders.view')) throw forbidden('stakeholders.view');
  if (filter.costs.size > 0 && !may(ctx.caller, 'costs.view')) throw forbidden('costs.view');
  return compileFilter(filter.root, {
    me: ctx.caller.userId,
    visible: visibleCards(ctx),
    ...(day === undefined ? {} : { day }),
  });
}

/** A condition on a field or a relation, for filters that are built by code. */
export const conditionOn = (
  path: readonly string[],
  operator: FilterOperator,
  values: readonly (string | number | boolean)[] = [],
): FilterNode => ({
  kind: 'condition',
  // keys of attributes may be any words
  path: path.map((text, n) => ({ text, quoted: path[0] === 'attributes' && n > 0, position: 1 })),
  operator,
  position: 1,
  values: values.map((value) => ({ text: String(value), quoted: typeof value === 'string', position: 1 })),
});

/** Prepares a filter; its errors name the member of the request that contains it. @throws EstateError 422. */
export async function prepareMember<T>(field: string, prepare: () => Promise<T>): Promise<T> {
  try {
    return await prepare();
  } catch (error) {
    if (!(error instanceof EstateError) || error.status !== 422) throw error;
    const first = error.errors?.[0];
    throw invalidField(field, first?.code ?? 'filter_value', first?.message ?? error.message);
  }
}

function namesTags(node: FilterNode): boolean {
  if (node.kind === 'condition') return node.path.some((word) => word.text === 'tags');
  return node.kind === 'not' ? namesTags(node.item) : node.items.some(namesTags);
}
