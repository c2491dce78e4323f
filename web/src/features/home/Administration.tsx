import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type AdminDashboard, call, readAdminDashboard } from '#client';
import { Failure } from '../../kit/Failure.tsx';
import { useFormat } from '../../kit/format.ts';
import { Avatar, TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { PersonName } from '../../kit/PersonName.tsx';
import type { InventorySearch } from '../inventory/inventory.search.ts';
import styles from './home.module.css';

/** Entries of each list. */
const LENGTH = 8;

/** What an administrator sees to: people who do not come, cards that nobody answers for, to-dos and approvals that wait. */
export function Administration() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['home', 'administration'],
    // without `Prefer: respond-async` no job is started
    queryFn: async ({ signal }) =>
      (await call(readAdminDashboard({ signal, query: { top: LENGTH } }))) as AdminDashboard,
  });
  if (error) return <Failure error={error} onRetry={refetch} />;
  return (
    <div aria-busy={isPending}>
      {data && (
        <>
          <Tiles figures={data.kpis} />
          <div className={styles.columns}>
            <div className={styles.column}>
              <Overdue todos={data.oldest_overdue_todos} />
              <Coverage types={data.stakeholder_coverage} />
              <Pipeline types={data.approval_pipeline} />
            </div>
            <div className={styles.column}>
              <Contributors people={data.top_contributors} />
              <Idle people={data.idle_users} />
            </div>
          </div>
        </>
      )}
    </div>
  );
}

/** Cards that nobody answers for. */
const nobody: InventorySearch = { filter: 'stakeholder is empty' };

function Tiles({ figures }: { figures: AdminDashboard['kpis'] }) {
  const t = useTexts();
  const { number } = useFormat();
  const tiles: { title: string; value: number; note: string; search?: InventorySearch }[] = [
    {
      title: t('admin.active'),
      value: figures.active_users_30d,
      note: t('home.of', { total: number(figures.total_users) }),
    },
    {
      title: t('admin.nobody'),
      value: figures.cards_without_stakeholders,
      note: t('admin.nobodyHelp'),
      search: nobody,
    },
    {
      title: t('admin.overdue'),
      value: figures.overdue_todos_total,
      note: t('admin.unassigned', { count: figures.unassigned_todo_count }),
    },
    {
      title: t('approval.broken'),
      value: figures.broken_total,
      note: t('home.sinceApproval'),
      search: { where: { approval_status: ['BROKEN'] } },
    },
    { title: t('admin.stuck'), value: figures.stuck_approvals, note: t('admin.stuckHelp') },
    { title: t('admin.invited'), value: figures.pending_sso_invitations, note: t('admin.invitedHelp') },
  ];
  return (
    <div className={styles.figures}>
      {tiles.map(({ title, value, note, search }) => {
        const content = (
          <>
            <span className="secondary">{title}</span>
            <strong>{number(value)}</strong>
            <span className={styles.note}>{note}</span>
          </>
        );
        return search ? (
          <Link key={title} to="/inventory" search={search} className={styles.figure}>
            {content}
          </Link>
        ) : (
          <div key={title} className={styles.figure}>
            {content}
          </div>
        );
      })}
    </div>
  );
}

interface ListProps {
  title: string;
  isEmpty: boolean;
  empty: string;
  children: ReactNode;
}

function List({ title, isEmpty, empty, children }: ListProps) {
  return (
    <section>
      <h2>{title}</h2>
      <div className={styles.panel}>{isEmpty ? <p className={styles.none}>{empty}</p> : children}</div>
    </section>
  );
}

