import type { FilterTest } from './filters.check.ts';
import { combine, type Fragment, raw, sql, total } from './filters.sql.ts';
import type { Moment, Person } from './filters.values.ts';

/** Whoever asks: the user's id, or null for the service itself, whom `me` names nowhere. */
export type Asker = string | null;

/** A test of a column or of an expression that yields text, numbers, timestamps or ids. */
export function testColumn(column: Fragment, test: FilterTest, me: Asker): Fragment {
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
 * A test of a key of a `jsonb` object column that is never NULL. Equality is containment, which a GIN index
 * answers; ranges look only at values of the right type, since card types may give a key different ones.
 */
export function testJson(object: Fragment, key: string, test: FilterTest): Fragment {
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
    case 'keys':
      return contains(
        object,
        key,
        test.values.map((value) => [value]),
      );
    default:
      throw new TypeError(`no attribute holds ${test.kind}`);
  }
}

/** Whether a key of a `jsonb` object column holds anything. */
export const isJsonPresent = (object: Fragment, key: string): Fragment =>
  total(sql`coalesce(${object} -> ${key}::text, 'null') not in ('null', '""', '[]')`);

function contains(object: Fragment, key: string, values: unknown[]): Fragment {
  return total(
    combine(
      'or',
      values.map((value) => sql`${object} @> ${JSON.stringify({ [key]: value })}::jsonb`),
    ),
  );
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

/** Whether folded text holds, or begins with, the given text. */
export function isLike(folded: Fragment, operator: FilterTest['operator'], value: string): Fragment {
  // escaped after folding, which may make a wildcard out of a full-width one
  const pattern = sql`regexp_replace(fold(${value}::text), '([\\\\%_])', '\\\\\\1', 'g') || '%'`;
  return operator === '~' ? sql`${folded} like '%' || ${pattern}` : sql`${folded} like ${pattern}`;
}

const startOf = ({ from }: Moment): Fragment => sql`${from}::timestamptz`;

const endOf = ({ from, span }: Moment): Fragment =>
  span === 'day'
    ? sql`(${from}::timestamptz + interval '24 hours')`
    : sql`(${from}::timestamptz + interval '1 millisecond')`;

function isInMoments(column: Fragment, operator: FilterTest['operator'], moments: Moment[]): Fragment {
  const first = moments[0]!;
  const isWithin = (from: Moment, to: Moment) =>
    sql`(${column} >= ${startOf(from)} and ${column} < ${endOf(to)})`;
  switch (operator) {
    case '<':
      return sql`${column} < ${startOf(first)}`;
    case '<=':
      return sql`${column} < ${endOf(first)}`;
    case '>':
      return sql`${column} >= ${endOf(first)}`;
    case '>=':
      return sql`${column} >= ${startOf(first)}`;
    case 'between':
      return isWithin(first, moments[1]!);
    default:
      return combine(
        'or',
        moments.map((moment) => isWithin(moment, moment)),
      );
  }
}

/** Whether a column of user ids names one of the people. */
export function isPerson(column: Fragment, people: Person[], me: Asker): Fragment {
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
