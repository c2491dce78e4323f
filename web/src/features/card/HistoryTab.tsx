import { Button, Select } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { call, listCardCosts } from '#client';
import { derivedFields, objectOf, useVerb } from '../../kit/Changes.tsx';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { Avatar } from '../../kit/marks.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { PersonName } from '../../kit/PersonName.tsx';
import { usePaths } from '../../kit/paths.tsx';
import { useReason } from '../../kit/reasons.ts';
import { valueAt } from '../../kit/saveCard.ts';
import { useCard } from './context.tsx';
import { patchOf } from './EditableField.tsx';
import { type CardEvent, historyQuery, isTelling } from './queries.ts';
import { RestoreStateDialog } from './RestoreStateDialog.tsx';
import styles from './tabs.module.css';

/** What the filter offers: kinds of events by the part of their type before the dot. */
const kinds: Record<string, { text: MessageKey; of: readonly string[] }> = {
  fields: { text: 'history.fields', of: ['card'] },
  relations: { text: 'card.relations', of: ['relation', 'data_flow'] },
  people: { text: 'field.people', of: ['stakeholder'] },
  comments: { text: 'tab.comments', of: ['comment'] },
  todos: { text: 'tab.todos', of: ['todo'] },
  tags: { text: 'field.tags', of: ['tag'] },
  resources: { text: 'tab.resources', of: ['document', 'file'] },
  costs: { text: 'costs.title', of: ['cost', 'relation_cost'] },
  used: { text: 'tab.used', of: ['risk', 'adr_card', 'diagram', 'compliance_finding', 'process_flow'] },
};

/** Events that are shown before more are asked for. */
const ENOUGH = 25;

/** What happened to the card, with the values before and after; values can be restored. */
export function HistoryTab() {
  const t = useTexts();
  const format = useFormat();
  const { card, asOf } = useCard();
  const { kind } = useSearch({ from: '/app/cards/$id' });
  const navigate = useNavigate({ from: '/cards/$id' });
  const { data, hasNextPage, fetchNextPage, isFetching, isPending } = useInfiniteQuery(historyQuery(card.id));
  const all = (data?.pages ?? []).flatMap(({ items }) => items as CardEvent[]);
  const wanted = kind === undefined ? undefined : kinds[kind];
  const shown = all.filter(
    (event) =>
      isTelling(event) &&
      (!wanted || wanted.of.includes(event.event_type.split('.')[0]!)) &&
      (!asOf || event.created_at.slice(0, 10) <= asOf),
  );
  const [asked, setAsked] = useState(ENOUGH);
  // a filter may leave little of a page
  useEffect(() => {
    if (shown.length < asked && hasNextPage && !isFetching) void fetchNextPage();
  }, [shown.length, asked, hasNextPage, isFetching, fetchNextPage]);
  const days = Map.groupBy(shown.slice(0, asked), ({ created_at }) => format.date(created_at));
  return (
    <div className={styles.narrow} aria-busy={isPending}>
      <Select
        aria-label={t('history.kind')}
        w={200}
        clearable
        placeholder={t('history.everything')}
        data={Object.entries(kinds).map(([value, { text }]) => ({ value, label: t(text) }))}
        value={kind ?? null}
        onChange={(value) =>
          void navigate({ search: (before) => ({ ...before, kind: value ?? undefined }), replace: true })
        }
      />
      {!isPending && !isFetching && shown.length === 0 && <p className={styles.empty}>{t('history.none')}</p>}
      {[...days].map(([day, events]) => (
        <section key={day} aria-label={day}>
          <h2 className={styles.heading}>{day}</h2>
          <ul className={styles.list}>
            {events.map((event) => (
              <HistoryItem
                key={event.id}
                event={event}
                later={all.slice(
                  0,
                  all.findIndex(({ id }) => id === event.id),
                )}
              />
            ))}
          </ul>
        </section>
      ))}
      {(hasNextPage || shown.length > asked) && (
        <Button variant="default" loading={isFetching} onClick={() => setAsked(asked + ENOUGH)}>
          {t('card.loadMore')}
        </Button>
      )}
    </div>
  );
}

