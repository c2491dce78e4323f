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
import { navigationSource, type Source, type StatementContext } from './sql.navigation.ts';
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
      return test(expr.quantifier === 'any' ? anyOf(expr, scope, false) : negate(anyOf(expr, scope, true)));
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

/** Follows a single navigation property or a collection: the related entities, and the scope of one of them. */
function enter(scope: Scope, { target, path }: Navigation): { source: Source; inner: Scope } {
  const { statement } = scope;
  const alias = statement.alias();
  const set = statement.model.sets.get(target)!;
  return { source: navigationSource(statement, path, scope.alias, alias), inner: { ...scope, set, alias } };
}

/**
 * Follows a path to its last name, through variables and single navigation properties.
 * @param use evaluates the last name in the scope in which it is found.
 * @param around wraps the result for each navigation property on the way.
 */
function follow<T>(
  [step, ...rest]: PathStep[],
  scope: Scope,
  use: (last: ResolvedName, scope: Scope, step: PathStep) => T,
  around: (inner: T, source: Source) => T,
  first = true,
): T {
  const { name, at } = step!;
  const { option } = scope;
  const meaning = resolveName(step!, scope.set, scope, first);
  if (rest.length === 0) return use(meaning, scope, step!);
  if ('property' in meaning || ('variable' in meaning && 'value' in meaning.variable)) {
    throw invalidQuery(option, `"${name}" has no properties`, rest[0]!.at);
  }
  if ('variable' in meaning) return follow(rest, { ...scope, ...meaning.variable }, use, around, false);
  if (meaning.navigation.collection) {
    throw invalidQuery(option, `"${name}" is a collection: use any, all or $count`, at);
  }
  const { source, inner } = enter(scope, meaning.navigation);
  return around(follow(rest, inner, use, around, false), source);
}

/** A value of the one related entity. */
const ofRelated = (value: Value, { from, where }: Source): Value => ({
  kind: value.kind,
  sql: sql`(select ${value.sql} from ${from} where ${where} limit 1)`,
  ...(value.whole ? { whole: true } : {}),
});

function pathValue(path: PathStep[], scope: Scope, forOrder: boolean): Value {
  const { option } = scope;
  const use = (meaning: ResolvedName, inner: Scope, { name, at }: PathStep): Value => {
    if ('variable' in meaning) {
      if ('value' in meaning.variable) return meaning.variable.value;
      throw invalidQuery(option, `"${name}" is followed by a property`, at);
    }
    if ('property' in meaning) {
      const { property } = meaning;
      if (property.collection) {
        throw invalidQuery(option, `"${name}" is a collection: use any or all`, at);
      }
      const value = forOrder && property.order ? property.order : property.value;
      return { kind: kindOf(property.type), sql: value(inner.alias) };
    }
    if (meaning.navigation.collection) {
      throw invalidQuery(option, `"${name}" is a collection: use any, all or $count`, at);
    }
    const related = enter(inner, meaning.navigation);
    return ofRelated({ kind: 'entity', sql: raw(`${related.inner.alias}.id`) }, related.source);
  };
  return follow(path, scope, use, ofRelated);
}

/** The condition that an item of the collection matches the predicate, or does not match it if `negated`. */
function anyOf(expr: Expr & { kind: 'lambda' }, outer: Scope, negated: boolean): Fragment {
  const { option, statement } = outer;
  const lambdas = (outer.lambdas ?? 0) + 1;
  if (lambdas > MAX_LAMBDA_DEPTH)
    throw invalidQuery(option, `any and all may be nested at most ${MAX_LAMBDA_DEPTH} times`, expr.at);
  const meets = (scope: Scope, variable: Variable): Fragment => {
    if (!expr.predicate) return total(raw('true'));
    const variables = new Map(scope.variables);
    if (expr.variable !== undefined) variables.set(expr.variable, variable);
    const inner = conditionOf(expr.predicate, { ...scope, variables });
    return negated ? negate(inner) : inner;
  };
  const exists = (condition: Fragment, { from, where }: Source) =>
    total(sql`exists (select from ${from} where ${where} and (${condition}))`);
  const use = (meaning: ResolvedName, scope: Scope, { name }: PathStep): Fragment => {
    if ('property' in meaning && meaning.property.collection) {
      const one = statement.alias();
      const value: Value = { kind: 'string', sql: raw(`${one}.value`) };
      return total(
        sql`exists (select from jsonb_array_elements_text(${meaning.property.value(scope.alias)}) as ${raw(one)} (value)
            where ${meets(scope, { value })})`,
      );
    }
    if ('navigation' in meaning && meaning.navigation.collection) {
      const { source, inner } = enter(scope, meaning.navigation);
      return exists(meets(scope, { set: inner.set, alias: inner.alias }), source);
    }
    throw invalidQuery(option, `"${name}" is not a collection: any and all need one`, expr.at);
  };
  return follow(expr.steps, { ...outer, lambdas }, use, exists);
}

function count(expr: Expr & { kind: 'count' }, outer: Scope): Value {
  const { option } = outer;
  const whole = (fragment: Fragment): Value => ({ kind: 'number', sql: fragment, whole: true });
  const use = (meaning: ResolvedName, scope: Scope, { name }: PathStep): Value => {
    if ('property' in meaning && meaning.property.collection) {
      if (expr.filter) {
        const message = '$filter within $count is not supported for collections of values';
        throw notSupported(option, message, expr.at);
      }
      return whole(sql`jsonb_array_length(${meaning.property.value(scope.alias)})::numeric`);
    }
    if ('navigation' in meaning && meaning.navigation.collection) {
      const { source, inner } = enter(scope, meaning.navigation);
      const parts = expr.filter ? [source.where, conditionOf(expr.filter, inner)] : [source.where];
      return whole(sql`(select count(*)::numeric from ${source.from} where ${combine('and', parts)})`);
    }
    throw invalidQuery(option, `"${name}" cannot be counted`, expr.at);
  };
  return follow(expr.steps, outer, use, ofRelated);
}
