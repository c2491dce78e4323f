import { may } from '../domain/access/policy.ts';
import { visibleCards } from '../domain/cards/cards.visible.ts';
import type { Ctx } from '../domain/context.ts';
import { prepareFilter } from '../domain/filters/filters.prepare.ts';
import type { Fragment } from '../domain/lists/lists.types.ts';

/**
 * The cards that a report is about, over the alias `c`: active, visible to the caller, let through by the filter.
 * @throws EstateError 422 for a filter that is not valid, `forbidden` for one about what the caller may not see.
 */
export async function reportCards(ctx: Ctx, filter: string | undefined): Promise<Fragment> {
  const visible = visibleCards(ctx);
  const asked = filter ? await prepareFilter(ctx, filter) : undefined;
  const parts = [visible, ...(asked ? [asked] : [])];
  return {
    sql: ["c.status = 'ACTIVE'", ...parts.map((part) => `(${part.sql})`)].join(' and '),
    bindings: parts.flatMap((part) => part.bindings),
  };
}

const quoted = (text: string) => `'${text.replaceAll("'", "''").replaceAll('?', '\\?')}'`;

/**
 * The attributes over the alias `c`, without costs unless the caller holds `costs.view`: a stakeholder role makes no
 * difference, since the answer is shared by many callers.
 * @param types the types that the cards have; absent: any.
 */
export function reportAttributes(ctx: Ctx, types?: readonly string[]): string {
  if (may(ctx.caller, 'costs.view')) return 'c.attributes';
  const branches = (types ?? [...ctx.metamodel.cardTypes.keys()]).flatMap((key) => {
    const costs = ctx.metamodel.cardTypes.get(key)?.costKeys ?? [];
    return costs.length > 0
      ? [`when ${quoted(key)} then c.attributes - array[${costs.map(quoted).join(', ')}]`]
      : [];
  });
  return branches.length > 0 ? `case c.type ${branches.join(' ')} else c.attributes end` : 'c.attributes';
}
