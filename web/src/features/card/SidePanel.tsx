import { Progress } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { CardOverview } from '#client';
import { Changes } from '../../kit/Changes.tsx';
import { useFormat } from '../../kit/format.ts';
import { Avatar } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import styles from './card.module.css';
import { historyQuery } from './queries.ts';

/** Beside a card: its quality with what to fill, its people, and what happened. */
export function SidePanel({ overview }: { overview: CardOverview }) {
  const t = useTexts();
  const format = useFormat();
  const { card, quality } = overview;
  const { type: typeOf } = useMetamodel();
  const roles = (typeOf(card.type)?.stakeholder_roles ?? []) as { key: string; label: string }[];
  const roleOf = (key: string) => roles.find((role) => role.key === key)?.label ?? key;
  const people = Map.groupBy(card.stakeholders ?? [], ({ user_id }) => user_id);
  const { data: history } = useQuery(historyQuery(card.id));
  return (
    <aside className={styles.side}>
      <section>
        <h2>
          {t('field.quality')} <span className={styles.percent}>{format.percent(card.data_quality)}</span>
        </h2>
        <Progress value={card.data_quality} size="sm" aria-label={t('field.quality')} />
        <ul className={styles.gaps}>
          {quality?.gaps.slice(0, 5).map(({ kind, key, side, label, points }) => (
            <li key={`${kind} ${key} ${side}`}>
              {t('card.add', { field: label })}
              <span className={styles.points}>+{Math.round(points)}</span>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h2>{t('field.people')}</h2>
        {people.size === 0 && <p className="secondary">{t('card.noPeople')}</p>}
        {[...people].map(([id, held]) => (
          <div key={id} className={styles.person}>
            <Avatar name={held[0]!.user_display_name ?? '?'} size={26} />
            <span>
              {held[0]!.user_display_name}
              <br />
              <span className="secondary">{held.map(({ role }) => roleOf(role)).join(', ')}</span>
            </span>
          </div>
        ))}
      </section>
      <section>
        <h2>{t('card.activity')}</h2>
        {history?.items.map((event) => (
          <div key={event.id} className={styles.event}>
            <Avatar name={event.user_display_name ?? t('activity.service')} size={22} />
            <Changes event={event as never} typeKey={card.type} />
          </div>
        ))}
      </section>
    </aside>
  );
}
