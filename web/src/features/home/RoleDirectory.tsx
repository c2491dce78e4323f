import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call, readStakeholderDirectory, type StakeholderDirectory } from '#client';
import { Failure } from '../../kit/Failure.tsx';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { Avatar, TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import styles from './people.module.css';

interface RoleDirectoryProps {
  /** What is searched for. */
  text: string;
  person: string | undefined;
}

/** Who holds which role, by type of card; a search opens what it finds. */
export function RoleDirectory({ text, person }: RoleDirectoryProps) {
  const t = useTexts();
  const { number } = useFormat();
  const { type: typeOf, label } = useMetamodel();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['home', 'directory'],
    queryFn: async ({ signal }) =>
      (await call(readStakeholderDirectory({ signal, query: { cards: 1 } }))) as StakeholderDirectory,
  });
  if (error) return <Failure error={error} onRetry={refetch} />;
  const words = text.toLowerCase();
  const types = (data?.card_types ?? []).flatMap(({ roles, ...type }) => {
    const found = roles.flatMap(({ users, ...role }) => {
      const own = users.filter(({ display_name, email }) =>
        `${display_name} ${email}`.toLowerCase().includes(words),
      );
      return own.length > 0 ? [{ ...role, users: own }] : [];
    });
    return found.length > 0 ? [{ ...type, roles: found }] : [];
  });
  return (
    <div className={styles.panel} aria-busy={isPending}>
      {data && types.length === 0 && (
        <p className={styles.none}>{t(words ? 'picker.none' : 'people.nobodyYet')}</p>
      )}
      {types.map(({ type_key, type_label, holders_count, roles }) => {
        const type = typeOf(type_key);
        return (
          <details key={`${type_key} ${words !== ''}`} className={styles.group} open={words !== ''}>
            <summary>
              <Icon name="chevron_right" />
              <TypeMark type={type_key} />
              <span>{type ? label(type) : type_label}</span>
              <span className={styles.count}>{number(holders_count)}</span>
            </summary>
            {roles.map(({ role_key, role_label, role_translations, users }) => (
              <section key={role_key}>
                <h3 className={styles.role}>
                  {label({ label: role_label, translations: role_translations } as never)}
                </h3>
                {users.map(({ user_id, display_name, card_count }) => (
                  <Link
                    key={user_id}
                    to="/"
                    search={(before) => ({ ...before, tab: 'people' as const, person: user_id })}
                    className={styles.person}
                    aria-current={user_id === person}
                    replace
                  >
                    <Avatar name={display_name} size={22} />
                    <span className={styles.who}>{display_name}</span>
                    <span className={styles.count}>{t('people.cards', { count: card_count })}</span>
                  </Link>
                ))}
              </section>
            ))}
          </details>
        );
      })}
    </div>
  );
}
