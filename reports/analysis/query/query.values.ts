import { phaseOn } from '../../../domain/inventory/cards/cards.phase.ts';
import type {
  FilterColumn,
  FilterField,
  FilterTarget,
} from '../../../domain/inventory/filters/filters.fields.ts';
import { type Fragment, raw, sql } from '../../../domain/inventory/filters/filters.sql.ts';

/** The type of a column's values. `key` is an enumeration value or an id. */
export type ValueType = 'text' | 'key' | 'number' | 'boolean' | 'date' | 'datetime';

/** The SQL type of a value type; dates are texts. */
export const sqlTypes: Record<ValueType, string> = {
  text: 'text',
  key: 'text',
  number: 'numeric',
  boolean: 'boolean',
  date: 'text',
  datetime: 'timestamptz',
};

/** The value type of a field; text if its card types have different field types. */
export function typeOf({ rules }: Pick<FilterField, 'rules'>): ValueType {
  const kinds = new Set(rules.map(({ kind }) => kind));
  const [kind] = kinds;
  if (kinds.size !== 1) return 'text';
  switch (kind) {
    case 'number':
    case 'boolean':
    case 'date':
    case 'text':
      return kind;
    case 'moment':
      return 'datetime';
    case 'tag':
      return 'text';
    default:
      return 'key';
  }
}

const IDS: ReadonlySet<FilterColumn> = new Set(['id', 'parent_id', 'created_by', 'updated_by']);
const TEXTS: ReadonlySet<FilterColumn> = new Set(['subtype', 'alias', 'description', 'external_id']);

/** SQL of a single-value field: NULL if it is empty or of another type. */
export function scalar(
  alias: string,
  target: Exclude<FilterTarget, { kind: 'tags' | 'people' | 'phase' | 'flow' }>,
  type: ValueType,
): Fragment {
  switch (target.kind) {
    case 'column': {
      const column = raw(`${alias}.${target.column}`);
      if (IDS.has(target.column)) return sql`${column}::text`;
      return TEXTS.has(target.column) ? sql`nullif(${column}, '')` : column;
    }
    case 'lifecycle':
      return day(sql`${raw(alias)}.lifecycle ->> ${target.phase}::text`);
    case 'attribute':
      return member(raw(`${alias}.attributes`), target.key, type);
  }
}

/** A member of a `jsonb` object in the given type. */
function member(object: Fragment, key: string, type: ValueType): Fragment {
  const text = sql`${object} ->> ${key}::text`;
  const json = sql`jsonb_typeof(${object} -> ${key}::text)`;
  switch (type) {
    case 'number':
      return sql`case when ${json} = 'number' then (${text})::numeric end`;
    case 'boolean':
      return sql`case when ${json} = 'boolean' then (${text})::boolean end`;
    case 'date':
      return day(text);
    default:
      return sql`nullif(${text}, '')`;
  }
}

/** The text if it is a date, else NULL. */
const day = (text: Fragment): Fragment => sql`substring(${text} from '^[0-9]{4}-[0-9]{2}-[0-9]{2}$')`;

/** The phase of a card's lifecycle on a day, YYYY-MM-DD. */
export const phase = (alias: string, on: string): Fragment => ({
  ...phaseOn(`${alias}.lifecycle`, on),
  total: true,
});

/** The costs of a card in a fiscal year, of one kind or of all; null without any. */
export function costsOf(alias: string, { year, kind }: { year: number; kind?: string }): Fragment {
  // fiscal years are named after the calendar year in which they end
  return sql`(select round(sum(cost_share(k.amount, k.period_start, k.period_end, y.first, y.last)
      * exchange_rate(k.currency)), 2)
    from (select f.first, (f.first + interval '1 year - 1 day')::date as last
      from (select fiscal_year_start(make_date(${year}::int, 1, 1), coalesce((select (value #>> '{}')::int
        from settings where key = 'workspace.fiscal_year_start'), 1)) as first) f) y
    join costs k on k.card_id = ${raw(alias)}.id and k.period_start <= y.last and k.period_end >= y.first
    where ${kind === undefined ? raw('true') : sql`k.kind = ${kind}::text`})`;
}

export type Bucket = 'year' | 'quarter' | 'month' | 'day';

const formats: Record<Bucket, string> = {
  year: 'YYYY',
  quarter: 'YYYY"-Q"Q',
  month: 'YYYY-MM',
  day: 'YYYY-MM-DD',
};

/** The time span of a date or timestamp: `2026`, `2026-Q3`, `2026-07`, `2026-07-31`. */
export function bucketed(value: Fragment, type: 'date' | 'datetime', bucket: Bucket): Fragment {
  if (type === 'datetime') {
    return sql`to_char(${value} at time zone 'UTC', ${raw(`'${formats[bucket]}'`)})`;
  }
  switch (bucket) {
    case 'year':
      return sql`left(${value}, 4)`;
    case 'quarter':
      return sql`left(${value}, 4) || '-Q' || (substr(${value}, 6, 2)::int + 2) / 3`;
    case 'month':
      return sql`left(${value}, 7)`;
    case 'day':
      return value;
  }
}
