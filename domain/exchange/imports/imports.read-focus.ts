import { EstateError, invalidField, invalidFields } from '../../../platform/errors.ts';
import { isDay } from '../../kernel/dates.ts';
import { readNumber } from '../../kernel/transfer/csv-cells.ts';
import { type CsvRecord, csvRecords, type Separator } from './imports.csv-records.ts';
import { failedRow } from './imports.fields.ts';
import type { CostRowValues, ImportRow } from './imports.row.ts';
import { utf8Chunks } from './imports.utf8.ts';

/** How a FOCUS file (FinOps Open Cost and Usage Specification 1.x) is read. */
export interface FocusOptions {
  /** The column that names the card; `Tags.<key>` is a tag. */
  card_column?: string;
  card_by?: 'external_id' | 'name';
  card_type?: string;
  cost_kind?: string;
  amount_column?: 'BilledCost' | 'EffectiveCost';
  /** The first part of the external ids of its costs. */
  source?: string;
  separator?: Separator;
}

/** Sums that are held in memory at once. */
const MAX_SUMS = 200_000;
const BATCH_ROWS = 1_000;
const DAY_MS = 86_400_000;

/** The amounts of one card in some months. */
interface Sum {
  line: number;
  amount: number;
  card: string;
  from: string;
  to: string;
  currency: string;
}

/** The columns that are read, by their numbers. */
interface FocusColumns {
  card: number;
  tag?: string;
  amount: number;
  currency: number;
  start: number;
  end: number;
}

/**
 * Reads a FOCUS file as rows of costs: the sum of all charges of a card in the same months and currency. A charge belongs
 * to the months of its charge period; charges without a card are one failed row. The first batch is empty: the header is
 * valid then.
 * @throws EstateError `validation_failed` naming each missing column, `limit_reached` for too many sums.
 */
export async function* readFocus(
  stream: AsyncIterable<Uint8Array>,
  options: FocusOptions,
): AsyncGenerator<ImportRow<'costs'>[]> {
  const sums = new Map<string, Sum>();
  const nameless = { line: 0, charges: 0 };
  let columns: FocusColumns | undefined;
  for await (const records of csvRecords(utf8Chunks(stream), options.separator)) {
    const first = !columns;
    columns ??= focusColumns(records.shift()!, options);
    if (first) yield [];
    const failed: ImportRow<'costs'>[] = [];
    for (const record of records) {
      const error = addCharge(record, columns, sums, nameless);
      if (error) failed.push(failedRow(record.line, 'costs', error));
    }
    if (sums.size > MAX_SUMS) {
      throw new EstateError('limit_reached', `The file has more than ${MAX_SUMS} sums by card and month.`);
    }
    if (failed.length > 0) yield failed;
  }
  if (!columns)
    throw invalidField('file', 'empty_file', 'The file is empty; its first line has to name the columns.');
  if (nameless.charges > 0) {
    const message = `${nameless.charges} charges name no card`;
    yield [failedRow(nameless.line, 'costs', { field: options.card_column!, code: 'required', message })];
  }
  const rows = [...sums.values()].map((sum) => costRow(sum, options));
  for (let from = 0; from < rows.length; from += BATCH_ROWS) yield rows.slice(from, from + BATCH_ROWS);
}

function focusColumns({ cells, error }: CsvRecord, options: FocusOptions): FocusColumns {
  if (error) throw invalidField('file', error.code, `The header ${error.message}.`);
  const names = cells.map((cell) => cell.trim());
  const wanted = options.card_column ?? '';
  const tag = wanted.startsWith('Tags.') ? wanted.slice('Tags.'.length) : undefined;
  const needed = {
    card: tag === undefined ? wanted : 'Tags',
    amount: options.amount_column ?? 'BilledCost',
    currency: 'BillingCurrency',
    start: 'ChargePeriodStart',
    end: 'ChargePeriodEnd',
  };
  const missing = Object.values(needed).filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw invalidFields(
      missing.map((field) => ({ field, code: 'missing_column', message: 'is no column of the file' })),
    );
  }
  const numbers = Object.fromEntries(Object.entries(needed).map(([key, name]) => [key, names.indexOf(name)]));
  return { ...(numbers as Record<keyof typeof needed, number>), ...(tag === undefined ? {} : { tag }) };
}

/** Adds a charge to its sum. @returns why it cannot be read. */
function addCharge(
  { line, cells, error }: CsvRecord,
  columns: FocusColumns,
  sums: Map<string, Sum>,
  nameless: { line: number; charges: number },
) {
  if (error) return error;
  const amount = readNumber(cells[columns.amount] ?? '');
  if (amount === undefined) return { field: 'amount', code: 'bad_number', message: 'is not a number' };
  const [start, end] = [cells[columns.start] ?? '', cells[columns.end] ?? ''].map((cell) => dayOf(cell));
  if (!start || !end || end.at < start.at) {
    return { field: 'ChargePeriodStart', code: 'bad_date', message: 'begins no charge period' };
  }
  const currency = (cells[columns.currency] ?? '').trim();
  const card = cardOf(cells[columns.card] ?? '', columns.tag);
  if (card === '') {
    nameless.line ||= line;
    nameless.charges += 1;
    return undefined;
  }
  // the end of a charge period does not belong to it
  const last = new Date(Math.max(start.at, end.at - (end.isMidnight ? DAY_MS : 0))).toISOString();
  const [from, to] = [start.day.slice(0, 7), last.slice(0, 7)];
  const key = JSON.stringify([card, from, to, currency]);
  const sum = sums.get(key);
  if (sum) sum.amount += amount;
  else sums.set(key, { line, amount, card, from, to, currency });
  return undefined;
}

/** The day of a date and time such as `2026-03-01T00:00:00Z`. */
function dayOf(cell: string): { day: string; at: number; isMidnight: boolean } | undefined {
  const [day = '', time = ''] = cell.trim().split(/[T ]/, 2);
  if (!isDay(day)) return undefined;
  return {
    day,
    at: Date.parse(`${day}T00:00:00Z`),
    isMidnight: /^(?:00:00(?::00(?:\.0+)?)?Z?)?$/.test(time),
  };
}

/** The name of the card in a cell, or in a tag of it. */
function cardOf(cell: string, tag: string | undefined): string {
  if (tag === undefined) return cell.trim();
  try {
    const tags: unknown = JSON.parse(cell || '{}');
    const value = typeof tags === 'object' && tags !== null ? Reflect.get(tags, tag) : undefined;
    return typeof value === 'string' ? value.trim() : '';
  } catch {
    return '';
  }
}

/** The cost of a sum, whose external id is the same in each file of the source. */
function costRow(sum: Sum, options: FocusOptions): ImportRow<'costs'> {
  const { line, card, from, to, currency } = sum;
  const { card_by = 'external_id', card_type, cost_kind = 'infrastructure', source = 'focus' } = options;
  const [year, month] = to.split('-').map(Number);
  const values: CostRowValues = {
    external_id: [source, cost_kind, card, from === to ? from : `${from}..${to}`, currency]
      .join('/')
      .slice(0, 500),
    ...(card_by === 'name' ? { card_name: card } : { card_external_id: card }),
    ...(card_type === undefined ? {} : { card_type }),
    kind: cost_kind,
    period_start: `${from}-01`,
    period_end: new Date(Date.UTC(year!, month!, 0)).toISOString().slice(0, 10),
    // the noise of adding decimals
    amount: Number(sum.amount.toFixed(6)),
    currency,
  };
  return { line, kind: 'costs', values, errors: [] };
}