function Overdue({ todos }: { todos: AdminDashboard['oldest_overdue_todos'] }) {
  const t = useTexts();
  const { date } = useFormat();
  return (
    <List title={t('admin.oldest')} isEmpty={todos.length === 0} empty={t('admin.noneOverdue')}>
      {todos.slice(0, LENGTH).map(({ id, description, due_date, card_id, card_name, assignee_name }) => (
        <div key={id} className={styles.row}>
          <span className={styles.what}>{description}</span>
          {card_id && (
            <Link to="/cards/$id" params={{ id: card_id }} search={{ tab: 'todos' }} className={styles.link}>
              {card_name}
            </Link>
          )}
          <span className={styles.aside}>{[assignee_name, date(due_date)].filter(Boolean).join(' · ')}</span>
        </div>
      ))}
    </List>
  );
}

function Coverage({ types }: { types: AdminDashboard['stakeholder_coverage'] }) {
  const t = useTexts();
  const { number } = useFormat();
  const { type: typeOf, plural } = useMetamodel();
  const shown = types.filter(({ total }) => total > 0).sort((a, b) => b.missing - a.missing);
  return (
    <List title={t('admin.coverage')} isEmpty={shown.length === 0} empty={t('admin.noCards')}>
      {shown.slice(0, LENGTH).map(({ type, total, with_stakeholders }) => {
        const known = typeOf(type);
        return (
          <Link key={type} to="/inventory" search={{ type, ...nobody }} className={styles.type}>
            <TypeMark type={type} />
            <span>{known ? plural(known, total) : type}</span>
            <span className={styles.bar}>
              <i style={{ width: `${(100 * with_stakeholders) / total}%` }} />
            </span>
            <span className="numeric">
              {t('admin.part', { part: number(with_stakeholders), total: number(total) })}
            </span>
          </Link>
        );
      })}
    </List>
  );
}

/** The states of approval as the metamodel has them. */
const states = ['draft', 'approved', 'broken', 'rejected'] as const;

function Pipeline({ types }: { types: AdminDashboard['approval_pipeline'] }) {
  const t = useTexts();
  const { number } = useFormat();
  const { type: typeOf, plural } = useMetamodel();
  return (
    <List title={t('admin.pipeline')} isEmpty={types.length === 0} empty={t('admin.noCards')}>
      <div className={styles.scroll}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">{t('field.type')}</th>
              {states.map((state) => (
                <th key={state} scope="col">
                  {t(`approval.${state}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {types.map(({ type, ...counts }) => {
              const known = typeOf(type);
              return (
                <tr key={type}>
                  <th scope="row">{known ? plural(known, 2) : type}</th>
                  {states.map((state) => (
                    <td key={state}>
                      {counts[state] === 0 ? (
                        '–'
                      ) : (
                        <Link
                          to="/inventory"
                          search={{ type, where: { approval_status: [state.toUpperCase()] } }}
                          className={styles.link}
                        >
                          {number(counts[state])}
                        </Link>
                      )}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </List>
  );
}

function Contributors({ people }: { people: AdminDashboard['top_contributors'] }) {
  const t = useTexts();
  const { number } = useFormat();
  return (
    <List title={t('admin.contributors')} isEmpty={people.length === 0} empty={t('home.nothingChanged')}>
      {people.slice(0, LENGTH).map(({ user_id, display_name, count }) => (
        <div key={user_id} className={styles.row}>
          <Avatar name={display_name} />
          <span className={styles.what}>
            <PersonName id={user_id} name={display_name} />
          </span>
          <span className="numeric">{number(count)}</span>
        </div>
      ))}
    </List>
  );
}

function Idle({ people }: { people: AdminDashboard['idle_users'] }) {
  const t = useTexts();
  const { date } = useFormat();
  return (
    <List title={t('admin.idle')} isEmpty={people.length === 0} empty={t('admin.noneIdle')}>
      {people.slice(0, LENGTH).map(({ id, display_name, last_login }) => (
        <div key={id} className={styles.row}>
          <Avatar name={display_name} />
          <span className={styles.what}>
            <PersonName id={id} name={display_name} />
          </span>
          <span className={styles.aside}>{last_login ? date(last_login) : t('admin.never')}</span>
        </div>
      ))}
    </List>
  );
}
