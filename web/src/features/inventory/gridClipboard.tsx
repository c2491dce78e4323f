import { notifications } from '@mantine/notifications';
import { type ClipboardEvent, type ReactNode, useState } from 'react';
import type { PatchCardBody } from '#client';
import { useLanguage } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { useCellText } from './cellText.ts';
import type { Change } from './changes.ts';
import { type CellEdit, useEdits, valueFrom } from './edits.ts';
import type { GridCursor } from './grid.ts';
import { PasteDialog, type Pasted } from './PasteDialog.tsx';
import { copiedLines, type EditedRange, type GridSource, newCardsOf, pastedChanges } from './ranges.ts';
import type { CardListItem } from './types.ts';

/** What a card is before it exists, for what can be written of it. */
const emptyCard = (type: string) => ({ type, status: 'ACTIVE', attributes: {} }) as unknown as CardListItem;

/** What separates the names of a path. */
const PATH = ' / ';

/** The parent of a new card, named by its path. */
const byPath = (edit: CellEdit): CellEdit => ({
  ...edit,
  patch: (path) => ({ parent_path: path }) as PatchCardBody,
});

/** Whether an event is one of a cell: its target is what is selected there, such as the text of a link. */
function isCell({ target }: ClipboardEvent): boolean {
  const element = target as HTMLElement;
  return (
    element.closest('[data-line]') !== null && element.closest('input, textarea, [data-editor]') === null
  );
}

/** Copies ranges to spreadsheets, and pastes from them: into cells, and after the last row as new cards. */
export function useGridClipboard(
  source: GridSource,
  cursor: GridCursor,
  range: EditedRange,
  apply: (title: string, changes: Change[], note?: string) => void,
) {
  const { t, language } = useLanguage();
  const { columns, lines, newType } = source;
  const { label } = useMetamodel();
  const { cellText } = useCellText();
  const editOf = useEdits();
  const [pasted, setPasted] = useState<Pasted>();
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
    const cellOf = (at: number, given: string) => {
      const column = columns[at];
      const edit = column && editOf(column, emptyCard(newType!));
      if (edit?.kind === 'parent')
        return { column: column!.key, edit: byPath(edit), value: given.split(PATH).map((one) => one.trim()) };
      return edit?.kind === 'field'
        ? { column: column!.key, edit, value: parse(edit.field, given) }
        : undefined;
    };
    const added = newType ? newCardsOf(range, text, lines, cellOf) : { cards: [], leftOut: 0 };
    const all = leftOut + added.leftOut;
    const note = all > 0 ? t('cell.leftOut', { count: all }) : undefined;
    if (newType && added.cards.length > 0) setPasted({ type: newType, cards: added.cards, changes, note });
    else apply(t('cell.paste'), changes, note);
  };
  const dialog: ReactNode = pasted && <PasteDialog pasted={pasted} onClose={() => setPasted(undefined)} />;
  return { onCopy, onPaste, dialog };
}
