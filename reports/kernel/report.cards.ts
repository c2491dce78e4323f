import { visibleCards } from '../../domain/inventory/cards/cards.projection.ts';
import { prepareFilter } from '../../domain/inventory/filters/filters.prepare.ts';
import { isPicture, type ReportFormat } from '../../domain/inventory/reports/report.options.ts';
import type { Ctx } from '../../domain/kernel/context.ts';
import type { Fragment } from '../../domain/kernel/lists/lists.types.ts';
import { may } from '../../domain/kernel/permissions/policy.ts';
import { embed, fragment } from '../../platform/database.ts';
import { type RangeQuery, rangeOf } from './report.rows.ts';
import { scopeOf } from './report.scope.ts';
import { literal } from './report.sql.ts';
import type { Report, ReportRequest } from './report.ts';

/** The active cards that the caller sees, over the alias `c`. */
export function activeCards(ctx: Ctx): Fragment {
  return fragment`c.status = 'ACTIVE' and (${embed(visibleCards(ctx))})`;
}

/**
 * Whether a report covers fewer than all active cards: because of a filter, or because the caller only sees cards by
 * stakeholder roles.
 */
export const isNarrowed = ({ ctx, filtered }: { ctx: Ctx; filtered: boolean }): boolean =>
  filtered || !may(ctx.caller, 'inventory.view');

/**
 * The condition of a report's cards over the alias `c`: active, visible to the caller, and matching the filter.
 * @throws EstateError 422 for an invalid filter, `forbidden` for one over fields that the caller may not see.
 */
export async function reportCards(ctx: Ctx, filter: string | undefined, asOf?: Date): Promise<Fragment> {
  const active = activeCards(ctx);
  const asked = filter ? await prepareFilter(ctx, filter, asOf?.toISOString().slice(0, 10)) : undefined;
  if (!asked) return active;
  return fragment`${embed(active)} and (${embed(asked)})`;
}

/** The request for a report, with its parsed filter. @throws EstateError like {@link reportCards}. */
export async function reportRequest(
  ctx: Ctx,
  report: Report,
  params: Record<string, unknown>,
  given: {
    filter: string | undefined;
    scope: string | undefined;
    asOf: Date | undefined;
    format: ReportFormat;
    range?: RangeQuery | undefined;
  },
): Promise<ReportRequest> {
  const { filter, asOf, format, range } = given;
  const active = activeCards(ctx);
  const scope = given.scope === undefined ? undefined : await scopeOf(ctx, active, given.scope);
  const asked = await reportCards(ctx, filter, asOf);
  const cards = scope ? fragment`${embed(asked)} and ${embed(scope.cards)}` : asked;
  return {
    report,
    params,
    said: { ...params, filter, scope: scope?.name },
    cards,
    visible: scope ? fragment`${embed(active)} and ${embed(scope.visible)}` : active,
    ...(range && { range: rangeOf(range, [report.name, params, cards, asOf]) }),
    filtered: Boolean(filter) || scope !== undefined,
    ...(asOf && { asOf }),
    ...(isPicture(format) &&
      (report.stream?.applies(params) || report.choosesForPicture?.(params)) && { forPicture: true }),
  };
}

/**
 * SQL of attributes without the cost fields of each type, unless the caller has `costs.view`. Stakeholder roles are not
 * considered, since the result is shared by many callers.
 * @param alias of the cards or relations. @param types those that the rows may have.
 */
export function withoutCosts(
  ctx: Ctx,
  alias: string,
  types: Iterable<{ key: string; costKeys: readonly string[] }>,
): string {
  const attributes = `${alias}.attributes`;
  if (may(ctx.caller, 'costs.view')) return attributes;
  const branches = [...types]
    .filter(({ costKeys }) => costKeys.length > 0)
    .map(
      ({ key, costKeys }) =>
        `when ${literal(key)} then ${attributes} - array[${costKeys.map(literal).join(', ')}]`,
    );
  return branches.length > 0 ? `case ${alias}.type ${branches.join(' ')} else ${attributes} end` : attributes;
}

/** The attributes of cards over the alias `c`, see `withoutCosts`. @param types keys of their types; absent: any. */
export function reportAttributes(ctx: Ctx, types?: readonly string[]): string {
  const all = [...ctx.metamodel.cardTypes.values()];
  return withoutCosts(ctx, 'c', types ? all.filter(({ key }) => types.includes(key)) : all);
}
