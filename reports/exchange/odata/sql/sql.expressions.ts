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
import { invalidQuery, notOffered } from '../odata.errors.ts';
import type { BinaryOperator, Expr, PathStep } from '../query/query.types.ts';
import { callFunction } from './sql.functions.ts';
import {
  compare,
  isComparison,
  type Kind,
  kindName,
  kindOf,
  literalValue,
  reads,
  sqlTypes,
  type Value,
} from './sql.values.ts';
import { along, type Writing } from './sql.ways.ts';

/** Tests of related entities within tests of related entities. */
const DEEPEST_LAMBDA = 3;

type Variable = { set: EntitySet; alias: string } | { value: Value };

/** Where an expression is read. */
export interface Scope {
  writing: Writing;
  /** The option that it stands in. */
  option: string;
  set: EntitySet;
  alias: string;
  variables?: ReadonlyMap<string, Variable>;
  lambdas?: number;
}

/** A condition over the alias of the scope. @throws EstateError for one that does not fit the model. */
export function conditionOf(expr: Expr, scope: Scope): Fragment {
  return condition(evaluate(expr, scope), scope, expr.at);
}

function condition(value: Value, { option }: Scope, at: number): Fragment {
  if (value.kind === 'null') return total(raw('false'));
  if (value.kind !== 'boolean') throw invalidQuery(option, `${kindName(value.kind)} is no condition`, at);
  return value.sql;
}

/** The value of an expression; `forOrder`: in the form that it is ordered by. */
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
      // what is neither true nor false stays so; a test that finds nothing is false
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
    throw notOffered(option, 'computing with dates and times is not offered', at);
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
  // what is divided by zero has no value
  const divisor = sql`nullif(${b.sql}, 0)`;
  switch (operator) {
    case 'add':
      return { kind: 'number', sql: sql`(${a.sql} + ${b.sql})`, whole };
    case 'sub':
      return { kind: 'number', sql: sql`(${a.sql} - ${b.sql})`, whole };
    case 'mul':
      return { kind: 'number', sql: sql`(${a.sql} * ${b.sql})`, whole };
    case 'mod':
      return { kind: 'number', sql: sql`(${a.sql} % ${divisor})`, whole };
    case 'div':
      return whole
        ? { kind: 'number', sql: sql`trunc(${a.sql} / ${divisor})`, whole }
        : { kind: 'number', sql: sql`(${a.sql} / ${divisor})` };
    default:
      return { kind: 'number', sql: sql`(${a.sql} / ${divisor})` };
  }
}

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
  if (!kind) throw notOffered(option, `casts to ${expr.type} are not offered`, expr.at);
  const value = evaluate(expr.operand, scope);
  const whole = kind === 'number' && /int|byte/.test(lower);
  if (value.kind === 'null') return value;
  if (value.literal?.type === 'string' && kind !== 'string') {
    const { value: text } = value.literal;
    // what cannot be cast is null (URL conventions, 5.1.1.10.1)
    if (!reads(text, kind)) return { kind: 'null', sql: raw('null') };
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
  throw notOffered(option, `casts of ${kindName(value.kind)} to ${expr.type} are not offered`, expr.at);
}

/** What a name means: a variable, a property or a way to related entities. */
type Meaning = { variable: Variable } | { property: ODataProperty } | { navigation: Navigation };

function meaningOf({ name, at }: PathStep, set: EntitySet, scope: Scope, first: boolean): Meaning {
  const variable = first ? scope.variables?.get(name) : undefined;
  if (variable) return { variable };
  const property = set.properties.get(name);
  if (property) return { property };
  const navigation = set.navigations.get(name);
  if (navigation) return { navigation };
  if (set.hiddenCosts.has(name)) throw forbidden('costs.view');
  throw invalidQuery(scope.option, `"${name}" is no property of ${set.name}`, at);
}

const rest = (steps: PathStep[]) => steps.slice(1);

