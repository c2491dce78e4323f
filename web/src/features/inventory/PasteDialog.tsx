import { Checkbox } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, answer, call, createCards, listCards } from '#client';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { useReason } from '../../kit/reasons.ts';
import { BulkDialog, usePreview } from './BulkDialog.tsx';
import { ChangedCells, useChanges } from './ChangesDialog.tsx';
import { applyChanges, type Change, MOST_CHANGED } from './changes.ts';
import { EditedValue } from './EditedValue.tsx';
import styles from './inventory.module.css';
import type { NewCard } from './ranges.ts';

export interface Pasted {
  /** The type of the new cards. */
  type: string;
  cards: readonly NewCard[];
  /** Of cells of cards that exist. */
  changes: readonly Change[];
  /** What was left out, and why. */
  note?: string | undefined;
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
      const [at, { body }] = one;
      const query = { type, search: body.name, page_size: 1, fields: 'id,name' };
      const [card] = (await call(listCards({ signal, query }))).items;
      if (card) found.set(at, { id: card.id!, name: card.name! });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

/** What the service says of each of the new cards that are chosen. */
function useNewCards(type: string, given: readonly NewCard[]) {
  const reasonOf = useReason();
  const cards = given.slice(0, MOST_CHANGED);
  const names = cards.map(({ body }) => body.name);
  const [changed, setChanged] = useState<ReadonlyMap<number, boolean>>(new Map());
  const { data: similar } = useQuery({
    queryKey: ['cards', 'similar', type, names],
    queryFn: ({ signal }) => readSimilar(type, cards, signal),
  });
  const isSame = (at: number) => similar?.get(at)?.name.toLowerCase() === names[at]!.toLowerCase();
  const isChosen = (at: number) => changed.get(at) ?? !isSame(at);
  const rows = cards.flatMap(({ body }, row_index) =>
    similar && isChosen(row_index) ? [{ ...body, type, row_index }] : [],
  );
  const { data, reason } = usePreview(
    ['new', rows],
    rows.length > 0 ? () => call(createCards({ body: { cards: rows, dry_run: true } })) : undefined,
  );
  const refused = new Map(
    (data?.results ?? []).flatMap(({ row_index, error, code, errors }): [number, string][] =>
      error ? [[row_index, reasonOf(new ApiError(422, { detail: error, code, errors }))]] : [],
    ),
  );
  return {
    cards,
    similar,
    reason,
    refused,
    created: data?.created,
    allowed: rows.filter(({ row_index }) => !refused.has(row_index)),
    isChosen: (at: number) => isChosen(at) && !refused.has(at),
    choose: (at: number, isWanted: boolean) => setChanged(new Map(changed).set(at, isWanted)),
  };
}

/**
 * Pasted rows before they are written: what changes in cards that exist, and new cards with all their values. Rows whose
 * name exists already are left out unless chosen; refused ones say why.
 */
export function PasteDialog({ pasted, onClose }: { pasted: Pasted; onClose(): void }) {
  const t = useTexts();
  const { plural } = useMetamodel();
  const added = useNewCards(pasted.type, pasted.cards);
  const preview = useChanges(pasted.changes);
  const count = added.created ?? added.allowed.length;
  const changed = preview.data?.changed ?? 0;
  const create = t('paste.create', { count, type: plural(pasted.type, count) });
  return (
    <BulkDialog
      title={t('paste.new', { count: added.cards.length })}
      submit={changed > 0 ? t('paste.both', { create, count: changed }) : create}
      isReady={count + changed > 0}
      size="xl"
      run={async () => {
        const action = crypto.randomUUID();
        const change = changed > 0 ? await applyChanges(preview.allowed, false, action) : undefined;
        if (added.allowed.length === 0)
          return { text: t('bulk.changed', { count: changed }), headers: change?.headers ?? new Headers() };
        const { data: done, headers } = await answer(
          createCards({
            body: { cards: added.allowed, dry_run: false },
            headers: { 'X-Action-Id': action },
          }),
        );
        const text = t('paste.created', { count: done.created });
        return { text: change ? `${text}, ${t('bulk.changed', { count: change.changed })}` : text, headers };
      }}
      onClose={onClose}
      onDone={onClose}
    >
      {(added.reason ?? preview.reason) && <p className={styles.failure}>{added.reason ?? preview.reason}</p>}
      {pasted.note && <p className={styles.warning}>{pasted.note}</p>}
      {preview.byCard.size > 0 && <ChangedCells {...preview} />}
      <NewCards added={added} />
    </BulkDialog>
  );
}

/** The new cards with the values of the pasted columns. */
function NewCards({ added }: { added: ReturnType<typeof useNewCards> }) {
  const t = useTexts();
  const { cards, similar, refused } = added;
  const columns = [
    ...new Map(cards.flatMap(({ values }) => values.map(({ column, edit }) => [column, edit]))),
  ].filter(([column]) => column !== 'name');
  return (
    <>
      {refused.size > 0 && <p className={styles.failure}>{t('paste.refused', { count: refused.size })}</p>}
      {similar && similar.size > 0 && <p className={styles.names}>{t('paste.similarHelp')}</p>}
      <div className={styles.compare}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('field.name')}</th>
              {columns.map(([column, edit]) => (
                <th key={column} scope="col">
                  {edit.field.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {cards.map(({ body, values }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity than their place
              <tr key={at} data-refused={refused.has(at)}>
                <th scope="row">
                  <Checkbox
                    label={body.name}
                    checked={added.isChosen(at)}
                    disabled={refused.has(at)}
                    onChange={(event) => added.choose(at, event.target.checked)}
                  />
                  {refused.has(at) && <p className={styles.failure}>{refused.get(at)}</p>}
                  {similar?.has(at) && (
                    <span className={styles.similar}>
                      <Icon name="warning" />
                      <span>{t('create.similar')}</span>
                      <Link to="/cards/$id" params={{ id: similar.get(at)!.id }} target="_blank">
                        {similar.get(at)!.name}
                      </Link>
                    </span>
                  )}
                </th>
                {columns.map(([column, edit]) => (
                  <td key={column}>
                    <EditedValue edit={edit} value={values.find((one) => one.column === column)?.value} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
