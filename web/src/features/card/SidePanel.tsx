import { Button, Progress } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Changes, derivedFields } from '../../kit/Changes.tsx';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { Avatar } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { PersonName } from '../../kit/PersonName.tsx';
import { usePaths } from '../../kit/paths.tsx';
import { reveal, useApprove, useBlocking } from './ApprovalMenu.tsx';
import styles from './card.module.css';
import { useCard } from './context.tsx';
import { useRoles } from './PeopleTab.tsx';
import { type CardEvent, historyQuery, isTelling } from './queries.ts';
import { SuggestButton } from './SuggestButton.tsx';

/** Gaps and events that are shown. */
const GAPS = 5;
const EVENTS = 8;

/** Beside a card: what broke its approval, its quality with what to fill, its people, and what happened. */
export function SidePanel() {
  const t = useTexts();
  const { card, asOf } = useCard();
  const { data } = useInfiniteQuery(historyQuery(card.id));
  const events = (data?.pages ?? []).flatMap(({ items }) => items as CardEvent[]);
  const shown = events.filter(
    (event) => isTelling(event) && (!asOf || event.created_at.slice(0, 10) <= asOf),
  );
  return (
    <aside className={styles.side} aria-label={t('card.attention')}>
      {card.approval_status === 'BROKEN' && !asOf && <BrokenApproval events={events} />}
      <Quality />
      <People />
      <section className={styles.titled}>
        <h2>
          {t('card.activity')}
          <Link
            to="."
            search={(before) => ({ asOf: before.asOf, tab: 'history' })}
            className={styles.moreButton}
          >
            {t('card.all')}
          </Link>
        </h2>
        {shown.slice(0, EVENTS).map((event) => (
          <div key={event.id} className={styles.event}>
            <Avatar name={event.user_display_name ?? t('activity.service')} size={22} />
            <Changes event={event} typeKey={card.type} cardId={card.id} />
          </div>
        ))}
      </section>
    </aside>
  );
}

/** The fields that have changed since the approval, each with its value then and now. */
function changesSince(events: readonly CardEvent[]) {
  const until = events.findIndex(({ event_type }) => event_type === 'card.approval_status.approve');
  const changes = new Map<string, { old: unknown; new: unknown; by: string | null }>();
  for (const { data, user_display_name } of until < 0 ? events : events.slice(0, until)) {
    for (const [path, change] of Object.entries(data?.changes ?? {})) {
      const later = changes.get(path);
      changes.set(path, {
        old: change.old,
        new: later ? later.new : change.new,
        by: later ? later.by : user_display_name,
      });
    }
  }
  for (const path of derivedFields) changes.delete(path);
  return [...changes].filter(([, { old, new: now }]) => JSON.stringify(old) !== JSON.stringify(now));
}

function BrokenApproval({ events }: { events: readonly CardEvent[] }) {
  const t = useTexts();
  const { card, can } = useCard();
  const { labelOf, shownValue } = usePaths(card.type);
  const approve = useApprove();
  const blocking = useBlocking();
  const changes = changesSince(events);
  return (
    <section className={styles.broken}>
      <h2>
        <Icon name="link_off" /> {t('approval.changedSince')}
      </h2>
      {changes.map(([path, change]) => (
        <div key={path} className={styles.brokenField}>
          {labelOf(path)} <s>{shownValue(path, change.old)}</s> <Icon name="arrow_forward" size={12} />{' '}
          <strong>{shownValue(path, change.new)}</strong>
          <div className="secondary">{change.by ?? t('activity.service')}</div>
        </div>
      ))}
      {changes.length === 0 && <p>{t('approval.changedOther')}</p>}
      <div className={styles.buttons}>
        {can('approval_status') && blocking.length === 0 && (
          <Button onClick={() => void approve('approve')}>{t('approval.again')}</Button>
        )}
        <Button
          variant="default"
          renderRoot={(props) => (
            <Link to="." search={(before) => ({ asOf: before.asOf, tab: 'history' })} {...props} />
          )}
        >
          {t('card.compare')}
        </Button>
      </div>
    </section>
  );
}

