import type { EntitySet, ODataModel } from './model/model.types.ts';
import { childrenOf, type Expr, type NestedOptions, type PathStep } from './query/query.types.ts';

type Variables = ReadonlyMap<string, EntitySet>;

/**
 * The parts of the metamodel that a query names: its types, and the attributes in `$select`, `$filter` and `$orderby`, also of
 * expanded entities. Without `$select` a client takes what there is, so no attribute counts as named.
 */
export function columnsOf(model: ODataModel, set: EntitySet, options: NestedOptions): string[] {
  const found = new Set<string>();
  collect(model, set, options, found);
  return [...found];
}

/** The path of a property in the metamodel; undefined if every entity has it. */
export function columnOf(set: EntitySet, name: string): string | undefined {
  const shown = set.properties.get(name)?.shown;
  if (shown?.as !== 'inside' || shown.column !== 'attributes') return undefined;
  return `${set.kind === 'relation' ? 'relation_field' : 'field'}:${set.key}.${shown.key}`;
}

function addSet({ kind, key }: EntitySet, found: Set<string>): void {
  if (kind === 'card') found.add(`type:${key}`);
  if (kind === 'relation') found.add(`relation_type:${key}`);
}

function collect(model: ODataModel, set: EntitySet, options: NestedOptions, found: Set<string>): void {
  addSet(set, found);
  const named = (of: EntitySet, name: string) => {
    const column = columnOf(of, name);
    if (column) found.add(column);
  };
  /** Follows the steps; returns the set at the end of those that are navigation properties. */
  const follow = (steps: readonly PathStep[], from: EntitySet, variables: Variables): EntitySet => {
    let at = from;
    for (const [n, { name }] of steps.entries()) {
      const variable = n === 0 ? variables.get(name) : undefined;
      const navigation = at.navigations.get(name);
      const target = variable ?? (navigation && model.sets.get(navigation.target));
      if (target) {
        at = target;
        if (navigation) {
          addSet(target, found);
          if ('relationType' in navigation.path) found.add(`relation_type:${navigation.path.relationType}`);
        }
      } else named(at, name);
    }
    return at;
  };
  const visit = (expr: Expr, from: EntitySet, variables: Variables): void => {
    if (expr.kind === 'path') follow(expr.steps, from, variables);
    else if (expr.kind === 'lambda') {
      const target = follow(expr.steps, from, variables);
      const inner = expr.variable ? new Map([...variables, [expr.variable, target]]) : variables;
      if (expr.predicate) visit(expr.predicate, from, inner);
    } else if (expr.kind === 'count') {
      const target = follow(expr.steps, from, variables);
      if (expr.filter) visit(expr.filter, target, variables);
    } else for (const part of childrenOf(expr)) visit(part, from, variables);
  };
  for (const name of options.select ?? []) named(set, name);
  for (const expr of [options.filter, ...options.orderby.map((item) => item.expr)]) {
    if (expr) visit(expr, set, new Map());
  }
  for (const { name, options: nested } of options.expand) {
    const target = follow([{ name, at: 0 }], set, new Map());
    if (target !== set || set.navigations.get(name)) collect(model, target, nested, found);
  }
}
