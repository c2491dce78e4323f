import { Link } from '@tanstack/react-router';
import { Changes, type ShownEvent } from '../../kit/Changes.tsx';
import { Avatar, TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import styles from './home.module.css';

export type ShownActivity = ShownEvent & {
  id: string;
  card_id: string | null;
  card_name: string | null;
  data: { type?: string } | null;
};

/** Cards named in one entry. */
const NAMED = 6;

interface EventListProps {
  title: string;
  events: ShownActivity[];
  /** Entries shown; successive events of one kind and person are one entry. */
  length: number;
  /** Shown instead of an empty list. */
  empty?: string;
}

/** What happened to cards, newest first. */
export function EventList({ title, events, length, empty }: EventListProps) {
  const t = useTexts();
  return (
    <section>
      <h2>{title}</h2>
      <div className={styles.panel}>
        {fold(events)
          .slice(0, length)
          .map(([event, ...more]) => (
            <div key={event.id} className={styles.event}>
              <Avatar name={event.user_display_name ?? t('activity.service')} />
              <div className={styles.change}>
                <div className={styles.cards}>
                  {[event, ...more].slice(0, NAMED).map((one) => (
                    <CardName key={one.id} event={one} />
                  ))}
                  {more.length >= NAMED && (
                    <span className="secondary">{t('home.more', { count: more.length + 1 - NAMED })}</span>
                  )}
                </div>
                <Changes event={event} typeKey={event.data?.type ?? ''} />
              </div>
            </div>
          ))}
        {events.length === 0 && <p className={styles.none}>{empty ?? '\u00a0'}</p>}
      </div>
    </section>
  );
}

function CardName({ event: { card_id, card_name, data } }: { event: ShownActivity }) {
  if (!card_id) return null;
  return (
    <Link to="/cards/$id" params={{ id: card_id }} className={styles.card}>
      {data?.type && <TypeMark type={data.type} size={18} />} {card_name}
    </Link>
  );
}

/** Successive events of the same kind by the same person, if they have no values to show, as one entry. */
function fold(events: ShownActivity[]): [ShownActivity, ...ShownActivity[]][] {
  const entries: [ShownActivity, ...ShownActivity[]][] = [];
  for (const event of events) {
    const last = entries.at(-1);
    const isSame =
      last &&
      event.event_type !== 'card.updated' &&
      last[0].event_type === event.event_type &&
      last[0].user_display_name === event.user_display_name;
    if (isSame) last.push(event);
    else entries.push([event]);
  }
  return entries;
}
