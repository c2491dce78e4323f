import type { Ctx } from '../../../domain/kernel/context.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import type { EntitySet } from './model/model.types.ts';
import type { Expr, NestedOptions } from './query/query.types.ts';

/**
 * Whether changes can be tracked: the feed must tell of everything that an answer depends on, which it does of the
 * entities' own properties.
 */
export function isTrackable(ctx: Ctx, set: EntitySet, options: NestedOptions): boolean {
  if (!may(ctx.caller, 'inventory.view')) return false;
  if (options.expand.length > 0 || options.top !== undefined || options.skip > 0) return false;
  return options.filter === undefined || ownOnly(options.filter, set);
}

/** Whether an expression reads nothing but the entity's own properties. */
function ownOnly(expr: Expr, set: EntitySet): boolean {
  switch (expr.kind) {
    case 'literal':
      return true;
    case 'path':
    case 'count':
      return !expr.steps.some(({ name }) => set.navigations.has(name));
    case 'not':
    case 'negative':
    case 'cast':
      return ownOnly(expr.operand, set);
    case 'binary':
      return ownOnly(expr.left, set) && ownOnly(expr.right, set);
    case 'in':
      return [expr.left, ...expr.items].every((part) => ownOnly(part, set));
    case 'call':
      return expr.name !== 'now' && expr.args.every((part) => ownOnly(part, set));
    case 'lambda':
      return (
        !expr.steps.some(({ name }) => set.navigations.has(name)) &&
        (expr.predicate === undefined || ownOnly(expr.predicate, set))
      );
  }
}
