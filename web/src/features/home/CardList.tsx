import { Link } from '@tanstack/react-router';
import { TypeMark } from '../../kit/marks.tsx';
import styles from './home.module.css';

/** A card as lists of the start page have it. */
export interface ListedCard {
  id: string;
  name?: string;
  type?: string;
  card_id?: string;
  card_name?: string;
  card_type?: string;
}

/** Cards by name; nothing without cards. */
export function CardList({ title, cards = [] }: { title: string; cards?: ListedCard[] }) {
  if (cards.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <div className={styles.panel}>
        {cards.map(({ id, name, type, card_id, card_name, card_type }) => (
          <Link key={id} to="/cards/$id" params={{ id: card_id ?? id }} className={styles.row}>
            <TypeMark type={(card_type ?? type)!} />
            <span className={styles.name}>{card_name ?? name}</span>
          </Link>
        ))}
      </div>
    </section>
  );
}
