import { isDay } from '../../kernel/dates.ts';
import { readBoolean, readNumber } from '../../kernel/transfer/csv-cells.ts';
import type { SheetRows } from '../../kernel/transfer/xlsx.read.ts';
import type { Labels } from '../imports/imports.labels.ts';
import { isOnlyShown, LISTS_SHEET, typeOfSheet } from '../imports/imports.read-xlsx.ts';
import { kindOfSheet, targetOfHead } from './record-kinds.ts';
import type {
  BlocksByType,
  RelationEnds,
  RowKind,
  SourceBlock,
  SourceColumn,
  SourceFacts,
  SourceRow,
  SourceType,
} from './source.types.ts';

const MAX_BLOCKS = 300;
const MAX_HEAD = 200;

/** The blocks of a file in their order. */
export function blocksOf(gathered: BlocksByType): SourceBlock[] {
  return [...gathered].map(([native_type, { rows, columns, kind, own, ends }]) => ({
    native_type,
    rows,
    columns: [...columns.values()],
    kind,
    ...(own && { own }),
    ends: ends ?? null,
  }));
}

/** One sheet while it is read. */
export interface Sheet {
  name: string;
  /** Converts rows for storage, without the head, and counts them in the facts. */
  take(rows: SheetRows['rows'], facts: SourceFacts): Omit<SourceRow, 'line'>[];
}

/** Names of sheets that describe the file itself. */
const aboutFile = /^(read\s*me|readme|metadata|meta data|info|about)$/i;

/** What names types and columns besides their keys. */
export type SheetLabels = Readonly<Record<'cards' | 'relations', Labels>>;

/** The columns by which the sheets of an export are recognised: others have either an id or an external id. */
const exported = {
  cards: ['id', 'type', 'external_id', 'name'],
  relations: ['id', 'type', 'source_id', 'target_id'],
} as const;

/** The keys of the columns of an exported sheet, in any of its languages; undefined if it is another sheet. */
function ownHeads(heads: readonly string[], labels: SheetLabels) {
  for (const kind of ['cards', 'relations'] as const) {
    const keys = heads.map((head) => labels[kind].column(head) ?? head);
    const isOwn = exported[kind].every((key) => keys.includes(key)) && new Set(keys).size === keys.length;
    if (isOwn) return { keys, kind: kind === 'cards' ? 'card' : 'relation' } as const;
  }
  return undefined;
}

/** A sheet whose first row is its head. @param labels of the workspace, if the file may be one of its exports. */
export function createSheet(name: string, source: SourceType, labels?: SheetLabels): Sheet {
  if (source === 'leanix' && aboutFile.test(name.trim())) return { name, take: takeVersion };
  let heads: string[] | undefined;
  let kind: RowKind = 'card';
  let own = false;
  let shown: string[] = [];
  let first = true;
  return {
    name,
    take(rows, facts) {
      return rows.flatMap(({ row, cells }) => {
        const clean = cells.map((cell) => {
          const text = cell.replaceAll('\0', '\ufffd').toWellFormed();
          return own ? text : text.trim();
        });
        if (!heads) {
          heads = headsOf(clean);
          const found = labels && ownHeads(heads, labels);
          const isOnlyFromExports = isOnlyShown(name) && (name === LISTS_SHEET || hasOwn(facts));
          kind = found?.kind ?? (labels && isOnlyFromExports ? 'about' : kindOfSheet(name, heads, source));
          own = found !== undefined;
          if (found) [shown, heads] = [heads, found.keys];
          return [];
        }
        if (first) {
          first = false;
          // An exported table has a second header row with display names.
          if (source === 'leanix' && isSecondHead(heads, clean)) {
            shown = clean;
            return [];
          }
        }
        return [store(row, clean, facts)];
      });
    },
  };

  function store(row: number, cells: string[], facts: SourceFacts): Omit<SourceRow, 'line'> {
    // columns can have any name, also __proto__
    const byColumn: Record<string, string> = Object.create(null);
    cells.forEach((cell, at) => {
      if (cell === '') return;
      heads![at] ??= unique(heads!, `column ${at + 1}`);
      byColumn[heads![at]!] = cell;
    });
    // in sheets of attachments the column `type` is the type of the card
    const typed = source === 'leanix' && (kind === 'card' || kind === 'relation');
    const native_type = (
      own && kind === 'card' ? ownType(byColumn.type) : typed && byColumn.type ? byColumn.type : name
    ).slice(0, MAX_HEAD);
    let block = facts.blocks.get(native_type);
    if (!block) {
      if (facts.blocks.size === MAX_BLOCKS) throw new Error(`it has more than ${MAX_BLOCKS} kinds of things`);
      block = { rows: 0, columns: new Map(), kind, own };
      facts.blocks.set(native_type, block);
    }
    block.rows += 1;
    if (kind === 'relation' && !own) block.ends = commonEnds(block.ends, endsOf(byColumn));
    heads!.forEach((key, at) => {
      let column = block.columns.get(key);
      if (!column) {
        column = { key, label: shown[at] || null, values: 0, data_type: 'text' };
        block.columns.set(key, column);
      }
      const cell = byColumn[key];
      if (cell === undefined) return;
      const type = dataType(cell);
      column.data_type = column.values === 0 || column.data_type === type ? type : 'text';
      column.values += 1;
    });
    return { sheet: name, row, native_type, cells: byColumn };
  }

  /** The card type of a row of an export; new rows have none. */
  function ownType(given: string | undefined): string {
    const { type } = labels!.cards;
    return given ? (type(given) ?? given) : (typeOfSheet(name, labels!.cards) ?? name);
  }
}

