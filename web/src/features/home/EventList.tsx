import { Link } from '@tanstack/react-router';
import { Changes, type ShownEvent } from '../../kit/Changes.tsx';
import { Avatar, TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import styles from './home.module.css';

export type ShownActivity = ShownEvent & {
  id: string;
  card_id: string | null;
  card_name: string | null;
  /** The job that wrote it. */
  job_id?: string | null;
  data: { type?: string; changes?: object } | null;
};

/** Cards named in one entry. */
const NAMED = 6;
/** Changes of one card in one entry. */
const LISTED = 3;

const isUpdate = ({ event_type }: ShownActivity) => event_type === 'card.updated';

/** Which tag or person an event names: entries are of one. */
const namedBy = ({ event_type, data }: ShownActivity): string =>
  /^(tag|stakeholder)\./.test(event_type) ? JSON.stringify(data?.changes) : '';

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
          .map((entry) => {
            const [event] = entry;
            const cards = [...new Map(entry.map((one) => [one.card_id, one])).values()];
            return (
              <div key={event.id} className={styles.event}>
                <Avatar name={event.user_display_name ?? t('activity.service')} />
                <div className={styles.change}>
                  <div className={styles.cards}>
                    {cards.slice(0, NAMED).map((one) => (
                      <CardName key={one.id} event={one} />
                    ))}
                    {cards.length > NAMED && (
                      <span className="secondary">{t('home.more', { count: cards.length - NAMED })}</span>
                    )}
                  </div>
                  {shownOf(entry).map((one) => (
                    <Changes key={one.id} event={one} typeKey={one.data?.type ?? ''} />
                  ))}
                </div>
              </div>
            );
          })}
        {events.length === 0 && <p className={styles.none}>{empty ?? '\u00a0'}</p>}
      </div>
    </section>
  );
}

/** The events of an entry whose values are shown; what a job did to several cards is named only. */
function shownOf(entry: [ShownActivity, ...ShownActivity[]]): ShownActivity[] {
  const [event] = entry;
  if (!isUpdate(event)) return [event];
  const isOne = entry.every(({ card_id }) => card_id === event.card_id);
  return isOne ? entry.slice(0, LISTED) : [{ ...event, data: { ...event.data, changes: {} } }];
}

function CardName({ event: { card_id, card_name, data } }: { event: ShownActivity }) {
  const { type } = useMetamodel();
  if (!card_id) return null;
  // events of relations name the type of the relation
  const known = type(data?.type ?? '');
  return (
    <Link to="/cards/$id" params={{ id: card_id }} className={styles.card}>
      {known && <TypeMark type={known.key} size={18} />} {card_name}
    </Link>
  );
}

/**
 * Successive events of the same kind by the same person as one entry; those with values to show, if of one card. All events of
 * a kind of one job are one entry, since a job writes several kinds in turn.
 */
function fold(events: ShownActivity[]): [ShownActivity, ...ShownActivity[]][] {
  const entries: [ShownActivity, ...ShownActivity[]][] = [];
  for (const event of events) {
    const ofJob =
      event.job_id &&
      entries.find(
        ([one]) =>
          one.job_id === event.job_id &&
          one.event_type === event.event_type &&
          namedBy(one) === namedBy(event),
      );
    if (ofJob) {
      ofJob.push(event);
      continue;
    }
    const last = entries.at(-1);
    const isSame =
      last &&
      (!isUpdate(event) || last[0].card_id === event.card_id) &&
      last[0].event_type === event.event_type &&
      namedBy(last[0]) === namedBy(event) &&
      last[0].user_display_name === event.user_display_name;
    if (isSame) last.push(event);
    else entries.push([event]);
  }
  return entries;
}
