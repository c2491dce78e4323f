import { notifications } from '@mantine/notifications';
import { type ClipboardEvent, type KeyboardEvent, type ReactNode, useCallback, useState } from 'react';
import type { Leave } from '../../kit/FieldEditor.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { CellEditor } from './CellEditor.tsx';
import { ChangesDialog } from './ChangesDialog.tsx';
import type { Change } from './changes.ts';
import { useEdits } from './edits.ts';
import type { GridCursor, Place } from './grid.ts';
import { useGridClipboard } from './gridClipboard.tsx';
import { changesIn, type EditedRange, type GridSource, placeOfNext } from './ranges.ts';
import { cellKey, useSaving } from './saving.ts';

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

/** Editing of cells: one in its place; ranges by copy, paste, fill and clear. */
export function useGridEditing(source: GridSource, cursor: GridCursor): GridEditing {
  const t = useTexts();
  const { columns, lines, card: cardAt } = source;
  const editOf = useEdits();
  const saving = useSaving();
  const { errors } = saving;
  const errorOf = useCallback(
    (card: string, column: string) => errors.get(cellKey(card, column))?.message,
    [errors],
  );
  const [editing, setEditing] = useState<Place & { begin?: string }>();
  const [dialog, setDialog] = useState<{ title: string; changes: Change[]; note?: string }>();
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
      const next = placeOfNext(
        [...errors.keys()].map((key) => key.split(' ')),
        active,
        source,
      );
      if (next) cursor.go(next);
      return true;
    }
    if (event.key === 'F2' || (event.key === 'Enter' && active.column > 0)) return begin(active);
    if (event.key === 'e' && active.column === 0 && !isCommand) return begin(active);
    const isTyped = event.key.length === 1 && event.key !== ' ' && !isCommand && !event.altKey;
    if (!isTyped || active.column === 0 || editAt(active)?.edit.kind !== 'field') return false;
    return begin(active, event.key);
  };
  const clipboard = useGridClipboard(source, cursor, range, apply);
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
    onCopy: clipboard.onCopy,
    onPaste: clipboard.onPaste,
    dialogs: (
      <>
        {dialog && (
          <ChangesDialog
            {...dialog}
            onClose={() => setDialog(undefined)}
            onDone={() => setDialog(undefined)}
          />
        )}
        {clipboard.dialog}
        {saving.dialog}
      </>
    ),
  };
}
