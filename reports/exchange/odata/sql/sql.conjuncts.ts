import type { EntitySet } from '../model/model.types.ts';
import type { Expr } from '../query/query.types.ts';

/** Splits a filter into its conjuncts. */
export function conjunctsOf(expr: Expr): Expr[] {
  if (expr.kind !== 'binary' || expr.operator !== 'and') return [expr];
  return [...conjunctsOf(expr.left), ...conjunctsOf(expr.right)];
}

/** Whether an expression reads members of JSON columns of the entity, and no related entities. */
export function readsJson(expr: Expr, set: EntitySet): boolean {
  const names = namesIn(expr);
  if (names === undefined) return false;
  const properties = names.map((name) => set.properties.get(name));
  return properties.every(Boolean) && properties.some((property) => property!.inside);
}

/** The properties that an expression reads; undefined if it reads related entities. */
function namesIn(expr: Expr): string[] | undefined {
  switch (expr.kind) {
    case 'literal':
      return [];
    case 'path':
      return expr.steps.length === 1 ? [expr.steps[0]!.name] : undefined;
    case 'not':
    case 'negative':
    case 'cast':
      return namesIn(expr.operand);
    case 'binary':
      return namesInAll([expr.left, expr.right]);
    case 'in':
      return namesInAll([expr.left, ...expr.items]);
    case 'call':
      return namesInAll(expr.args);
    default:
      return undefined;
  }
}

function namesInAll(exprs: Expr[]): string[] | undefined {
  const all: string[] = [];
  for (const expr of exprs) {
    const names = namesIn(expr);
    if (names === undefined) return undefined;
    all.push(...names);
  }
  return all;
}
