import { type Fragment, raw, sql } from '../../../../domain/inventory/filters/filters.sql.ts';
import { invalidQuery, notSupported } from '../odata.errors.ts';
import { type Kind, kindName, type Value } from './sql.values.ts';

interface Signature {
  /** Types of the arguments; at least `least` of them are required. */
  takes: Kind[][];
  least?: number;
  gives: Kind;
  whole?: boolean;
  test?: boolean;
  write(...args: Fragment[]): Fragment;
}

const text: Kind[] = ['string'];
const number: Kind[] = ['number'];
const day: Kind[] = ['date', 'moment'];

const inUtc = (value: Fragment) => sql`((${value}) at time zone 'UTC')`;

/** A function that extracts a field of a date or time. */
const dayPart = (name: string): Signature => ({
  takes: [day],
  gives: 'number',
  whole: true,
  write: (value) => sql`extract(${raw(name)} from ${value})`,
});
const timePart = (name: string): Signature => ({ ...dayPart(name), takes: [['moment']] });

const rounding = (name: string): Signature => ({
  takes: [number],
  gives: 'number',
  whole: true,
  write: (value) => sql`${raw(name)}(${value})`,
});

const textTest = (write: Signature['write']): Signature => ({
  takes: [text, text],
  gives: 'boolean',
  test: true,
  write,
});
const textChange = (write: Signature['write']): Signature => ({ takes: [text], gives: 'string', write });

/** The functions of OData (URL conventions, 5.1.1.5 to 5.1.1.10) that are supported. */
const functions: ReadonlyMap<string, Signature> = new Map<string, Signature>(
  Object.entries({
    contains: textTest((whole, part) => sql`strpos(${whole}, ${part}) > 0`),
    startswith: textTest((whole, part) => sql`starts_with(${whole}, ${part})`),
    endswith: textTest((whole, part) => sql`right(${whole}, char_length(${part})) = ${part}`),
    tolower: textChange((value) => sql`lower((${value}) collate pg_c_utf8)`),
    toupper: textChange((value) => sql`upper((${value}) collate pg_c_utf8)`),
    trim: textChange((value) => sql`btrim(${value}, E' \\t\\n\\r')`),
    concat: { takes: [text, text], gives: 'string', write: (a, b) => sql`((${a}) || (${b}))` },
    length: {
      takes: [text],
      gives: 'number',
      whole: true,
      write: (value) => sql`char_length(${value})::numeric`,
    },
    indexof: {
      takes: [text, text],
      gives: 'number',
      whole: true,
      write: (whole, part) => sql`(strpos(${whole}, ${part}) - 1)::numeric`,
    },
    substring: {
      takes: [text, number, number],
      least: 2,
      gives: 'string',
      // a negative position counts from the end
      write: (value, from, length) => {
        const start = sql`(case when ${from} < 0 then greatest(char_length(${value}) + ${from}, 0) else ${from} end)`;
        const place = sql`least(${start}, 1000000000)::int + 1`;
        return length
          ? sql`substr(${value}, ${place}, least(greatest(${length}, 0), 1000000000)::int)`
          : sql`substr(${value}, ${place})`;
      },
    },
    year: dayPart('year'),
    month: dayPart('month'),
    day: dayPart('day'),
    hour: timePart('hour'),
    minute: timePart('minute'),
    second: { ...timePart('second'), write: (value) => sql`floor(extract(second from ${value}))` },
    fractionalseconds: {
      ...timePart('second'),
      whole: false,
      write: (value) => sql`(extract(second from ${value}) % 1)`,
    },
    date: {
      takes: [day],
      gives: 'date',
      write: (value) => sql`to_char(${value}, 'YYYY-MM-DD')`,
    },
    now: { takes: [], gives: 'moment', write: () => raw('now()') },
    mindatetime: { takes: [], gives: 'moment', write: () => raw("'0001-01-01T00:00:00Z'::timestamptz") },
    maxdatetime: { takes: [], gives: 'moment', write: () => raw("'9999-12-31T23:59:59.999Z'::timestamptz") },
    round: rounding('round'),
    floor: rounding('floor'),
    ceiling: rounding('ceil'),
  }),
);

/** OData functions that this service does not support. */
const unsupported = new Set([
  'matchespattern',
  'time',
  'totaloffsetminutes',
  'totalseconds',
  'hassubset',
  'hassubsequence',
  'case',
  'geo.distance',
  'geo.intersects',
  'geo.length',
]);

/** SQL of a function call. @throws EstateError for an unknown function or wrong arguments. */
export function callFunction(name: string, args: Value[], option: string, at: number): Value {
  const signature = functions.get(name);
  if (!signature) {
    if (unsupported.has(name)) throw notSupported(option, `the function ${name} is not supported`, at);
    throw invalidQuery(option, `"${name}" is not a known function`, at);
  }
  const { takes, least = takes.length } = signature;
  if (args.length < least || args.length > takes.length) {
    const message = `${name} takes ${least === takes.length ? least : `${least} or ${takes.length}`} values`;
    throw invalidQuery(option, message, at);
  }
  const values = args.map((value, n) => {
    if (value.kind === 'null') return sql`null::text`;
    if (!takes[n]!.includes(value.kind)) {
      const what = `${name} takes ${takes[n]!.map(kindName).join(' or ')} instead of ${kindName(value.kind)}`;
      throw invalidQuery(option, what, at);
    }
    if (takes[n] === day || (takes[n]!.length === 1 && takes[n]![0] === 'moment')) {
      return value.kind === 'date' ? sql`(${value.sql})::date` : inUtc(value.sql);
    }
    return value.sql;
  });
  if (args.some((value) => value.kind === 'null')) return { kind: 'null', sql: raw('null') };
  return {
    kind: signature.gives,
    sql: signature.write(...values),
    ...(signature.whole ? { whole: true } : {}),
    ...(signature.test ? { test: true } : {}),
  };
}
