import {
  combine,
  type Fragment,
  negate,
  raw,
  sql,
  total,
} from '../../../../domain/inventory/filters/filters.sql.ts';
import { forbidden } from '../../../../domain/kernel/permissions/policy.ts';
import type { EntitySet, Navigation, ODataProperty } from '../model/model.types.ts';
import { invalidQuery, notSupported } from '../odata.errors.ts';
import type { BinaryOperator, Expr, PathStep } from '../query/query.types.ts';
import { callFunction } from './sql.functions.ts';
import { navigationSource, type StatementContext } from './sql.navigation.ts';
import {
  canParse,
  compare,
  isComparison,
  type Kind,
  kindName,
  kindOf,
  literalValue,
  sqlTypes,
  type Value,
} from './sql.values.ts';

/** Maximum nesting of `any` and `all`. */
const MAX_LAMBDA_DEPTH = 3;

type Variable = { set: EntitySet; alias: string } | { value: Value };

/** The context of an expression. */
export interface Scope {
  statement: StatementContext;
  /** The query option that contains it. */
  option: string;
  set: EntitySet;
  alias: string;
  variables?: ReadonlyMap<string, Variable>;
  lambdas?: number;
}

/** SQL of a condition over the scope's alias. @throws EstateError for one that does not match the model. */
export function conditionOf(expr: Expr, scope: Scope): Fragment {
  return condition(evaluate(expr, scope), scope, expr.at);
}

function condition(value: Value, { option }: Scope, at: number): Fragment {
  if (value.kind === 'null') return total(raw('false'));
  if (value.kind !== 'boolean') throw invalidQuery(option, `${kindName(value.kind)} is not a condition`, at);
  return value.sql;
}

/** SQL of an expression's value; `forOrder`: the expression that it is ordered by. */
export function evaluate(expr: Expr, scope: Scope, forOrder = false): Value {
  const { option } = scope;
  switch (expr.kind) {
    case 'literal':
      return literalValue(expr, option);
    case 'path':
      return pathValue(expr.steps, scope, forOrder);
    case 'not': {
      const value = evaluate(expr.operand, scope);
      const inner = condition(value, scope, expr.at);
      // NOT NULL is NULL; a test over missing values is false
      return test(value.test ? negate(inner) : sql`not (${inner})`);
    }
    case 'negative': {
      const value = numeric(evaluate(expr.operand, scope), scope, expr.at);
      return { kind: 'number', sql: sql`(-(${value.sql}))`, whole: value.whole ?? false };
    }
    case 'binary':
      return binary(expr.operator, expr, scope);
    case 'in':
      return among(expr, scope);
    case 'call':
      return callFunction(
        expr.name,
        expr.args.map((arg) => evaluate(arg, scope)),
        option,
        expr.at,
      );
    case 'cast':
      return cast(expr, scope);
    case 'lambda':
      return test(
        expr.quantifier === 'any'
          ? anyOf(expr, expr.steps, scope, false)
          : negate(anyOf(expr, expr.steps, scope, true)),
      );
    case 'count':
      return count(expr, scope);
  }
}

const test = (fragment: Fragment): Value => ({ kind: 'boolean', sql: fragment, test: true });

function numeric(value: Value, { option }: Scope, at: number): Value {
  if (value.kind === 'null') return { kind: 'number', sql: raw('null::numeric') };
  if (value.kind === 'date' || value.kind === 'moment') {
    throw notSupported(option, 'arithmetic with dates and times is not supported', at);
  }
  if (value.kind !== 'number') throw invalidQuery(option, `cannot compute with ${kindName(value.kind)}`, at);
  return value;
}

function binary(operator: BinaryOperator, expr: Expr & { kind: 'binary' }, scope: Scope): Value {
  const { option } = scope;
  const { at } = expr;
  const left = evaluate(expr.left, scope);
  const right = evaluate(expr.right, scope);
  if (operator === 'and' || operator === 'or') {
    return test(
      combine(
        operator,
        [condition(left, scope, at), condition(right, scope, at)].map((part) => ({
          ...part,
          sql: `(${part.sql})`,
        })),
      ),
    );
  }
  if (isComparison(operator)) return test(compare(operator, [left, right], option, at));
  const a = numeric(left, scope, at);
  const b = numeric(right, scope, at);
  const whole = Boolean(a.whole && b.whole);
  // division by zero gives null
  const operand = '%/'.includes(signs[operator]) ? sql`nullif(${b.sql}, 0)` : b.sql;
  const result = sql`(${a.sql} ${raw(signs[operator])} ${operand})`;
  if (operator === 'div' && whole) return { kind: 'number', sql: sql`trunc${result}`, whole };
  return { kind: 'number', sql: result, whole: whole && operator !== 'divby' };
}

const signs = { add: '+', sub: '-', mul: '*', mod: '%', div: '/', divby: '/' } as const;

