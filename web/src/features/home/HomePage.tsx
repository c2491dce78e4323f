import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call, type Dashboard, listFavorites, listTodos, readDashboard } from '#client';
import { Changes, type ShownEvent } from '../../kit/Changes.tsx';
import { useFormat } from '../../kit/format.ts';
import { Avatar, TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { Page } from '../../kit/Page.tsx';
import { useMe } from '../../shell/queries.ts';
import type { InventorySearch } from '../inventory/inventory.search.ts';
import styles from './home.module.css';

/** What waits for the person, what changed, and the key figures of the workspace. */
export function HomePage() {
  const t = useTexts();
  const me = useMe();
  const { data: todos } = useQuery({
    queryKey: ['home', 'todos'],
    queryFn: ({ signal }) =>
      call(listTodos({ signal, query: { page_size: 8, mine: true, status: 'open' } as never })),
  });
  const { data: favorites } = useQuery({
    queryKey: ['home', 'favorites'],
    queryFn: ({ signal }) => call(listFavorites({ signal })),
  });
  const hour = new Date().getHours();
  const greeting = hour < 12 ? 'home.morning' : hour < 18 ? 'home.day' : 'home.evening';
  const open = todos?.items ?? [];
  return (
    <Page title={<h1>{t('nav.home')}</h1>}>
      <div className={styles.page}>
        <p className={styles.greeting}>{t(greeting, { name: me.display_name.split(' ')[0] })}</p>
        <p className={styles.summary}>{t('home.waiting', { count: todos?.total ?? open.length })}</p>
        <Figures />
        <div className={styles.columns}>
          <div className={styles.column}>
            {open.length > 0 && (
              <section>
                <h2>{t('home.todos')}</h2>
                <div className={styles.panel}>
                  {open.map((todo) => (
                    <div key={todo.id} className={styles.row}>
                      <span>{todo.description}</span>
                      {todo.card_id && (
                        <Link to="/cards/$id" params={{ id: todo.card_id }} className={styles.link}>
                          {t('home.open')}
                        </Link>
                      )}
                    </div>
                  ))}
                </div>
              </section>
            )}
            <Activity />
          </div>
          <div className={styles.column}>
            <Types />
            {favorites && favorites.items.length > 0 && (
              <section>
                <h2>{t('home.favorites')}</h2>
                <div className={styles.panel}>
                  {favorites.items.map((card) => (
                    <Link key={card.id} to="/cards/$id" params={{ id: card.card_id! }} className={styles.row}>
                      <TypeMark type={card.card_type!} /> {card.card_name}
                    </Link>
                  ))}
                </div>
              </section>
            )}
          </div>
        </div>
      </div>
    </Page>
  );
}

const useDashboard = () =>
  useQuery({
    queryKey: ['home', 'dashboard'],
    // without `Prefer: respond-async` no job is started
    queryFn: async ({ signal }) => (await call(readDashboard({ signal }))) as Dashboard,
  }).data;

function Figures() {
  const t = useTexts();
  const { number, percent } = useFormat();
  const data = useDashboard();
  const approved = data?.approval_statuses.APPROVED ?? 0;
  const ending = data?.lifecycle_distribution.phaseOut ?? 0;
  const figures: { title: string; value: string | undefined; note: string; search: InventorySearch }[] = [
    {
      title: t('home.cards'),
      value: data && number(data.total_cards),
      note: t('home.inTypes', { count: Object.keys(data?.by_type ?? {}).length }),
      search: {},
    },
    {
      title: t('field.quality'),
      value: data && percent(data.avg_data_quality),
      note: t('home.mean'),
      search: { sort: 'data_quality' },
    },
    {
      title: t('approval.approved'),
      value: data && number(approved),
      note: t('home.of', { total: number(data?.total_cards ?? 0) }),
      search: { where: { approval_status: ['APPROVED'] } },
    },
    {
      title: t('approval.broken'),
      value: data && number(data.approval_statuses.BROKEN ?? 0),
      note: t('home.sinceApproval'),
      search: { where: { approval_status: ['BROKEN'] } },
    },
    {
      title: t('phase.phaseOut'),
      value: data && number(ending),
      note: t('home.today'),
      search: { where: { phase: ['phaseOut'] } },
    },
  ];
  return (
    <div className={styles.figures}>
      {figures.map(({ title, value, note, search }) => (
        <Link key={title} to="/inventory" search={search} className={styles.figure}>
          <span className="secondary">{title}</span>
          <strong>{value ?? '\u00a0'}</strong>
          <span className={styles.note}>{note}</span>
        </Link>
      ))}
    </div>
  );
}

/** The types with their numbers of cards, as a way into the inventory. */
function Types() {
  const t = useTexts();
  const { number } = useFormat();
  const { types, label } = useMetamodel();
  const counts = useDashboard()?.by_type ?? {};
  const most = Math.max(1, ...Object.values(counts));
  return (
    <section>
      <h2>{t('home.types')}</h2>
      <div className={styles.panel}>
        {types
          .filter(({ key }) => counts[key])
          .map((type) => (
            <Link key={type.key} to="/inventory" search={{ type: type.key }} className={styles.type}>
              <TypeMark type={type.key} />
              <span>{label(type)}</span>
              <span className={styles.bar}>
                <i style={{ width: `${(100 * counts[type.key]!) / most}%` }} />
              </span>
              <span className="numeric">{number(counts[type.key]!)}</span>
            </Link>
          ))}
      </div>
    </section>
  );
}

function Activity() {
  const t = useTexts();
  const data = useDashboard();
  const events = (data?.recent_events ?? []) as (ShownEvent & {
    id: string;
    card_id: string | null;
    card_name: string | null;
    data: { type?: string } | null;
  })[];
  return (
    <section>
      <h2>{t('home.changed')}</h2>
      <div className={styles.panel}>
        {events.slice(0, 10).map((event) => (
          <div key={event.id} className={styles.event}>
            <Avatar name={event.user_display_name ?? t('activity.service')} />
            <div className={styles.change}>
              {event.card_id && (
                <Link to="/cards/$id" params={{ id: event.card_id }} className={styles.card}>
                  {event.data?.type && <TypeMark type={event.data.type} size={18} />} {event.card_name}
                </Link>
              )}
              <Changes event={event} typeKey={event.data?.type ?? ''} />
            </div>
          </div>
        ))}
        {data && events.length === 0 && <p className={styles.none}>{t('home.nothingChanged')}</p>}
      </div>
    </section>
  );
}
