import { today } from '../../kernel/dates.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { phaseOn } from '../cards/cards.phase.ts';
import { cardNumberKey } from '../cards/rules/numbers.ts';
import type { CheckedCondition, CheckedNode, FilterTest } from './filters.check.ts';
import {
  type FilterColumn,
  type FilterTarget,
  flowTypes,
  type RelationStep,
  type Step,
} from './filters.fields.ts';
import type { Person, TimeSpan } from './filters.schema.ts';
import { combine, type Fragment, negate, raw, sql, total } from './filters.sql.ts';

interface CompileOptions {
  /** The user that `me` represents. */
  me: Asker;
  /** The day of lifecycle phases, YYYY-MM-DD; today if absent. */
  day?: string;
  /** Which related cards are considered, over the alias `c` of `cards`; all if absent. */
  visible?: Condition;
}

/** The columns of `cards` that are never NULL. */
const FILLED: ReadonlySet<FilterColumn> = new Set([
  'id',
  'number',
  'type',
  'name',
  'status',
  'approval_status',
  'data_quality',
  'created_at',
  'updated_at',
]);

/** Those in which an empty text counts as empty. */
const TEXTS: ReadonlySet<FilterColumn> = new Set(['subtype', 'name', 'alias', 'description', 'external_id']);

/**
 * Compiles a checked filter to a condition over the alias `c` of `cards`, for a WHERE clause; all user input is passed
 * as bindings. `not` negates a condition including its NULL case, so that an empty field matches either a condition or
 * its negation; the condition itself may be NULL, which a WHERE clause treats as false.
 */
export function compileFilter(root: CheckedNode, options: CompileOptions): Condition {
  const { sql: text, bindings } = new Compiler(options).node(root, false, undefined);
  return { sql: text, bindings };
}

class Compiler {
  readonly #me: Asker;
  /** Undefined for callers who see every card: no join is needed. */
  readonly #restriction: Condition | undefined;
  readonly #day: string;
  #aliases = 0;

  constructor({ me, day, visible }: CompileOptions) {
    this.#me = me;
    this.#day = day ?? today();
    this.#restriction = visible?.sql === 'true' ? undefined : visible;
  }

