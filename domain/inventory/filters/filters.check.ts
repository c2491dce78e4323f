import { type FilterTarget, resolveField, type Step } from './filters.fields.ts';
import type { FilterSchema } from './filters.schema.ts';
import {
  describeRule,
  type FilterValues,
  listRule,
  operatorsOf,
  readValue,
  type TestOperator,
  type ValueKind,
  type ValueRule,
} from './filters.schema.ts';
import {
  type FilterCondition,
  type FilterNode,
  type FilterOperator,
  type FilterWord,
  filterError,
  joinWithOr,
} from './filters.types.ts';

/** One test of a field: `in` matches any of the values, `between` has two values, the others have one. */
export type FilterTest = {
  [K in ValueKind]: { kind: K; operator: TestOperator; values: FilterValues[K][] };
}[ValueKind];

export interface CheckedCondition {
  kind: 'condition';
  steps: Step[];
  target?: FilterTarget;
  /** The tests of which at least one must match; `present`: the field must not be empty. */
  tests: FilterTest[] | 'present';
  /** Whether the tests are negated: an empty field matches none of them. */
  negated: boolean;
}

/** A filter whose fields and values were checked against the metamodel. */
export type CheckedNode =
  | { kind: 'and' | 'or'; items: CheckedNode[] }
  | { kind: 'not'; item: CheckedNode }
  | CheckedCondition;

interface CheckedFilter {
  root: CheckedNode;
  /** Paths of the cost attributes in the filter, which only callers who may see costs can use. */
  costs: ReadonlySet<string>;
  /** Whether the filter uses relations. */
  relations: boolean;
  /** Whether the filter uses stakeholders other than `me`. */
  stakeholders: boolean;
  /** Whether the filter uses stakeholders, be it only the caller. */
  people: boolean;
  /** Whether the filter uses the users who created or changed cards. */
  authors: boolean;
}

/**
 * Types a filter against the metamodel.
 * @throws EstateError `filter_unknown_field`, `filter_operator`, `filter_value`, `filter_limit`.
 */
export function checkFilter(node: FilterNode, schema: FilterSchema): CheckedFilter {
  const costs = new Set<string>();
  let relations = false;
  let stakeholders = false;
  let people = false;
  let authors = false;

  function check(node: FilterNode): CheckedNode {
    if (node.kind === 'not') return { kind: 'not', item: check(node.item) };
    if (node.kind !== 'condition') return { kind: node.kind, items: node.items.map(check) };
    const field = resolveField(node.path, schema);
    const condition: CheckedCondition = {
      kind: 'condition',
      steps: field.steps,
      target: field.target,
      ...testsOf(node, field.rules),
    };
    if (field.cost) costs.add(nameOf(node));
    if (field.steps.length > 0) relations = true;
    if (field.target?.kind === 'people') {
      people = true;
      if (!asksOnlyForMe(condition.tests)) stakeholders = true;
    }
    if (field.target?.kind === 'column' && authorColumns.has(field.target.column)) authors = true;
    return condition;
  }

  return { root: check(node), costs, relations, stakeholders, people, authors };
}

const authorColumns: ReadonlySet<string> = new Set(['created_by', 'updated_by']);

const asksOnlyForMe = (tests: CheckedCondition['tests']): boolean =>
  tests !== 'present' &&
  tests.every((test) => test.kind === 'person' && test.values.every((person) => 'me' in person));

const nameOf = (condition: FilterCondition): string => condition.path.map((word) => word.text).join('.');

function testsOf(
  condition: FilterCondition,
  rules: ValueRule[],
): Pick<CheckedCondition, 'tests' | 'negated'> {
  const { operator: written, values } = condition;
  if (written === 'is empty' || written === 'is not empty') {
    return { tests: 'present', negated: written === 'is empty' };
  }
  const { operator, negated } = reduced[written];
  const fitting = rules.filter((rule) => operatorsOf(rule.kind).has(operator));
  if (fitting.length === 0) throw operatorError(condition, rules);
  for (const word of values) {
    if (word.text === '') throw emptyTextError(word);
    if (fitting.every((rule) => readValue(rule, word) === undefined)) throw valueError(word, fitting);
  }
  const tests = fitting.flatMap((rule) => {
    const read = values.map((word) => readValue(rule, word)).filter((value) => value !== undefined);
    // In a list, each kind takes the values that are valid for it; otherwise all must be of one kind.
    const complete = operator === 'in' ? read.length > 0 : read.length === values.length;
    return complete ? [{ kind: rule.kind, operator, values: read } as FilterTest] : [];
  });
  if (tests.length === 0) throw valueError(values.at(-1)!, fitting);
  return { tests, negated };
}

const reduced: Record<
  Exclude<FilterOperator, 'is empty' | 'is not empty'>,
  { operator: TestOperator; negated: boolean }
> = {
  '=': { operator: 'in', negated: false },
  in: { operator: 'in', negated: false },
  '!=': { operator: 'in', negated: true },
  'not in': { operator: 'in', negated: true },
  '<': { operator: '<', negated: false },
  '<=': { operator: '<=', negated: false },
  '>': { operator: '>', negated: false },
  '>=': { operator: '>=', negated: false },
  between: { operator: 'between', negated: false },
  '~': { operator: '~', negated: false },
  'starts with': { operator: 'starts with', negated: false },
};

function operatorError(condition: FilterCondition, rules: ValueRule[]): Error {
  const taken = new Set(rules.flatMap((rule) => [...operatorsOf(rule.kind)]));
  const offered = [
    ...Object.entries(reduced)
      .filter(([, { operator }]) => taken.has(operator))
      .map(([written]) => written),
    'is empty',
    'is not empty',
  ];
  const message = `"${nameOf(condition)}" does not take "${condition.operator}" (but ${joinWithOr(offered)})`;
  return filterError('filter_operator', message, condition.position, offered);
}

function emptyTextError({ position }: FilterWord): Error {
  const message = 'an empty text is no value: write "is empty" or "is not empty"';
  return filterError('filter_value', message, position);
}

function valueError({ text, position }: FilterWord, rules: ValueRule[]): Error {
  const message = `expected ${rules.map(describeRule).join(', or ')}, not "${text}",`;
  return filterError('filter_value', message, position, rules.flatMap(listRule));
}
