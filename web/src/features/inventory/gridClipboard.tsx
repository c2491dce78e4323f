import { notifications } from '@mantine/notifications';
import { type ClipboardEvent, type ReactNode, useState } from 'react';
import { useLanguage } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { useCellText } from './cellText.ts';
import type { Change } from './changes.ts';
import { useEdits, valueFrom } from './edits.ts';
import type { GridCursor } from './grid.ts';
import { type NewCard, NewCardsDialog } from './NewCardsDialog.tsx';
import { copiedLines, type EditedRange, type GridSource, newCardsOf, pastedChanges } from './ranges.ts';
import type { CardListItem } from './types.ts';

/** What a card is before it exists, for what can be written of it. */
const emptyCard = (type: string) => ({ type, status: 'ACTIVE', attributes: {} }) as unknown as CardListItem;

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
  const [added, setAdded] = useState<{ type: string; cards: NewCard[] }>();
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
    const patchOf = (column: number, value: string) => {
      const edit = columns[column] && editOf(columns[column], emptyCard(newType!));
      return edit?.kind === 'field' ? edit.patch(parse(edit.field, value)) : undefined;
    };
    const cards = newType ? newCardsOf(range, text, lines, patchOf) : [];
    if (newType && cards.length > 0) setAdded({ type: newType, cards });
    if (cards.length === 0 || changes.length > 0)
      apply(t('cell.paste'), changes, leftOut > 0 ? t('cell.leftOut', { count: leftOut }) : undefined);
  };
  const dialog: ReactNode = added && <NewCardsDialog {...added} onClose={() => setAdded(undefined)} />;
  return { onCopy, onPaste, dialog };
}