  node(item: CheckedNode, negated: boolean, types: CardTypes): Fragment {
    if (item.kind === 'not') return this.node(item.item, !negated, types);
    if (item.kind !== 'condition') {
      // Negation is pushed down to the conditions, so that indexes can still be used for the parts that are not
      // negated.
      const word = negated === (item.kind === 'and') ? 'or' : 'and';
      const narrowed = item.kind === 'and' && !negated ? narrow(types, item.items) : types;
      const parts = item.items.map((part) => this.node(part, negated, narrowed));
      return combine(word, parts);
    }
    if (item.steps.length === 0) return turned(this.#onCard('c', item), item.negated !== negated);
    return turned(this.#onSteps('c', item, 0, types), negated);
  }

  /** A condition that the card has a relation or data flow as the step says which matches the rest of the path. */
  #onSteps(card: string, condition: CheckedCondition, depth: number, types: CardTypes): Fragment {
    const step = condition.steps[depth]!;
    const isLast = depth === condition.steps.length - 1;
    // A condition on one end can use a join; an OR over both ends cannot.
    const branches = step.kind === 'flow' ? flowBranches(step) : relationBranches(step, types);
    const isFound = combine(
      'or',
      branches.map(({ table, self, conditions: own, related, types: next }) => {
        this.#aliases += 1;
        const row = `r${this.#aliases}`;
        const otherCard = `c${this.#aliases}`;
        const other = `${row}.${opposite(self)}_id`;
        const conditions = [...own(row), raw(`${row}.${self}_id = ${card}.id`), ...this.#visible(other)];
        if (related) conditions.push(...this.#visible(`${otherCard}.id`));
        if (!isLast) conditions.push(this.#onSteps(otherCard, condition, depth + 1, next));
        else if (condition.target) {
          const isOnRow = step.about === 'relation' || step.about === 'flow';
          const fragment = isOnRow ? this.#onRow(row, condition) : this.#onCard(otherCard, condition);
          conditions.push(turned(fragment, condition.negated));
        }
        const isOnCard = condition.target && step.about !== 'relation' && step.about !== 'flow';
        const needsCard = !isLast || isOnCard || related;
        const join = needsCard
          ? ` join cards ${otherCard} on ${otherCard}.id = ${related?.(row) ?? other}`
          : '';
        const where = combine('and', conditions);
        return total(sql`exists (select from ${raw(`${table} ${row}${join}`)} where ${where})`);
      }),
    );
    return turned(isFound, isLast && !condition.target && condition.negated);
  }

  /** The condition that a card is visible. @param id the column of its id. */
  #visible(id: string): Fragment[] {
    if (!this.#restriction) return [];
    return [sql`exists (select from cards c where c.id = ${raw(id)} and (${this.#restriction}))`];
  }

  /** A test of a column of a relation or data flow. */
  #onRow(row: string, condition: CheckedCondition): Fragment {
    const target = condition.target!;
    if (target.kind === 'attribute') return this.#onJson(`${row}.attributes`, target.key, condition);
    return this.#onColumn(raw(`${row}.${target.kind === 'flow' ? target.column : 'description'}`), condition);
  }

  #onCard(card: string, condition: CheckedCondition): Fragment {
    const target = condition.target!;
    switch (target.kind) {
      case 'column':
        return this.#onCardColumn(card, target.column, condition);
      case 'attribute':
        return this.#onJson(`${card}.attributes`, target.key, condition);
      case 'lifecycle':
        return this.#onColumn(sql`(${raw(card)}.lifecycle ->> ${target.phase}::text)`, condition);
      case 'phase': {
        const phase = { ...phaseOn(`${card}.lifecycle`, this.#day), total: true };
        return this.#onColumn(sql`nullif(${phase}, 'none')`, condition);
      }
      case 'tags':
        return this.#onTags(card, target, condition);
      case 'people':
        return this.#onPeople(card, target, condition);
      case 'flow':
        throw new TypeError('no card has columns of data flows');
    }
  }

  #onCardColumn(card: string, column: FilterColumn, condition: CheckedCondition): Fragment {
    const value = raw(`${card}.${column}`);
    if (condition.tests === 'present') {
      return TEXTS.has(column) ? total(sql`coalesce(${value}, '') <> ''`) : total(sql`${value} is not null`);
    }
    const tests = condition.tests.map((test) => {
      if (column === 'name' && test.kind === 'text' && test.operator !== 'in')
        return isLike(raw(`${card}.name_key`), test.operator, test.values[0]!);
      if (column === 'number' && test.kind === 'text' && test.operator === 'in') {
        const keys = test.values.map((number) => cardNumberKey(number) ?? '');
        return isAmong(sql`card_number_key(${value})`, 'text', keys);
      }
      return testColumn(value, test, this.#me);
    });
    const fragment = combine('or', tests);
    return FILLED.has(column) ? total(fragment) : fragment;
  }

  #onColumn(value: Fragment, { tests }: CheckedCondition): Fragment {
    if (tests === 'present') return total(sql`coalesce(${value}, '') <> ''`);
    const conditions = tests.map((test) => testColumn(value, test, this.#me));
    return combine('or', conditions);
  }

  #onJson(column: string, key: string, { tests }: CheckedCondition): Fragment {
    if (tests === 'present') return isJsonPresent(raw(column), key);
    const conditions = tests.map((test) => testJson(raw(column), key, test));
    return combine('or', conditions);
  }

  #onTags(card: string, { group }: FilterTarget & { kind: 'tags' }, { tests }: CheckedCondition): Fragment {
    const conditions = [raw(`ct.card_id = ${card}.id`)];
    if (tests !== 'present') {
      const names = tests.flatMap((test) => (test.kind === 'tag' ? test.values : []));
      conditions.push(
        combine(
          'or',
          names.map(
            ({ groupId, name }) =>
              sql`(t.tag_group_id = ${groupId}::uuid and lower(t.name) = lower(${name}::text))`,
          ),
        ),
      );
    } else if (group) conditions.push(sql`t.tag_group_id = ${group.id}::uuid`);
    const from = raw('card_tags ct join tags t on t.id = ct.tag_id');
    return total(sql`exists (select from ${from} where ${combine('and', conditions)})`);
  }

  #onPeople(
    card: string,
    { role }: FilterTarget & { kind: 'people' },
    { tests }: CheckedCondition,
  ): Fragment {
    const conditions = [raw(`s.card_id = ${card}.id`)];
    if (role !== undefined) conditions.push(sql`s.role = ${role}`);
    if (tests !== 'present') {
      const people = tests.flatMap((test) => (test.kind === 'person' ? test.values : []));
      conditions.push(isPerson(raw('s.user_id'), people, this.#me));
    }
    return total(sql`exists (select from stakeholders s where ${combine('and', conditions)})`);
  }
}

/** The types that a card may have; undefined for all types. */
type CardTypes = ReadonlySet<string> | undefined;

const opposite = (end: End): End => (end === 'source' ? 'target' : 'source');
type End = 'source' | 'target';

/** How a card is joined with others by one end of relations or data flows. */
interface Branch {
  table: 'relations' | 'data_flows';
  /** The end at which the card is. */
  self: End;
  conditions(row: string): Fragment[];
  /** SQL of the ids of the other card, if it is not that at the opposite end. */
  related?(row: string): string;
  /** The types of the other card. */
  types: CardTypes;
}

/** Both ends, or those of the step, of which the types of the card are not excluded. */
const relationBranches = ({ type, ends, other }: RelationStep, types: CardTypes): Branch[] =>
  (other ? [other] : (['source', 'target'] as const))
    .map(opposite)
    .filter((self) => !types || types.has(ends[self]))
    .map((self) => ({
      table: 'relations',
      self,
      conditions: (row) => [sql`${raw(row)}.type = ${type}`],
      types: new Set([ends[opposite(self)]]),
    }));

/** The ends from which data flows as the step says; at the opposite one only that of flows both ways. */
const flowBranches = ({ way, about }: Step & { kind: 'flow' }): Branch[] => {
  const first: End = way === 'incoming' ? 'target' : 'source';
  const type = flowTypes[about];
  const related =
    about === 'interface'
      ? (row: string) => `${row}.interface_id`
      : about === 'data_object'
        ? (row: string) => `any(${row}.data_object_ids)`
        : undefined;
  return [first, opposite(first)].map((self) => ({
    table: 'data_flows',
    self,
    conditions: (row) => (way && self !== first ? [raw(`${row}.direction = 'bidirectional'`)] : []),
    ...(related && { related }),
    types: type === undefined ? undefined : new Set([type]),
  }));
};

/** The types that a card may have if all of the items match. */
function narrow(types: CardTypes, items: CheckedNode[]): CardTypes {
  let narrowed = types;
  for (const item of items) {
    if (item.kind !== 'condition' || item.steps.length > 0 || item.negated || item.tests === 'present')
      continue;
    if (item.target?.kind !== 'column' || item.target.column !== 'type') continue;
    const named = new Set(item.tests.flatMap((test) => (test.kind === 'key' ? test.values : [])));
    narrowed = narrowed ? new Set([...narrowed].filter((type) => named.has(type))) : named;
  }
  return narrowed;
}

const turned = (fragment: Fragment, negated: boolean): Fragment => (negated ? negate(fragment) : fragment);

/** The id of the user that `me` represents; null for the service itself. */
type Asker = string | null;

/** A test of a column or expression of type text, number, timestamp or id. */
function testColumn(column: Fragment, test: FilterTest, me: Asker): Fragment {
  switch (test.kind) {
    case 'text':
      return test.operator === 'in'
        ? isAmong(column, 'text', test.values)
        : isLike(sql`fold(${column})`, test.operator, test.values[0]!);
    case 'number':
      return test.operator === 'in'
        ? isAmong(column, 'numeric', test.values)
        : isInRange(column, 'numeric', test.operator, test.values);
    case 'date':
      return test.operator === 'in'
        ? isAmong(column, 'text', test.values)
        : isInRange(sql`${column} collate "C"`, 'text', test.operator, test.values);
    case 'moment':
      return isInMoments(column, test.operator, test.values);
    case 'id':
      return isAmong(column, 'uuid', test.values);
    case 'person':
      return isPerson(column, test.values, me);
    case 'key':
      return isAmong(column, 'text', test.values);
    default:
      throw new TypeError(`no column holds ${test.kind}`);
  }
}

/**
 * A test of a key of a `jsonb` object column that is never NULL. Equality is containment, which a GIN index supports;
 * ranges only compare values of the right type, since card types may define a key with different types.
 */
function testJson(object: Fragment, key: string, test: FilterTest): Fragment {
  const text = sql`(${object} ->> ${key}::text)`;
  switch (test.kind) {
    case 'number':
      if (test.operator === 'in') return contains(object, key, test.values);
      return sql`case when jsonb_typeof(${object} -> ${key}::text) = 'number' then ${isInRange(
        sql`${text}::numeric`,
        'numeric',
        test.operator,
        test.values,
      )} end`;
    case 'date':
      if (test.operator === 'in') return contains(object, key, test.values);
      return sql`(${text} like '____-__-__' and ${testColumn(text, test, null)})`;
    case 'text':
      return test.operator === 'in' ? contains(object, key, test.values) : testColumn(text, test, null);
    case 'key':
    case 'boolean':
      return contains(object, key, test.values);
    case 'keys': {
      const lists = test.values.map((value) => [value]);
      return contains(object, key, lists);
    }
    default:
      throw new TypeError(`no attribute holds ${test.kind}`);
  }
}

/** Whether a key of a `jsonb` object column is not empty. */
const isJsonPresent = (object: Fragment, key: string): Fragment =>
  total(sql`coalesce(${object} -> ${key}::text, 'null') not in ('null', '""', '[]')`);

function contains(object: Fragment, key: string, values: unknown[]): Fragment {
  const anyOf = values.map((value) => sql`${object} @> ${JSON.stringify({ [key]: value })}::jsonb`);
  return total(combine('or', anyOf));
}

function isAmong(column: Fragment, type: 'text' | 'numeric' | 'uuid', values: unknown[]): Fragment {
  return values.length === 1
    ? sql`${column} = ${values[0]}::${raw(type)}`
    : sql`${column} = any(${values}::${raw(type)}[])`;
}

function isInRange(
  column: Fragment,
  type: 'text' | 'numeric',
  operator: FilterTest['operator'],
  [first, second]: unknown[],
): Fragment {
  return operator === 'between'
    ? sql`${column} between ${first}::${raw(type)} and ${second}::${raw(type)}`
    : sql`${column} ${raw(operator)} ${first}::${raw(type)}`;
}

/** Whether folded text contains, or begins with, the given text. */
function isLike(folded: Fragment, operator: FilterTest['operator'], value: string): Fragment {
  // Escaped after folding, which can turn a full-width character into a wildcard.
  const pattern = sql`regexp_replace(fold(${value}::text), '([\\\\%_])', '\\\\\\1', 'g') || '%'`;
  return operator === '~' ? sql`${folded} like '%' || ${pattern}` : sql`${folded} like ${pattern}`;
}

const startOf = ({ from }: TimeSpan): Fragment => sql`${from}::timestamptz`;

const endOf = ({ from, span }: TimeSpan): Fragment =>
  span === 'day'
    ? sql`(${from}::timestamptz + interval '24 hours')`
    : sql`(${from}::timestamptz + interval '1 millisecond')`;

function isInMoments(column: Fragment, operator: FilterTest['operator'], moments: TimeSpan[]): Fragment {
  const first = moments[0]!;
  const isWithin = (from: TimeSpan, to: TimeSpan) =>
    sql`(${column} >= ${startOf(from)} and ${column} < ${endOf(to)})`;
  if (operator === '<') return sql`${column} < ${startOf(first)}`;
  if (operator === '<=') return sql`${column} < ${endOf(first)}`;
  if (operator === '>') return sql`${column} >= ${endOf(first)}`;
  if (operator === '>=') return sql`${column} >= ${startOf(first)}`;
  if (operator === 'between') return isWithin(first, moments[1]!);
  const conditions = moments.map((moment) => isWithin(moment, moment));
  return combine('or', conditions);
}

/** Whether a column of user ids contains one of the users. */
function isPerson(column: Fragment, people: Person[], me: Asker): Fragment {
  const ids = people.flatMap((person) => ('id' in person ? [person.id] : 'me' in person && me ? [me] : []));
  const emails = people.flatMap((person) => ('email' in person ? [person.email] : []));
  const parts: Fragment[] = [];
  if (ids.length > 0) parts.push(isAmong(column, 'uuid', ids));
  if (emails.length > 0) {
    const matches = emails.map((email) => sql`lower(u.email) = lower(${email}::text)`);
    parts.push(sql`${column} in (select u.id from users u where ${combine('or', matches)})`);
  }
  return combine('or', parts);
}
