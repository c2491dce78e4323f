import { isDay } from '../../kernel/dates.ts';
import { readBoolean, readNumber } from '../../kernel/transfer/csv-cells.ts';
import { kindOfSheet, otherTarget } from './source.kinds.ts';
import type {
  Gathered,
  RelationEnds,
  RowKind,
  SheetRows,
  SourceBlock,
  SourceColumn,
  SourceFacts,
  SourceRow,
  SourceType,
} from './source.types.ts';

const MAX_BLOCKS = 300;
const MAX_HEAD = 200;

/** What was gathered, in the order in which it came. */
export function blocksOf(gathered: Gathered): SourceBlock[] {
  return [...gathered].map(([native_type, { rows, columns, kind, ends }]) => ({
    native_type,
    rows,
    columns: [...columns.values()],
    kind,
    ends: ends ?? null,
  }));
}

/** One sheet while it is read. */
export interface Sheet {
  name: string;
  /** The rows below the head, as they are kept; counts them in the facts. */
  take(rows: SheetRows['rows'], facts: SourceFacts): Omit<SourceRow, 'line'>[];
}

/** Sheets that tell of the file itself. */
const aboutFile = /^(read\s*me|readme|metadata|meta data|info|about)$/i;

/** A sheet whose first row is its head. */
export function createSheet(name: string, source: SourceType): Sheet {
  if (source === 'leanix' && aboutFile.test(name.trim())) return { name, take: takeVersion };
  let heads: string[] | undefined;
  let kind: RowKind = 'card';
  let labels: string[] = [];
  let first = true;
  return {
    name,
    take(rows, facts) {
      return rows.flatMap(({ row, cells }) => {
        const clean = cells.map((cell) => cell.replaceAll('\0', '\ufffd').toWellFormed().trim());
        if (!heads) {
          heads = headsOf(clean);
          kind = kindOfSheet(name, heads, source);
          return [];
        }
        if (first) {
          first = false;
          // an exported table has a second head with the names that people see
          if (source === 'leanix' && isSecondHead(heads, clean)) {
            labels = clean;
            return [];
          }
        }
        return [keep(row, clean, facts)];
      });
    },
  };

  function keep(row: number, cells: string[], facts: SourceFacts): Omit<SourceRow, 'line'> {
    // columns are called as the file likes, __proto__ too
    const kept: Record<string, string> = Object.create(null);
    cells.forEach((cell, at) => {
      if (cell === '') return;
      heads![at] ??= unique(heads!, `column ${at + 1}`);
      kept[heads![at]!] = cell;
    });
    // what hangs on fact sheets tells the type of those in its column of that name
    const typed = source === 'leanix' && (kind === 'card' || kind === 'relation');
    const native_type = (typed && kept.type ? kept.type : name).slice(0, MAX_HEAD);
    let block = facts.blocks.get(native_type);
    if (!block) {
      if (facts.blocks.size === MAX_BLOCKS) throw new Error(`it has more than ${MAX_BLOCKS} kinds of things`);
      block = { rows: 0, columns: new Map(), kind };
      facts.blocks.set(native_type, block);
    }
    block.rows += 1;
    if (kind === 'relation') block.ends = agreed(block.ends, endsOf(kept));
    heads!.forEach((key, at) => {
      let column = block.columns.get(key);
      if (!column) {
        column = { key, label: labels[at] || null, values: 0, data_type: 'text' };
        block.columns.set(key, column);
      }
      const cell = kept[key];
      if (cell === undefined) return;
      const type = dataType(cell);
      column.data_type = column.values === 0 || column.data_type === type ? type : 'text';
      column.values += 1;
    });
    return { sheet: name, row, native_type, cells: kept };
  }
}

function headsOf(cells: string[]): string[] {
  const heads: string[] = [];
  cells.forEach((cell, at) => {
    heads.push(unique(heads, (cell || `column ${at + 1}`).slice(0, MAX_HEAD)));
  });
  return heads;
}

/** The name, or with a number behind it where another column has it. */
function unique(heads: readonly string[], name: string): string {
  let wanted = name;
  for (let n = 2; heads.includes(wanted); n += 1) wanted = `${name} (${n})`;
  return wanted;
}

/** Labels below the keys: they stand for names of columns, and where days are expected there is none. */
function isSecondHead(heads: readonly string[], cells: readonly string[]): boolean {
  const below = (head: string): string | undefined => cells[heads.indexOf(head)] || undefined;
  const [id, type, day] = [below('id'), below('type'), below('createdAt')];
  if (id !== undefined) return /^id$/i.test(id);
  return (type !== undefined && /^type$/i.test(type)) || (day !== undefined && !isDay(day.slice(0, 10)));
}

function endsOf(cells: Record<string, string>): RelationEnds | null {
  const told = (target: string) =>
    Object.entries(cells).find(([head]) => otherTarget('relation', head) === target)?.[1];
  const [source, target] = [told('source_type'), told('target_type')];
  return source !== undefined && target !== undefined ? { source, target } : null;
}

/** What all rows tell alike. */
function agreed(before: RelationEnds | null | undefined, own: RelationEnds | null): RelationEnds | null {
  if (before === undefined || own === null) return own;
  return before?.source === own.source && before.target === own.target ? before : null;
}

function dataType(cell: string): SourceColumn['data_type'] {
  if (readNumber(cell) !== undefined) return 'number';
  if (readBoolean(cell) !== undefined) return 'boolean';
  return isDay(cell.slice(0, 10)) && /^.{10}(T.*Z)?$/.test(cell) ? 'date' : 'text';
}

/** Takes the version from a sheet that tells of the file: the cell beside one that speaks of a version. */
function takeVersion(rows: SheetRows['rows'], facts: SourceFacts): [] {
  for (const { cells } of rows) {
    const at = cells.findIndex((cell) => /\bversion\b/i.test(cell));
    const version = at < 0 ? undefined : cells.slice(at + 1).find((cell) => cell.trim() !== '');
    if (version !== undefined) facts.version ??= version.trim().slice(0, 100);
  }
  return [];
}
