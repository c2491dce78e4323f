import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { ApprovalMark, ToneMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import type { ListedCard } from './CardList.tsx';
import styles from './home.module.css';

interface List<T> {
  items: T[];
  total?: number;
}

interface Todo {
  id: string;
  description: string;
  card_id: string | null;
  card_name: string | null;
  due_date: string | null;
}

interface Survey {
  survey_id: string;
  survey_name: string;
  pending_count: number;
}

interface Conflict {
  id: string;
  card_id: string;
  card_name: string;
}

interface Pair {
  id: string;
  left_id: string;
  left_name: string;
  right_id: string;
  right_name: string;
}

/** What `GET /home` returns, with the members of its items that the page shows. */
export interface Home {
  todos?: List<Todo> | null;
  surveys?: List<Survey> | null;
  approvals?: List<ListedCard> | null;
  conflicts?: List<Conflict> | null;
  duplicates?: List<Pair> | null;
  changes?: List<unknown> | null;
  recent?: List<ListedCard> | null;
  favorites?: List<ListedCard> | null;
}

const totalOf = (list: List<unknown> | null | undefined) => list?.total ?? list?.items.length ?? 0;

/** How many things wait for the person. */
export const countWaiting = ({ todos, surveys, approvals, conflicts, duplicates }: Home): number =>
  [todos, surveys, approvals, conflicts, duplicates].reduce((sum, list) => sum + totalOf(list), 0);

/** To-dos, surveys, broken approvals, conflicts and duplicates, each with the way to it. */
export function Waiting({ home }: { home: Home }) {
  const t = useTexts();
  const { date } = useFormat();
  if (countWaiting(home) === 0) return null;
  const today = new Date().toISOString().slice(0, 10);
  return (
    <section>
      <h2>{t('home.todos')}</h2>
      <div className={styles.panel}>
        {home.todos?.items.map(({ id, description, card_id, card_name, due_date }) => (
          <Row key={id} icon="check_circle" card={card_id} note={card_name}>
            {description}
            {due_date && (
              <ToneMark tone={due_date < today ? 'bad' : 'neutral'}>
                {t(due_date < today ? 'home.overdue' : 'home.due', { date: date(due_date) })}
              </ToneMark>
            )}
          </Row>
        ))}
        {home.surveys?.items.map(({ survey_id, survey_name, pending_count }) => (
          <Row key={survey_id} icon="quiz" note={t('home.toAnswer', { count: pending_count })}>
            {survey_name}
          </Row>
        ))}
        {home.approvals?.items.map(({ id, name }) => (
          <Row key={id} icon="link_off" card={id}>
            {name} <ApprovalMark status="BROKEN" />
          </Row>
        ))}
        {home.conflicts?.items.map(({ id, card_id, card_name }) => (
          <Row key={id} icon="sync_problem" card={card_id} note={t('home.conflict')}>
            {card_name}
          </Row>
        ))}
        {home.duplicates?.items.map(({ id, left_id, left_name, right_name }) => (
          <Row key={id} icon="content_copy" card={left_id} note={t('home.duplicate')}>
            {left_name} · {right_name}
          </Row>
        ))}
      </div>
    </section>
  );
}

interface RowProps {
  icon: string;
  /** The card that the row leads to. */
  card?: string | null;
  note?: string | null;
  children: ReactNode;
}

function Row({ icon, card, note, children }: RowProps) {
  const content = (
    <>
      <Icon name={icon} size={18} />
      <span className={styles.what}>{children}</span>
      {note && <span className={styles.aside}>{note}</span>}
    </>
  );
  if (!card) return <div className={styles.row}>{content}</div>;
  return (
    <Link to="/cards/$id" params={{ id: card }} className={styles.row}>
      {content}
    </Link>
  );
}
