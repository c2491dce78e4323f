import { notifications } from '@mantine/notifications';
import { type ClipboardEvent, type KeyboardEvent, type ReactNode, useCallback, useState } from 'react';
import type { Leave } from '../../kit/FieldEditor.tsx';
import { useLanguage } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { CellEditor } from './CellEditor.tsx';
import { ChangesDialog } from './ChangesDialog.tsx';
import { useCellText } from './cellText.ts';
import type { Change } from './changes.ts';
import { useEdits, valueFrom } from './edits.ts';
import type { GridCursor, Place } from './grid.ts';
import { type NewCard, NewCardsDialog } from './NewCardsDialog.tsx';
import {
  changesIn,
  copiedLines,
  type EditedRange,
  type GridSource,
  newCardsOf,
  pastedChanges,
} from './ranges.ts';
import { cellKey, useSaving } from './saving.ts';
import type { CardListItem } from './types.ts';

/** What a table needs for editing. */
export interface GridEditing {
  isEditing: boolean;
  /** The control of a cell, while it is edited. */
  editorAt(line: number, column: number): ReactNode;
  errorOf(card: string, column: string): string | undefined;
  /** Whether the key was one of editing. */
  onKeyDown(event: KeyboardEvent): boolean;
  begin(place: Place): boolean;
  onCopy(event: ClipboardEvent): void;
  onPaste(event: ClipboardEvent): void;
  dialogs: ReactNode;
}

/** What a card is before it exists, for what can be written of it. */
const emptyCard = (type: string) => ({ type, status: 'ACTIVE', attributes: {} }) as unknown as CardListItem;

