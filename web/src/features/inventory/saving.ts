import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, type Card, changeCardTags, type ListCardsResponse, type PatchCardBody } from '#client';
import { useConflict } from '../../kit/Conflict.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useReason } from '../../kit/reasons.ts';
import { saveCard } from '../../kit/saveCard.ts';
import { useUndoToast } from '../../kit/undo.tsx';
import { type CellEdit, isSame } from './edits.ts';
import type { CardListItem, Column } from './types.ts';

/** A cell that the service refused, with what was typed. */
export interface CellError {
  message: string;
  value: unknown;
}

export const cellKey = (card: string, column: string) => `${card} ${column}`;

/** Writes members of a card into the lists that are shown. */
function showInLists(client: QueryClient, id: string, change: (card: CardListItem) => CardListItem): void {
  client.setQueriesData<ListCardsResponse>({ queryKey: ['cards', 'list'] }, (page) =>
    page?.items.some((item) => item.id === id)
      ? { ...page, items: page.items.map((item) => (item.id === id ? change(item as CardListItem) : item)) }
      : page,
  );
}

/** A card with the members of a change, as the service merges them. */
function changed(card: CardListItem, body: PatchCardBody): CardListItem {
  const { attributes, lifecycle, ...members } = body;
  return {
    ...card,
    ...(members as Partial<CardListItem>),
    ...(attributes && { attributes: { ...card.attributes, ...attributes } }),
    ...(lifecycle && { lifecycle: { ...card.lifecycle, ...lifecycle } as CardListItem['lifecycle'] }),
  };
}

/** Saves cells: the value shows at once; a refused one returns, with the reason at its cell. */
export function useSaving() {
  const t = useTexts();
  const reasonOf = useReason();
  const client = useQueryClient();
  const showUndo = useUndoToast();
  const [errors, setErrors] = useState<ReadonlyMap<string, CellError>>(new Map());
  const [typeKey, setTypeKey] = useState('');
  const { ask, dialog } = useConflict(typeKey);
  const setError = (key: string, error: CellError | undefined) =>
    setErrors((before) => {
      if (!error && !before.has(key)) return before;
      const after = new Map(before);
      if (error) after.set(key, error);
      else after.delete(key);
      return after;
    });
  const save = async (column: Column, card: CardListItem, edit: CellEdit, value: unknown) => {
    const key = cellKey(card.id, column.key);
    setError(key, undefined);
    if (isSame(value, edit.value)) return;
    setTypeKey(card.type);
    const body = edit.patch(value);
    if (edit.kind === 'field') showInLists(client, card.id, (shown) => changed(shown, body));
    try {
      const batch =
        edit.kind === 'tags'
          ? await writeTags(card, value as string[])
          : await saveCard(card.id, card as Partial<Card>, body, ask);
      if (batch) showUndo(t('cell.changed', { field: edit.field.label, name: card.name }), batch);
      for (const name of ['cards', 'facets']) void client.invalidateQueries({ queryKey: [name] });
      void client.invalidateQueries({ queryKey: ['card', card.id] });
    } catch (failed) {
      showInLists(client, card.id, () => card);
      setError(key, { message: reasonOf(failed), value });
    }
  };
  return { save, errors, dialog };
}

async function writeTags(card: CardListItem, wanted: readonly string[]): Promise<string | null> {
  const had = card.tags.map(({ id }) => id);
  const add = wanted.filter((id) => !had.includes(id));
  const remove = had.filter((id) => !wanted.includes(id));
  const { data, headers } = await answer(changeCardTags({ body: { card_ids: [card.id], add, remove } }));
  const refused = data.results.find(({ status }) => status === 'refused');
  if (refused) throw new Error(refused.message ?? refused.code ?? '');
  return headers.get('x-mutation-batch');
}
