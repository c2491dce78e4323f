import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { none } from '../../kit/FieldValue.tsx';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { Avatar, TagMark, TypeMark } from '../../kit/marks.tsx';
import { peopleQuery } from '../../kit/people.ts';
import styles from './table.module.css';
import type { CardListItem, Related } from './types.ts';

/** The name, as the link to the card. */
export function NameCell({ card }: { card: CardListItem }) {
  return (
    <span className={styles.name}>
      <TypeMark type={card.type} />
      <Link to="/cards/$id" params={{ id: card.id }} className={styles.nameLink} tabIndex={-1}>
        {card.name}
      </Link>
      {card.approval_status === 'APPROVED' && (
        <span className={styles.approved}>
          <Icon name="verified" size={14} />
        </span>
      )}
    </span>
  );
}

/** The ancestors, the root first. */
export function PathCell({ card }: { card: CardListItem }) {
  if (!card.path?.length) return none;
  const names = card.path.map(({ name }) => name);
  return (
    <span className={styles.clipped} title={names.join(' / ')}>
      {names.join(' / ')}
    </span>
  );
}

export function TagsCell({ card }: { card: CardListItem }) {
  if (card.tags.length === 0) return none;
  return (
    <span className={styles.several}>
      {card.tags.map((tag) => (
        <TagMark key={tag.id} name={tag.name} color={tag.color} />
      ))}
    </span>
  );
}

const PEOPLE_SHOWN = 3;

interface PeopleCellProps {
  people: CardListItem['stakeholders'];
  withNames?: boolean;
}

export function PeopleCell({ people, withNames }: PeopleCellProps) {
  const byId = new Map(people.map((one) => [one.user_id, one.user_display_name ?? '?']));
  if (byId.size === 0) return none;
  const [first] = byId.values();
  return (
    <span className={styles.several}>
      {[...byId].slice(0, PEOPLE_SHOWN).map(([id, name]) => (
        <Avatar key={id} name={name} size={20} />
      ))}
      {withNames && byId.size === 1 && <span className={styles.clipped}>{first}</span>}
      {byId.size > PEOPLE_SHOWN && <span className="secondary">+{byId.size - PEOPLE_SHOWN}</span>}
    </span>
  );
}

/** Names of related cards; the whole list is the tooltip. */
export function RelatedCell({ related }: { related: Related[] | undefined }) {
  if (!related) return <span className={styles.ghost} />;
  if (related.length === 0) return none;
  return (
    <span className={styles.clipped} title={related.map(({ name }) => name).join('\n')}>
      {related.map(({ name }) => name).join(', ')}
    </span>
  );
}

export function Quality({ value }: { value: number }) {
  const { percent } = useFormat();
  return percent(value);
}

export function Instant({ at }: { at: string | null }) {
  const { ago, time } = useFormat();
  return at ? <span title={time(at)}>{ago(at)}</span> : none;
}

/** The name of a person by id. */
export function PersonName({ id }: { id: string | null }) {
  const { data: people } = useQuery({ ...peopleQuery, enabled: id !== null });
  if (!id) return none;
  return people?.get(id) ?? <span className={styles.ghost} />;
}