/** Editing of cells: one in its place; ranges by copy, paste, fill and clear. */
export function useGridEditing(source: GridSource, cursor: GridCursor): GridEditing {
  const { t, language } = useLanguage();
  const { columns, lines, card: cardAt } = source;
  const { label } = useMetamodel();
  const { cellText } = useCellText();
  const editOf = useEdits();
  const saving = useSaving();
  const { errors } = saving;
  const errorOf = useCallback(
    (card: string, column: string) => errors.get(cellKey(card, column))?.message,
    [errors],
  );
  const [editing, setEditing] = useState<Place & { begin?: string }>();
  const [dialog, setDialog] = useState<{ title: string; changes: Change[]; note?: string }>();
  const [added, setAdded] = useState<{ type: string; cards: NewCard[] }>();
  const editAt = ({ line, column }: Place) => {
    const card = cardAt(line);
    const shown = columns[column];
    const edit = card && shown && editOf(shown, card);
    return edit ? { card, column: shown, edit } : undefined;
  };
  const begin = (place: Place, typed?: string): boolean => {
    const cell = editAt(place);
    if (!cell) return false;
    const refused = saving.errors.get(cellKey(cell.card.id, cell.column.key))?.value;
    const before = typeof refused === 'string' || typeof refused === 'number' ? String(refused) : undefined;
    setEditing({ ...place, begin: typed ?? before });
    return true;
  };
  const leave = (where: Leave) => {
    if (!editing) return;
    const { line, column } = editing;
    setEditing(undefined);
    const steps: Record<Leave, [number, number]> = {
      stay: [0, 0],
      down: [1, 0],
      right: [0, 1],
      left: [0, -1],
    };
    const [down, right] = steps[where];
    cursor.go({
      line: Math.min(lines - 1, line + down),
      column: Math.min(columns.length - 1, Math.max(0, column + right)),
    });
  };
  const range: EditedRange = { lines: cursor.range.lines, columns: cursor.range.columns, editAt };
  const apply = (title: string, changes: Change[], note?: string) => {
    if (changes.length === 1 && !note) {
      const { card, column, edit, value } = changes[0]!;
      void saving.save(columns.find(({ key }) => key === column)!, card, edit, value);
    } else if (changes.length > 0) setDialog({ title, changes, note });
    else notifications.show({ withCloseButton: false, message: t('cell.nothing') });
  };
  const onKeyDown = (event: KeyboardEvent): boolean => {
    const { active } = cursor;
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && event.key.toLowerCase() === 'd') {
      const firstOf = (_: number, column: number) => editAt({ line: range.lines[0], column })?.edit.value;
      apply(t('cell.fill'), changesIn(range, firstOf, true));
      return true;
    }
    if (event.key === 'Delete' || event.key === 'Backspace') {
      const clearable = changesIn(range, (_, column) => (columns[column]!.key === 'name' ? undefined : null));
      apply(t('cell.clear'), clearable);
      return true;
    }
    if (event.key === 'F8') {
      nextError();
      return true;
    }
    if (event.key === 'F2' || (event.key === 'Enter' && active.column > 0)) return begin(active);
    if (event.key === 'e' && active.column === 0 && !isCommand) return begin(active);
    const isTyped = event.key.length === 1 && event.key !== ' ' && !isCommand && !event.altKey;
    if (!isTyped || active.column === 0 || editAt(active)?.edit.kind !== 'field') return false;
    return begin(active, event.key);
  };
  const nextError = () => {
    const places = [...errors.keys()].flatMap((key) => {
      const [id, name] = key.split(' ');
      const column = columns.findIndex((one) => one.key === name);
      const line = source.lineOf(id!);
      return column < 0 || line === undefined ? [] : [{ line, column }];
    });
    const order = (place: Place) => place.line * columns.length + place.column;
    const sorted = places.toSorted((a, b) => order(a) - order(b));
    const next = sorted.find((place) => order(place) > order(cursor.active)) ?? sorted[0];
    if (next) cursor.go(next);
  };
  const isCell = (event: ClipboardEvent) => (event.target as HTMLElement).dataset.line !== undefined;
  const onCopy = (event: ClipboardEvent) => {
    if (!isCell(event)) return;
    const texts = copiedLines(cursor.range, source, cellText);
    event.clipboardData.setData('text/plain', texts.join('\n'));
    event.preventDefault();
    notifications.show({ withCloseButton: false, message: t('cell.copied', { count: texts.length }) });
  };
  const onPaste = (event: ClipboardEvent) => {
    if (!isCell(event)) return;
    event.preventDefault();
    const parse = (field: Field, text: string) => valueFrom(field, text, label, { t, language });
    const text = event.clipboardData.getData('text/plain');
    const { changes, leftOut } = pastedChanges(range, text, lines, parse);
    const { newType } = source;
    const added = newType
      ? newCardsOf(range, text, lines, (column, value) => {
          const edit = columns[column] && editOf(columns[column], emptyCard(newType));
          return edit?.kind === 'field' ? edit.patch(parse(edit.field, value)) : undefined;
        })
      : [];
    if (newType && added.length > 0) setAdded({ type: newType, cards: added });
    if (added.length === 0 || changes.length > 0)
      apply(t('cell.paste'), changes, leftOut > 0 ? t('cell.leftOut', { count: leftOut }) : undefined);
  };
  return {
    isEditing: editing !== undefined,
    editorAt(line, column) {
      if (editing?.line !== line || editing.column !== column) return undefined;
      const cell = editAt(editing);
      if (!cell) return undefined;
      return (
        <CellEditor
          edit={cell.edit}
          cardType={cell.card.type}
          cardId={cell.card.id}
          begin={editing.begin}
          onCancel={() => leave('stay')}
          onSave={(value, where) => {
            leave(where);
            void saving.save(cell.column, cell.card, cell.edit, value);
          }}
        />
      );
    },
    errorOf,
    onKeyDown,
    begin,
    onCopy,
    onPaste,
    dialogs: (
      <>
        {dialog && (
          <ChangesDialog
            {...dialog}
            onClose={() => setDialog(undefined)}
            onDone={() => setDialog(undefined)}
          />
        )}
        {added && !dialog && <NewCardsDialog {...added} onClose={() => setAdded(undefined)} />}
        {saving.dialog}
      </>
    ),
  };
}