/** Where a gap can be filled: the id of an element of the page. */
const targetOf = (kind: string, key: string | null, side: string | null): string =>
  kind === 'relation'
    ? `relation-${key}-${side === 'source' ? 'outgoing' : 'incoming'}`
    : kind === 'tag_group'
      ? 'tags'
      : kind === 'field'
        ? `field-attributes.${key}`
        : `field-${kind}`;

/** The name of what is missing, in the language of the page; the service names it as it is stored. */
function useGapName() {
  const t = useTexts();
  const { card } = useCard();
  const { field, label, relationType, verb, type } = useMetamodel();
  return (kind: string, key: string | null, side: string | null, stored: string | null | undefined) => {
    const relation = kind === 'relation' ? relationType(key ?? '') : undefined;
    if (relation) return verb(relation, side === 'source' ? 'outgoing' : 'incoming');
    const named =
      kind === 'field'
        ? field(card.type, key ?? '')
        : type(card.type)?.stakeholder_roles?.find((role) => role.label === stored);
    if (named) return label(named);
    return stored ?? t(kind === 'lifecycle' ? 'field.lifecycle' : 'field.description');
  };
}

/** The data quality, with what fills it best. */
export function Quality() {
  const t = useTexts();
  const format = useFormat();
  const { overview, card, can, asOf } = useCard();
  const gapName = useGapName();
  const gaps = asOf ? [] : (overview.quality?.gaps ?? []);
  return (
    <section className={styles.titled}>
      <h2>
        {t('field.quality')} <span className={styles.percent}>{format.percent(card.data_quality)}</span>
      </h2>
      <Progress
        value={card.data_quality}
        size="sm"
        color={`var(--quality-${Math.min(4, 1 + Math.floor(card.data_quality / 25))})`}
        aria-label={t('field.quality')}
      />
      <ul className={styles.gaps}>
        {gaps.slice(0, GAPS).map(({ kind, key, side, label, points }) => {
          const text = t('card.add', { field: gapName(kind, key, side, label) });
          return (
            <li key={`${kind} ${key} ${side}`}>
              {can('edit') ? (
                <button type="button" onClick={() => reveal(targetOf(kind, key, side))}>
                  <span className={styles.ring} aria-hidden="true" /> {text}
                </button>
              ) : (
                text
              )}
              <span className={styles.points}>+{Math.max(1, Math.round(points))}</span>
            </li>
          );
        })}
      </ul>
      {gaps.length > GAPS && <p className="secondary">{t('facets.more', { count: gaps.length - GAPS })}</p>}
      {!asOf && <SuggestButton />}
    </section>
  );
}

/** Who holds a role on the card. */
export function People() {
  const t = useTexts();
  const { card, can } = useCard();
  const { roles, roleOf } = useRoles();
  const people = Map.groupBy(card.stakeholders ?? [], ({ user_id }) => user_id);
  return (
    <section className={styles.titled} id="field-stakeholder_role" tabIndex={-1}>
      <h2>
        {t('field.people')}
        {can('manage_stakeholders') && (
          <Link
            to="/cards/$id"
            params={{ id: card.id }}
            search={{ tab: 'people', ...(roles[0] && { add: roles[0].key }) }}
            className={styles.iconLink}
            aria-label={t('people.add')}
            data-fill
          >
            <Icon name="add" size={18} />
          </Link>
        )}
      </h2>
      {people.size === 0 && <p className="secondary">{t('card.noPeople')}</p>}
      {[...people].map(([id, held]) => (
        <div key={id} className={styles.person}>
          <Avatar name={held[0]!.user_display_name ?? '?'} size={26} />
          <span>
            <PersonName id={id} name={held[0]!.user_display_name ?? '?'} />
            <br />
            <span className="secondary">{held.map(({ role }) => roleOf(role)).join(', ')}</span>
          </span>
        </div>
      ))}
    </section>
  );
}