function among(expr: Expr & { kind: 'in' }, scope: Scope): Value {
  const left = evaluate(expr.left, scope);
  const tests = expr.items.map((item) => compare('eq', [left, evaluate(item, scope)], scope.option, item.at));
  return test(
    combine(
      'or',
      tests.map((part) => ({ ...part, sql: `(${part.sql})` })),
    ),
  );
}

const castKinds: Record<string, Kind> = {
  'edm.string': 'string',
  'edm.guid': 'guid',
  'edm.double': 'number',
  'edm.single': 'number',
  'edm.decimal': 'number',
  'edm.byte': 'number',
  'edm.sbyte': 'number',
  'edm.int16': 'number',
  'edm.int32': 'number',
  'edm.int64': 'number',
  'edm.boolean': 'boolean',
  'edm.date': 'date',
  'edm.datetimeoffset': 'moment',
};

function cast(expr: Expr & { kind: 'cast' }, scope: Scope): Value {
  const { option } = scope;
  const lower = expr.type.toLowerCase();
  const kind = Object.hasOwn(castKinds, lower) ? castKinds[lower]! : undefined;
  if (!kind) throw notSupported(option, `casts to ${expr.type} are not supported`, expr.at);
  const value = evaluate(expr.operand, scope);
  const whole = kind === 'number' && /int|byte/.test(lower);
  if (value.kind === 'null') return value;
  if (value.literal?.type === 'string' && kind !== 'string') {
    const { value: text } = value.literal;
    // a value that cannot be cast gives null (URL conventions, 5.1.1.10.1)
    if (!canParse(text, kind)) return { kind: 'null', sql: raw('null') };
    return { kind, sql: sql`${text}::${raw(sqlTypes[kind])}`, whole };
  }
  if (value.kind === kind) return whole ? { ...value, sql: sql`trunc(${value.sql})`, whole } : value;
  if (kind === 'string') {
    const text = value.kind === 'moment' ? sql`utc(${value.sql})` : sql`(${value.sql})::text`;
    return { kind, sql: text };
  }
  if (kind === 'date' && value.kind === 'moment') return callFunction('date', [value], option, expr.at);
  if (kind === 'number' && value.kind === 'string') {
    const number = sql`(case when ${value.sql} ~ '^-{0,1}\\d{1,30}(\\.\\d{1,30}){0,1}$' then (${value.sql})::numeric end)`;
    return { kind, sql: number };
  }
  throw notSupported(option, `casts of ${kindName(value.kind)} to ${expr.type} are not supported`, expr.at);
}

/** What a name refers to: a variable, a property or a navigation property. */
type ResolvedName = { variable: Variable } | { property: ODataProperty } | { navigation: Navigation };

function resolveName({ name, at }: PathStep, set: EntitySet, scope: Scope, first: boolean): ResolvedName {
  const variable = first ? scope.variables?.get(name) : undefined;
  if (variable) return { variable };
  const property = set.properties.get(name);
  if (property) return { property };
  const navigation = set.navigations.get(name);
  if (navigation) return { navigation };
  if (set.hiddenCosts.has(name)) throw forbidden('costs.view');
  throw invalidQuery(scope.option, `"${name}" is not a property of ${set.name}`, at);
}

const rest = (steps: PathStep[]) => steps.slice(1);

function pathValue(steps: PathStep[], scope: Scope, forOrder: boolean, first = true): Value {
  const [step] = steps;
  const { option, set, alias, statement } = scope;
  const meaning = resolveName(step!, set, scope, first);
  if ('variable' in meaning) {
    const { variable } = meaning;
    if ('value' in variable) {
      if (steps.length > 1) throw invalidQuery(option, `"${step!.name}" has no properties`, step!.at);
      return variable.value;
    }
    if (steps.length === 1) throw invalidQuery(option, `"${step!.name}" is followed by a property`, step!.at);
    return pathValue(rest(steps), { ...scope, ...variable }, forOrder, false);
  }
  if ('property' in meaning) {
    const { property } = meaning;
    if (steps.length > 1) throw invalidQuery(option, `"${property.name}" has no properties`, steps[1]!.at);
    if (property.collection) {
      throw invalidQuery(option, `"${property.name}" is a collection: use any or all`, step!.at);
    }
    const kind = kindOf(property.type);
    return { kind, sql: (forOrder && property.order ? property.order : property.value)(alias) };
  }
  const { navigation } = meaning;
  if (navigation.collection) {
    throw invalidQuery(option, `"${navigation.name}" is a collection: use any, all or $count`, step!.at);
  }
  const to = statement.alias();
  const target = statement.model.sets.get(navigation.target)!;
  const source = navigationSource(statement, navigation.path, alias, to);
  const inner: Value =
    steps.length === 1
      ? { kind: 'entity', sql: raw(`${to}.id`) }
      : pathValue(rest(steps), { ...scope, set: target, alias: to }, forOrder, false);
  return {
    kind: inner.kind,
    sql: sql`(select ${inner.sql} from ${source.from} where ${source.where} limit 1)`,
    ...(inner.whole ? { whole: true } : {}),
  };
}