const hasOwn = ({ blocks }: SourceFacts): boolean => [...blocks.values()].some(({ own }) => own);

function headsOf(cells: string[]): string[] {
  const heads: string[] = [];
  cells.forEach((cell, at) => {
    heads.push(unique(heads, (cell || `column ${at + 1}`).slice(0, MAX_HEAD)));
  });
  return heads;
}

/** The name, with a number if another column has it. */
function unique(heads: readonly string[], name: string): string {
  let wanted = name;
  for (let n = 2; heads.includes(wanted); n += 1) wanted = `${name} (${n})`;
  return wanted;
}

/** Whether a row holds the labels of the columns: no id, type or date. */
function isSecondHead(heads: readonly string[], cells: readonly string[]): boolean {
  const below = (head: string): string | undefined => cells[heads.indexOf(head)] || undefined;
  const [id, type, day] = [below('id'), below('type'), below('createdAt')];
  if (id !== undefined) return /^id$/i.test(id);
  return (type !== undefined && /^type$/i.test(type)) || (day !== undefined && !isDay(day.slice(0, 10)));
}

function endsOf(cells: Record<string, string>): RelationEnds | null {
  const cellOf = (target: string) =>
    Object.entries(cells).find(([head]) => targetOfHead('relation', head) === target)?.[1];
  const [source, target] = [cellOf('source_type'), cellOf('target_type')];
  return source !== undefined && target !== undefined ? { source, target } : null;
}

/** The ends if they are the same in all rows, else null. */
function commonEnds(before: RelationEnds | null | undefined, own: RelationEnds | null): RelationEnds | null {
  if (before === undefined || own === null) return own;
  return before?.source === own.source && before.target === own.target ? before : null;
}

function dataType(cell: string): SourceColumn['data_type'] {
  if (readNumber(cell) !== undefined) return 'number';
  if (readBoolean(cell) !== undefined) return 'boolean';
  return isDay(cell.slice(0, 10)) && /^.{10}(T.*Z)?$/.test(cell) ? 'date' : 'text';
}

/** Takes the version from a sheet that describes the file: the next cell after one with the word version. */
function takeVersion(rows: SheetRows['rows'], facts: SourceFacts): [] {
  for (const { cells } of rows) {
    const at = cells.findIndex((cell) => /\bversion\b/i.test(cell));
    const version = at < 0 ? undefined : cells.slice(at + 1).find((cell) => cell.trim() !== '');
    if (version !== undefined) facts.version ??= version.trim().slice(0, 100);
  }
  return [];
}
