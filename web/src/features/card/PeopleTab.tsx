import { ActionIcon, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { addStakeholder, answer, type Card, changeStakeholder, removeStakeholder } from '#client';
import { PersonFinder } from '../../kit/finders.tsx';
import { Icon } from '../../kit/Icon.tsx';
import { Avatar } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { PersonName } from '../../kit/PersonName.tsx';
import { useReason } from '../../kit/reasons.ts';
import { useCard } from './context.tsx';
import styles from './tabs.module.css';

interface Role {
  key: string;
  label: string;
}

type Held = NonNullable<Card['stakeholders']>[number];

/** The roles of the card's type; roles that somebody still holds are shown though they no longer exist. */
export function useRoles(): { roles: Role[]; roleOf(key: string): string } {
  const { card } = useCard();
  const { type: typeOf, label } = useMetamodel();
  const own = (typeOf(card.type)?.stakeholder_roles ?? []) as Role[];
  const held = (card.stakeholders ?? [])
    .map(({ role }) => role)
    .filter((role, at, all) => all.indexOf(role) === at && !own.some(({ key }) => key === role));
  const roles = [...own, ...held.map((key) => ({ key, label: key }))];
  return {
    roles,
    roleOf: (key) => label(roles.find((role) => role.key === key) ?? { label: key }),
  };
}

/** Who is responsible for the card, by role. */
export function PeopleTab() {
  const { card } = useCard();
  const { roles } = useRoles();
  return (
    <div className={styles.narrow}>
      {roles.map((role) => (
        <RoleGroup
          key={role.key}
          role={role}
          held={(card.stakeholders ?? []).filter((one) => one.role === role.key)}
        />
      ))}
    </div>
  );
}

function RoleGroup({ role, held }: { role: Role; held: Held[] }) {
  const t = useTexts();
  const reasonOf = useReason();
  const { card, can, act } = useCard();
  const { roles, roleOf } = useRoles();
  const navigate = useNavigate({ from: '/cards/$id' });
  const isOpen = useSearch({ from: '/app/cards/$id' }).add === role.key;
  const setOpen = (open: boolean) =>
    void navigate({
      search: ({ add: _, ...before }) => ({ ...before, ...(open && { add: role.key }) }),
      replace: true,
    });
  const run = async (done: string, write: () => Promise<Headers>) => {
    try {
      await act(done, write);
    } catch (failed) {
      notifications.show({ color: 'red', message: reasonOf(failed) });
    }
  };
  const name = roleOf(role.key);
  return (
    <section className={styles.box} aria-label={name}>
      <h2 className={styles.heading}>
        {name} <span className="secondary">{held.length}</span>
        {can('manage_stakeholders') && (
          <ActionIcon
            size="sm"
            className={styles.right}
            aria-label={t('people.addTo', { role: name })}
            onClick={() => setOpen(true)}
          >
            <Icon name="person_add" />
          </ActionIcon>
        )}
      </h2>
      {held.length === 0 && !isOpen && <p className="muted">{t('people.nobody')}</p>}
      <ul className={styles.list}>
        {held.map(({ id, user_id, user_display_name, user_email }) => (
          <li key={id} className={styles.item}>
            <Avatar name={user_display_name ?? '?'} size={28} />
            <div className={styles.itemText}>
              <PersonName id={user_id} name={user_display_name ?? '?'} />
              <span className="secondary">{user_email}</span>
            </div>
            {can('manage_stakeholders') && (
              <Menu position="bottom-end">
                <Menu.Target>
                  <button
                    type="button"
                    className={styles.iconButton}
                    aria-label={t('people.more', { name: user_display_name, role: name })}
                  >
                    <Icon name="more_horiz" />
                  </button>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Label>{t('people.changeTo')}</Menu.Label>
                  {roles
                    .filter(({ key }) => key !== role.key)
                    .map(({ key }) => (
                      <Menu.Item
                        key={key}
                        onClick={() =>
                          void run(t('people.changed', { name: user_display_name }), async () => {
                            const body = { user_id, role: key };
                            return (await answer(changeStakeholder({ path: { id }, body }))).headers;
                          })
                        }
                      >
                        {roleOf(key)}
                      </Menu.Item>
                    ))}
                  <Menu.Divider />
                  <Menu.Item
                    color="red"
                    leftSection={<Icon name="delete" />}
                    onClick={() =>
                      void run(
                        t('people.removed', { name: user_display_name }),
                        async () => (await answer(removeStakeholder({ path: { id } }))).headers,
                      )
                    }
                  >
                    {t('action.remove')}
                  </Menu.Item>
                </Menu.Dropdown>
              </Menu>
            )}
          </li>
        ))}
      </ul>
      {isOpen && (
        <PersonFinder
          autoFocus
          label={t('people.find')}
          placeholder={t('people.find')}
          except={new Set(held.map(({ user_id }) => user_id))}
          onPick={(person) => {
            setOpen(false);
            void run(t('people.added', { name: person.display_name }), async () => {
              const body = { user_id: person.id, role: role.key };
              return (await answer(addStakeholder({ path: { id: card.id }, body }))).headers;
            });
          }}
          onCancel={() => setOpen(false)}
        />
      )}
    </section>
  );
}