/** What people may set themselves; not the annual cost of a card that has costs by period, which computes it. */
function useOwn(): (path: string) => boolean {
  const { card, can } = useCard();
  const { data } = useQuery({
    queryKey: ['card', card.id, 'costs', 'number'],
    queryFn: ({ signal }) => call(listCardCosts({ signal, path: { id: card.id }, query: { page_size: 1 } })),
    enabled: can('view_costs'),
  });
  const computed = data?.total ? ['attributes.costTotalAnnual'] : [];
  const others = ['number', 'status', 'archived_at', ...computed];
  return (path) => !derivedFields.has(path) && !others.includes(path);
}

function HistoryItem({ event, later }: { event: CardEvent; later: readonly CardEvent[] }) {
  const t = useTexts();
  const reasonOf = useReason();
  const format = useFormat();
  const { card, can, change } = useCard();
  const { relationType } = useMetamodel();
  const relation = event.event_type.startsWith('relation.')
    ? relationType(String(event.data?.type))
    : undefined;
  const { labelOf, shownValue } = usePaths(
    card.type,
    relation?.attributes_schema as unknown as Field[] | undefined,
  );
  const verbOf = useVerb();
  const [isRestoring, setRestoring] = useState(false);
  const isOwn = useOwn();
  const isCard = event.event_type.startsWith('card.');
  const isCreated = event.event_type === 'card.created';
  const changes = Object.entries(event.data?.changes ?? {}).filter(
    ([path]) =>
      !derivedFields.has(path) && (isCard || path.startsWith('attributes.') || path === 'description'),
  );
  const object = objectOf(event as never, card.id);
  const restore = async (path: string, value: unknown) => {
    try {
      await change(labelOf(path), patchOf(path, value ?? null), card);
    } catch (failed) {
      notifications.show({ color: 'red', title: labelOf(path), message: reasonOf(failed) });
    }
  };
  return (
    <li className={styles.event}>
      <Avatar name={event.user_display_name ?? t('activity.service')} size={28} />
      <div className={styles.itemText}>
        <div>
          <strong>
            <PersonName id={event.user_id} name={event.user_display_name ?? t('activity.service')} />
          </strong>{' '}
          {verbOf(event.event_type)}
          {object && `: ${object}`}{' '}
          <span className={styles.when}>
            {format.clock(event.created_at)}
            {event.origin && event.origin !== 'web' && ` · ${t(`origin.${event.origin}` as MessageKey)}`}
          </span>
        </div>
        {changes.length > 0 && (
          <table className={styles.diff}>
            <tbody>
              {changes.map(([path, { old, new: next }]) => (
                <tr key={path}>
                  <th scope="row">{labelOf(path)}</th>
                  {!isCreated && (
                    <td>
                      <s>{shownValue(path, old)}</s>
                    </td>
                  )}
                  <td>{shownValue(path, next)}</td>
                  <td className={styles.restore}>
                    {isCard &&
                      !isCreated &&
                      isOwn(path) &&
                      can('edit') &&
                      JSON.stringify(valueAt(card, path)) !== JSON.stringify(old ?? null) && (
                        <button
                          type="button"
                          className={styles.textButton}
                          aria-label={t('history.restoreValue', { field: labelOf(path) })}
                          onClick={() => void restore(path, old)}
                        >
                          {t('history.restore')}
                        </button>
                      )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      {isCard && !isCreated && can('edit') && changes.some(([path]) => isOwn(path)) && (
        <button
          type="button"
          className={styles.iconButton}
          title={t('history.restoreCard')}
          aria-label={t('history.restoreCard')}
          onClick={() => setRestoring(true)}
        >
          <Icon name="history" />
        </button>
      )}
      {isRestoring && (
        <RestoreStateDialog
          events={[...later, event]}
          at={event.created_at}
          isOwn={isOwn}
          onClose={() => setRestoring(false)}
        />
      )}
    </li>
  );
}
