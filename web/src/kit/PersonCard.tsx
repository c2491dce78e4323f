import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isAllowed, useMe } from '../shell/queries.ts';
import { Avatar, ToneMark } from './marks.tsx';
import { useTexts } from './messages.tsx';
import { PersonCards } from './PersonCards.tsx';
import { personQuery, rolesQuery } from './people.ts';
import styles from './person.module.css';

/** Cards that the popover names. */
const NAMED = 6;

interface PersonProps {
  id: string;
  name: string;
}

/** Who a person is: name, role in the workspace and mail address. */
export function PersonHead({ id, name }: PersonProps) {
  const t = useTexts();
  const { data: person } = useQuery(personQuery(id));
  const { data: roles } = useQuery(rolesQuery);
  const role = roles?.items.find(({ key }) => key === person?.role);
  return (
    <header className={styles.head}>
      <Avatar name={name} size={36} />
      <span className={styles.who}>
        <strong>{name}</strong>
        <span className="secondary">
          {role?.label ?? '\u00a0'}
          {person?.is_active === false && <ToneMark tone="neutral">{t('person.inactive')}</ToneMark>}
        </span>
        {person?.email && (
          <a href={`mailto:${person.email}`} className={styles.mail}>
            {person.email}
          </a>
        )}
      </span>
    </header>
  );
}

/** A person in short, with the way to all of their cards. */
export function PersonCard({ id, name, onLeave }: PersonProps & { onLeave(): void }) {
  const t = useTexts();
  const { permissions } = useMe();
  return (
    <div className={styles.card}>
      <PersonHead id={id} name={name} />
      {isAllowed(permissions, 'stakeholders.view') && (
        <>
          <div className={styles.cards}>
            <PersonCards id={id} pageSize={NAMED} hasMore={false} />
          </div>
          <Link to="/" search={{ tab: 'people', person: id }} className={styles.all} onClick={onLeave}>
            {t('person.allCards')}
          </Link>
        </>
      )}
    </div>
  );
}
