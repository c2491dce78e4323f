import { joinValues } from '../../../domain/kernel/transfer/csv-cells.ts';
import type { Batch, Cell, Column } from '../../kernel/formats/formats.types.ts';

/** Where a column's cells come from: a value of the query's row, or a member of a JSON value in it. */
export type Source =
  | { place: number; read?: ((value: unknown) => Cell) | undefined }
  | { place: number; member: string };

interface Member {
  /** The column's number. */
  at: number;
  type: Column['type'];
}

/**
 * Fills an array of cells out of a row of a query. Of JSON values only the members that are there are looked at, since a
 * card fills a tenth of the columns that all types have together.
 */
export function rowShaper(
  columns: Column[],
  sourceOf: (column: Column) => Source,
): (row: unknown[], cells: Cell[]) => Cell[] {
  const values: { at: number; place: number; read: ((value: unknown) => Cell) | undefined }[] = [];
  const members = new Map<number, Map<string, Member>>();
  for (const [at, column] of columns.entries()) {
    const source = sourceOf(column);
    if ('member' in source) {
      const known = members.get(source.place) ?? new Map<string, Member>();
      members.set(source.place, known.set(source.member, { at, type: column.type }));
    } else {
      values.push({ at, place: source.place, read: source.read });
    }
  }
  const json = [...members];
  return (row, cells) => {
    cells.fill(null);
    for (const { at, place, read } of values) {
      const value = row[place];
      if (value === null) continue;
      cells[at] = read ? read(value) : (value as Cell);
    }
    for (const [place, wanted] of json) {
      const object = row[place] as Record<string, unknown> | null;
      for (const key in object) {
        const member = wanted.get(key);
        if (member) cells[member.at] = memberCell(object[key], member.type);
      }
    }
    return cells;
  };
}

/** A member of a JSON value; one that does not fit the column's type (as after a change of type) is shown as text. */
export function memberCell(value: unknown, type: Column['type']): Cell {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return type === 'multi' ? value.map(String) : joinValues(value.map(String));
  if (type === 'text' && typeof value !== 'string') return String(value);
  return value as Cell;
}

/** Rows of cells in the batches of the query, one after the other in the same array, which spares a tenth of the time. */
export async function* shapedBatches(
  batches: AsyncIterable<unknown[][]>,
  width: number,
  shape: (row: unknown[], cells: Cell[]) => Cell[],
): AsyncGenerator<Batch> {
  const cells = new Array<Cell>(width).fill(null);
  for await (const rows of batches) {
    yield {
      length: rows.length,
      *[Symbol.iterator]() {
        for (const row of rows) yield shape(row, cells);
      },
    };
  }
}

const DAY_MS = 86_400_000;
const two = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));

/**
 * Turns seconds since 1970 with microseconds, as PostgreSQL tells them, into RFC 3339 in UTC with milliseconds. Days are
 * written once, which takes a fifth of the time that Date takes for each.
 */
export function epochWriter(): (seconds: unknown) => string {
  const days = new Map<number, string>();
  return (seconds) => {
    const ms = Math.floor(Math.round((seconds as number) * 1e6) / 1000);
    const day = Math.floor(ms / DAY_MS);
    let date = days.get(day);
    if (date === undefined) {
      date = new Date(day * DAY_MS).toISOString().slice(0, 11);
      days.set(day, date);
    }
    const rest = ms - day * DAY_MS;
    const minutes = Math.floor(rest / 60_000);
    const thousandths = rest % 60_000;
    const fraction = String(thousandths % 1000).padStart(3, '0');
    return `${date}${two[Math.floor(minutes / 60)]}:${two[minutes % 60]}:${two[Math.floor(thousandths / 1000)]}.${fraction}Z`;
  };
}

const ATTRIBUTES = 'attributes.';

/** The columns that have a place of their own among a row's values; what the attributes have of the others is the last. */
export const arrayColumns = (columns: readonly Column[]): Column[] =>
  columns.filter(({ header }) => !header.startsWith(ATTRIBUTES));
