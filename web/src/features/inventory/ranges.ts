import { cellsOf } from '../../kit/delimited.ts';
import type { Field } from '../../kit/metamodel.tsx';
import { lineOf, type useCellText } from './cellText.ts';
import { type Change, MOST_CHANGED } from './changes.ts';
import { type CellEdit, isSame } from './edits.ts';
import type { GridCursor, Place } from './grid.ts';
import type { ShownColumn } from './layout.ts';
import type { CardListItem, Column, Related } from './types.ts';

/** The rows and columns of a table. */
export interface GridSource {
  columns: readonly ShownColumn[];
  lines: number;
  /** The type of the cards that rows pasted after the last line become; without it they are left out. */
  newType: string | undefined;
  card(line: number): CardListItem | undefined;
  /** The line of a card that is loaded. */
  lineOf(card: string): number | undefined;
  related(card: string): ReadonlyMap<string, Related[]> | undefined;
}

/** The first of some cells, named by card and column, after a place; from the first line on if there is none. */
export function placeOfNext(
  cells: readonly string[][],
  { line, column }: Place,
  { columns, lineOf }: Pick<GridSource, 'columns' | 'lineOf'>,
): Place | undefined {
  const order = (place: Place) => place.line * columns.length + place.column;
  const places = cells
    .flatMap(([id, name]) => {
      const found = { line: lineOf(id!) ?? -1, column: columns.findIndex(({ key }) => key === name) };
      return found.line < 0 || found.column < 0 ? [] : [found];
    })
    .sort((a, b) => order(a) - order(b));
  return places.find((place) => order(place) > order({ line, column })) ?? places[0];
}

/** Cells that are edited together. */
export interface EditedRange {
  lines: readonly [number, number];
  columns: readonly [number, number];
  editAt(place: Place): { card: CardListItem; column: Column; edit: CellEdit } | undefined;
}

/**
 * The changes of the cells of a range that can be edited, of loaded rows.
 * @param valueAt the new value of a cell; undefined leaves it.
 */
export function changesIn(
  { lines, columns, editAt }: EditedRange,
  valueAt: (line: number, column: number, field: Field) => unknown,
  skipsFirst = false,
): Change[] {
  const changes: Change[] = [];
  const last = Math.min(lines[1], lines[0] + MOST_CHANGED);
  for (let line = lines[0] + (skipsFirst ? 1 : 0); line <= last; line += 1) {
    for (let column = columns[0]; column <= columns[1]; column += 1) {
      const cell = editAt({ line, column });
      if (cell?.edit.kind !== 'field') continue;
      const value = valueAt(line, column, cell.edit.field);
      if (value !== undefined && !isSame(value, cell.edit.value))
        changes.push({ card: cell.card, column: cell.column.key, edit: cell.edit, value });
    }
  }
  return changes;
}

/**
 * What a text from a spreadsheet changes: one value fills the range, several begin at its first cell.
 * @param count the lines of the table; rows after the last one change nothing.
 */
export function pastedChanges(
  range: EditedRange,
  text: string,
  count: number,
  parse: (field: Field, text: string) => unknown,
): { changes: Change[]; leftOut: number } {
  const cells = cellsOf(text, '\t');
  const [only, ...more] = cells.flat();
  if (only !== undefined && more.length === 0)
    return { changes: changesIn(range, (_, __, field) => parse(field, only)), leftOut: 0 };
  const changes: Change[] = [];
  let leftOut = 0;
  for (const [down, row] of cells.slice(0, Math.min(MOST_CHANGED, count - range.lines[0])).entries()) {
    for (const [right, value] of row.entries()) {
      const place = { line: range.lines[0] + down, column: range.columns[0] + right };
      if (range.editAt(place)?.edit.kind !== 'field') leftOut += 1;
      const one = {
        ...range,
        lines: [place.line, place.line],
        columns: [place.column, place.column],
      } as const;
      changes.push(...changesIn(one, (_, __, field) => parse(field, value)));
    }
  }
  return { changes, leftOut };
}

/** A card that a pasted row would become. */
export interface NewCard {
  body: { name: string; [member: string]: unknown };
  /** Its cells. */
  values: { column: string; edit: CellEdit; value: unknown }[];
}

/**
 * The cards that the rows of a text beyond the last line would become; rows without a name are left out.
 * @param cellOf what a text in a column stands for; undefined for columns that cannot be written.
 */
export function newCardsOf(
  { lines, columns }: EditedRange,
  text: string,
  count: number,
  cellOf: (column: number, text: string) => NewCard['values'][number] | undefined,
): { cards: NewCard[]; leftOut: number } {
  const rows = cellsOf(text, '\t').slice(Math.max(0, count - lines[0]));
  let leftOut = 0;
  const cards = rows.flatMap((row) => {
    const body: Record<string, unknown> = {};
    const values: NewCard['values'] = [];
    for (const [right, given] of row.entries()) {
      if (given.trim() === '') continue;
      const cell = cellOf(columns[0] + right, given);
      if (!cell) {
        leftOut += 1;
        continue;
      }
      values.push(cell);
      const { attributes, ...members } = cell.edit.patch(cell.value);
      Object.assign(body, members);
      if (attributes) body.attributes = { ...(body.attributes as object), ...attributes };
    }
    return typeof body.name === 'string' ? [{ body: body as NewCard['body'], values }] : [];
  });
  return { cards, leftOut };
}

/** The loaded rows of a range, each as a line of cells. */
export function copiedLines(
  { lines, columns }: GridCursor['range'],
  source: GridSource,
  cellText: ReturnType<typeof useCellText>['cellText'],
): string[] {
  const shown = source.columns.slice(columns[0], columns[1] + 1);
  const texts: string[] = [];
  for (let line = lines[0]; line <= lines[1]; line += 1) {
    const card = source.card(line);
    if (card) texts.push(lineOf(shown.map((column) => cellText(column, card, source.related(card.id)))));
  }
  return texts;
}
