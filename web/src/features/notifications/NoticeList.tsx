import { Link } from '@tanstack/react-router';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { Avatar } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import styles from './notifications.module.css';
import { type Notice, useMarkRead } from './notifications.queries.ts';

/** Addresses that have a page; other notifications lead to their card, if they have one. */
const pages = /^\/(cards|todos|surveys|reports|import|me)(\/|\?|$)/;

const placeOf = ({ link, card_id }: Notice): string | undefined => {
  if (link && pages.test(link)) return link;
  return card_id ? `/cards/${card_id}` : undefined;
};

interface NoticeListProps {
  notices: readonly Notice[];
  /** One of them was chosen. */
  onChosen?(): void;
}

/** Notifications; each leads to what it is about, and is read then. */
export function NoticeList({ notices, onChosen }: NoticeListProps) {
  const t = useTexts();
  const format = useFormat();
  const markRead = useMarkRead();
  return (
    <ul className={styles.list}>
      {notices.map((notice) => {
        const { id, title, message, actor_name, is_read, created_at } = notice;
        const place = placeOf(notice);
        const [path, query] = place?.split('?') ?? [];
        const choose = () => {
          if (!is_read) markRead.mutate(id);
          if (place) onChosen?.();
        };
        const content = (
          <>
            {actor_name ? (
              <Avatar name={actor_name} size={26} />
            ) : (
              <span className={styles.service}>
                <Icon name="notifications" />
              </span>
            )}
            <span className={styles.text}>
              <strong>{title}</strong>
              {message && <span className={styles.message}>{message}</span>}
              <time className={styles.when} dateTime={created_at} title={format.time(created_at)}>
                {format.ago(created_at)}
              </time>
            </span>
            {!is_read && <span className={styles.dot} role="img" aria-label={t('bell.new')} />}
          </>
        );
        return (
          <li key={id} data-read={is_read}>
            {path ? (
              <Link
                to={path as '/'}
                search={Object.fromEntries(new URLSearchParams(query)) as never}
                className={styles.notice}
                onClick={choose}
              >
                {content}
              </Link>
            ) : (
              <button type="button" className={styles.notice} onClick={choose}>
                {content}
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