/** The condition that an item of the collection matches the predicate, or does not match it if `negated`. */
function anyOf(
  expr: Expr & { kind: 'lambda' },
  steps: PathStep[],
  scope: Scope,
  negated: boolean,
  first = true,
): Fragment {
  const { option, statement } = scope;
  const lambdas = (scope.lambdas ?? 0) + (first ? 1 : 0);
  if (lambdas > MAX_LAMBDA_DEPTH)
    throw invalidQuery(option, `any and all may be nested at most ${MAX_LAMBDA_DEPTH} times`, expr.at);
  const meaning = resolveName(steps[0]!, scope.set, scope, first);
  if ('variable' in meaning) {
    if ('value' in meaning.variable || steps.length === 1) {
      throw invalidQuery(option, `"${steps[0]!.name}" is not a collection: any and all need one`, expr.at);
    }
    return anyOf(expr, rest(steps), { ...scope, ...meaning.variable, lambdas }, negated, false);
  }
  const meets = (variable: Variable): Fragment => {
    if (!expr.predicate) return total(raw('true'));
    const variables = new Map(scope.variables);
    if (expr.variable !== undefined) variables.set(expr.variable, variable);
    const inner = conditionOf(expr.predicate, { ...scope, variables, lambdas });
    return negated ? negate(inner) : inner;
  };
  if ('property' in meaning) {
    const { property } = meaning;
    if (!property.collection || steps.length > 1) {
      throw invalidQuery(option, `"${property.name}" is not a collection: any and all need one`, expr.at);
    }
    const one = statement.alias();
    const value: Value = { kind: 'string', sql: raw(`${one}.value`) };
    return total(
      sql`exists (select from jsonb_array_elements_text(${property.value(scope.alias)}) as ${raw(one)} (value)
            where ${meets({ value })})`,
    );
  }
  const { navigation } = meaning;
  if (!navigation.collection && steps.length === 1) {
    throw invalidQuery(option, `"${navigation.name}" is not a collection: any and all need one`, expr.at);
  }
  const to = statement.alias();
  const set = statement.model.sets.get(navigation.target)!;
  const source = navigationSource(statement, navigation.path, scope.alias, to);
  if (navigation.collection && steps.length > 1) {
    throw invalidQuery(option, `"${navigation.name}" is a collection: nest any or all`, steps[1]!.at);
  }
  const inner = navigation.collection
    ? meets({ set, alias: to })
    : anyOf(expr, rest(steps), { ...scope, set, alias: to, lambdas }, negated, false);
  return total(sql`exists (select from ${source.from} where ${source.where} and (${inner}))`);
}

function count(expr: Expr & { kind: 'count' }, scope: Scope, steps = expr.steps, first = true): Value {
  const { option, statement } = scope;
  const meaning = resolveName(steps[0]!, scope.set, scope, first);
  if ('variable' in meaning) {
    if ('value' in meaning.variable || steps.length === 1) {
      throw invalidQuery(option, `"${steps[0]!.name}" cannot be counted`, expr.at);
    }
    return count(expr, { ...scope, ...meaning.variable }, rest(steps), false);
  }
  const whole = (fragment: Fragment): Value => ({ kind: 'number', sql: fragment, whole: true });
  if ('property' in meaning) {
    const { property } = meaning;
    if (!property.collection) throw invalidQuery(option, `"${property.name}" cannot be counted`, expr.at);
    if (expr.filter)
      throw notSupported(option, '$filter within $count is not supported for collections of values', expr.at);
    return whole(sql`jsonb_array_length(${property.value(scope.alias)})::numeric`);
  }
  const { navigation } = meaning;
  const to = statement.alias();
  const set = statement.model.sets.get(navigation.target)!;
  const source = navigationSource(statement, navigation.path, scope.alias, to);
  if (!navigation.collection) {
    if (steps.length === 1) throw invalidQuery(option, `"${navigation.name}" cannot be counted`, expr.at);
    const inner = count(expr, { ...scope, set, alias: to }, rest(steps), false);
    return whole(sql`(select ${inner.sql} from ${source.from} where ${source.where} limit 1)`);
  }
  if (steps.length > 1) throw invalidQuery(option, `"${navigation.name}" is a collection`, steps[1]!.at);
  const parts = [source.where];
  if (expr.filter) parts.push(conditionOf(expr.filter, { ...scope, set, alias: to }));
  return whole(sql`(select count(*)::numeric from ${source.from} where ${combine('and', parts)})`);
}