function pathValue(steps: PathStep[], scope: Scope, forOrder: boolean, first = true): Value {
  const [step] = steps;
  const { option, set, alias, writing } = scope;
  const meaning = meaningOf(step!, set, scope, first);
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
      throw invalidQuery(option, `"${property.name}" holds several values: use any or all`, step!.at);
    }
    const kind = kindOf(property.type);
    return { kind, sql: (forOrder && property.order ? property.order : property.value)(alias) };
  }
  const { navigation } = meaning;
  if (navigation.collection) {
    throw invalidQuery(option, `"${navigation.name}" leads to several: use any, all or $count`, step!.at);
  }
  const to = writing.alias();
  const target = writing.model.sets.get(navigation.target)!;
  const source = along(writing, navigation.way, alias, to);
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

/** Whether something at the end of the path meets the predicate, or fails it where `negated`. */
function anyOf(
  expr: Expr & { kind: 'lambda' },
  steps: PathStep[],
  scope: Scope,
  negated: boolean,
  first = true,
): Fragment {
  const { option, writing } = scope;
  const lambdas = (scope.lambdas ?? 0) + (first ? 1 : 0);
  if (lambdas > DEEPEST_LAMBDA)
    throw invalidQuery(option, `any and all may be nested ${DEEPEST_LAMBDA} times`, expr.at);
  const meaning = meaningOf(steps[0]!, scope.set, scope, first);
  if ('variable' in meaning) {
    if ('value' in meaning.variable || steps.length === 1) {
      throw invalidQuery(option, `"${steps[0]!.name}" holds one value: any and all need several`, expr.at);
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
      throw invalidQuery(option, `"${property.name}" holds one value: any and all need several`, expr.at);
    }
    const one = writing.alias();
    const value: Value = { kind: 'string', sql: raw(`${one}.value`) };
    return total(
      sql`exists (select from jsonb_array_elements_text(${property.value(scope.alias)}) as ${raw(one)} (value)
            where ${meets({ value })})`,
    );
  }
  const { navigation } = meaning;
  if (!navigation.collection && steps.length === 1) {
    throw invalidQuery(option, `"${navigation.name}" leads to one: any and all need several`, expr.at);
  }
  const to = writing.alias();
  const set = writing.model.sets.get(navigation.target)!;
  const source = along(writing, navigation.way, scope.alias, to);
  if (navigation.collection && steps.length > 1) {
    throw invalidQuery(option, `"${navigation.name}" leads to several: nest any or all`, steps[1]!.at);
  }
  const inner = navigation.collection
    ? meets({ set, alias: to })
    : anyOf(expr, rest(steps), { ...scope, set, alias: to, lambdas }, negated, false);
  return total(sql`exists (select from ${source.from} where ${source.where} and (${inner}))`);
}

function count(expr: Expr & { kind: 'count' }, scope: Scope, steps = expr.steps, first = true): Value {
  const { option, writing } = scope;
  const meaning = meaningOf(steps[0]!, scope.set, scope, first);
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
    if (expr.filter) throw notOffered(option, 'counting some of the values is not offered', expr.at);
    return whole(sql`jsonb_array_length(${property.value(scope.alias)})::numeric`);
  }
  const { navigation } = meaning;
  const to = writing.alias();
  const set = writing.model.sets.get(navigation.target)!;
  const source = along(writing, navigation.way, scope.alias, to);
  if (!navigation.collection) {
    if (steps.length === 1) throw invalidQuery(option, `"${navigation.name}" cannot be counted`, expr.at);
    const inner = count(expr, { ...scope, set, alias: to }, rest(steps), false);
    return whole(sql`(select ${inner.sql} from ${source.from} where ${source.where} limit 1)`);
  }
  if (steps.length > 1) throw invalidQuery(option, `"${navigation.name}" leads to several`, steps[1]!.at);
  const parts = [source.where];
  if (expr.filter) parts.push(conditionOf(expr.filter, { ...scope, set, alias: to }));
  return whole(sql`(select count(*)::numeric from ${source.from} where ${combine('and', parts)})`);
}
