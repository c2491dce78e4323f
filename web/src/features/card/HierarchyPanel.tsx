import { ActionIcon, Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answer, call, createCard, patchCard, readCardHierarchy } from '#client';
import { CardFinder, type PickedCard } from '../../kit/finders.tsx';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { useReason } from '../../kit/reasons.ts';
import styles from './card.module.css';
import { useCard } from './context.tsx';

const PAGE = 100;

/** Where the card stands: the cards above it, which may change, and those below. */
export function HierarchyPanel() {
  const t = useTexts();
  const format = useFormat();
  const { card, overview, asOf } = useCard();
  const { type: typeOf } = useMetamodel();
  const hierarchy = overview.hierarchy;
  if (!typeOf(card.type)?.has_hierarchy || !hierarchy) return null;
  return (
    <section className={styles.panel} aria-label={t('hierarchy.title')} id="field-parent" tabIndex={-1}>
      <h2>
        {t('hierarchy.title')}
        <span className="secondary">{t('hierarchy.level', { level: format.number(hierarchy.level) })}</span>
      </h2>
      <Parent />
      {!asOf && <Children />}
    </section>
  );
}

/** Runs a change of the hierarchy, and shows an error if it is refused. */
function useMove() {
  const reasonOf = useReason();
  const { act } = useCard();
  return async (done: string, write: Parameters<typeof act>[1]) => {
    try {
      await act(done, write);
    } catch (failed) {
      notifications.show({ color: 'red', message: reasonOf(failed) });
    }
  };
}

function Parent() {
  const t = useTexts();
  const { card, overview, can } = useCard();
  const [isOpen, setOpen] = useState(false);
  const move = useMove();
  const ancestors = overview.hierarchy!.ancestors;
  const set = (parent: PickedCard | null) => {
    setOpen(false);
    const done = parent ? t('hierarchy.moved', { name: parent.name }) : t('hierarchy.isRoot');
    const body = { parent_id: parent?.id ?? null };
    void move(done, async () => (await answer(patchCard({ path: { id: card.id }, body }))).headers);
  };
  return (
    <div className={styles.line}>
      {ancestors.length === 0 && <span className="muted">{t('hierarchy.noParent')}</span>}
      {ancestors.map(({ id, name }, at) => (
        <span key={id} className={styles.step}>
          {at > 0 && <span className="muted">/</span>}
          <Link to="/cards/$id" params={{ id }} className={styles.textLink}>
            {name}
          </Link>
        </span>
      ))}
      {can('edit') &&
        (isOpen ? (
          <CardFinder
            autoFocus
            label={t('hierarchy.findParent')}
            placeholder={t('hierarchy.findParent')}
            types={[card.type]}
            except={new Set([card.id, ...(card.parent_id ? [card.parent_id] : [])])}
            onPick={set}
            onCancel={() => setOpen(false)}
          />
        ) : (
          <>
            <Button size="compact-xs" variant="subtle" onClick={() => setOpen(true)} data-fill>
              {t(card.parent_id ? 'hierarchy.change' : 'hierarchy.set')}
            </Button>
            {card.parent_id && (
              <Button size="compact-xs" variant="subtle" color="gray" onClick={() => set(null)}>
                {t('hierarchy.clear')}
              </Button>
            )}
          </>
        ))}
    </div>
  );
}

function Children() {
  const t = useTexts();
  const { card, overview, can } = useCard();
  const [isOpen, setOpen] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const move = useMove();
  const { children: first, children_total: total } = overview.hierarchy!;
  const { data, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['card', card.id, 'children'],
    queryFn: ({ signal, pageParam: page }) =>
      call(readCardHierarchy({ signal, path: { id: card.id }, query: { page, page_size: PAGE } })),
    initialPageParam: 1,
    getNextPageParam: ({ page, children_total }) => (page * PAGE < children_total ? page + 1 : undefined),
    enabled: isWhole,
  });
  const children = data?.pages.flatMap((page) => page.children) ?? first;
  const place = (child: PickedCard, parent: string | null, done: string) =>
    void move(done, async () => {
      const written = await answer(patchCard({ path: { id: child.id }, body: { parent_id: parent } }));
      return written.headers;
    });
  const create = (name: string) =>
    void move(t('hierarchy.added', { name }), async () => {
      const body = { type: card.type, name, parent_id: card.id };
      return (await answer(createCard({ body }))).headers;
    });
  const close = (run: () => void) => {
    setOpen(false);
    run();
  };
  const more = (): ReactNode =>
    (isWhole ? hasNextPage : children.length < total) && (
      <button
        type="button"
        className={styles.moreButton}
        onClick={() => (isWhole ? void fetchNextPage() : setWhole(true))}
      >
        {t('facets.more', { count: total - children.length })}
      </button>
    );
  return (
    <div className={styles.group}>
      <h3>
        <TypeMark type={card.type} size={18} /> {t('card.children')}
        <span className="secondary">{total}</span>
        {can('edit') && (
          <ActionIcon
            size="sm"
            className={styles.headButton}
            aria-label={t('hierarchy.addChild')}
            onClick={() => setOpen(true)}
          >
            <Icon name="add" />
          </ActionIcon>
        )}
      </h3>
      <div className={styles.chips}>
        {children.map((child) => (
          <span key={child.id} className={styles.relation}>
            <Link to="/cards/$id" params={{ id: child.id }}>
              {child.name}
            </Link>
            {can('edit') && (
              <button
                type="button"
                className={styles.chipMenu}
                aria-label={t('hierarchy.cut', { name: child.name })}
                onClick={() => place(child, null, t('hierarchy.removed', { name: child.name }))}
              >
                <Icon name="close" size={14} />
              </button>
            )}
          </span>
        ))}
        {more()}
        {total === 0 && !isOpen && <span className="muted">{t('relations.none')}</span>}
      </div>
      {isOpen && (
        <CardFinder
          autoFocus
          label={t('hierarchy.findChild')}
          placeholder={t('hierarchy.findChild')}
          types={[card.type]}
          except={new Set([card.id, ...children.map(({ id }) => id)])}
          onPick={(child) => close(() => place(child, card.id, t('hierarchy.added', { name: child.name })))}
          onCreate={(name) => close(() => create(name))}
          onCancel={() => setOpen(false)}
        />
      )}
    </div>
  );
}
