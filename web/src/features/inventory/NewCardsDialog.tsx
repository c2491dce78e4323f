import { Checkbox } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, call, createCards, listCards } from '#client';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { BulkDialog, usePreview } from './BulkDialog.tsx';
import { MOST_CHANGED } from './changes.ts';
import styles from './inventory.module.css';

/** A card that a pasted row would become. */
export interface NewCard {
  name: string;
  [member: string]: unknown;
}

interface NewCardsDialogProps {
  type: string;
  cards: readonly NewCard[];
  onClose(): void;
}

/** Names that are looked up at once, and at most. */
const AT_ONCE = 4;
const MOST_LOOKED_UP = 60;

/** The first card of the type that is found by each name. */
async function readSimilar(type: string, cards: readonly NewCard[], signal: AbortSignal) {
  const found = new Map<number, { id: string; name: string }>();
  const waiting = [...cards.slice(0, MOST_LOOKED_UP).entries()];
  const work = async () => {
    for (let one = waiting.shift(); one; one = waiting.shift()) {
      const [at, { name }] = one;
      const query = { type, search: name, page_size: 1, fields: 'id,name' };
      const [card] = (await call(listCards({ signal, query }))).items;
      if (card) found.set(at, { id: card.id!, name: card.name! });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

/** Pasted rows that are not in the table, as new cards; those that may exist already are left out unless chosen. */
export function NewCardsDialog({ type, cards: given, onClose }: NewCardsDialogProps) {
  const t = useTexts();
  const { type: typeOf, label } = useMetamodel();
  const cards = given.slice(0, MOST_CHANGED);
  const [changed, setChanged] = useState<ReadonlyMap<number, boolean>>(new Map());
  const { data: similar } = useQuery({
    queryKey: ['cards', 'similar', type, cards.map(({ name }) => name)],
    queryFn: ({ signal }) => readSimilar(type, cards, signal),
  });
  const isSame = (at: number) => similar?.get(at)?.name.toLowerCase() === cards[at]!.name.toLowerCase();
  const isChosen = (at: number) => changed.get(at) ?? !isSame(at);
  const rows = cards.flatMap((card, row_index) =>
    similar && isChosen(row_index) ? [{ ...card, type, row_index }] : [],
  );
  const { data, reason } = usePreview(
    ['new', rows],
    rows.length > 0 ? () => call(createCards({ body: { cards: rows, dry_run: true } })) : undefined,
  );
  const errors = new Map(data?.results.map(({ row_index, error }) => [row_index, error]));
  return (
    <BulkDialog
      title={t('paste.new', { count: cards.length })}
      submit={t('paste.create', {
        count: data?.created ?? rows.length,
        type: typeOf(type) ? label(typeOf(type)!) : type,
      })}
      isReady={rows.length > 0 && (data?.created ?? 0) > 0}
      size="lg"
      run={async () => {
        const allowed = rows.filter(({ row_index }) => !errors.get(row_index));
        const { data: done, headers } = await answer(
          createCards({ body: { cards: allowed, dry_run: false } }),
        );
        return { text: t('paste.created', { count: done.created }), headers };
      }}
      onClose={onClose}
      onDone={onClose}
    >
      {reason && <p className={styles.failure}>{reason}</p>}
      {similar && similar.size > 0 && <p className={styles.names}>{t('paste.similarHelp')}</p>}
      <div className={styles.compare}>
        <table>
          <tbody>
            {cards.map((card, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity than their place
              <tr key={at} data-refused={Boolean(errors.get(at))}>
                <th scope="row">
                  <Checkbox
                    label={card.name}
                    checked={isChosen(at)}
                    onChange={(event) => setChanged(new Map(changed).set(at, event.target.checked))}
                  />
                </th>
                <td>
                  {similar?.has(at) && (
                    <span className={styles.similar}>
                      <Icon name="warning" />
                      <span>{t('create.similar')}</span>
                      <Link to="/cards/$id" params={{ id: similar.get(at)!.id }} target="_blank">
                        {similar.get(at)!.name}
                      </Link>
                    </span>
                  )}
                  {errors.get(at) && <p className={styles.failure}>{errors.get(at)}</p>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </BulkDialog>
  );
}
