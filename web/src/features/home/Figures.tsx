import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Dashboard } from '#client';
import { useFormat } from '../../kit/format.ts';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import type { InventorySearch } from '../inventory/inventory.search.ts';
import styles from './home.module.css';
import { dashboardQuery } from './home.queries.ts';

export const useDashboard = () => useQuery(dashboardQuery);

type Trend = Dashboard['trends']['total_cards'];

interface Figure {
  title: string;
  value: string | undefined;
  note: string;
  trend?: Trend;
  search: InventorySearch;
}

/** The workspace's key figures, with their change since a month ago; each leads to its cards. */
export function Figures() {
  const t = useTexts();
  const { number, percent } = useFormat();
  const { data } = useDashboard();
  const shown = (value: number | undefined, format = number) => data && format(value ?? 0);
  // nothing before there is a snapshot of a month ago
  const changeOf = ({ delta_abs }: Trend): string | undefined => {
    if (delta_abs === null) return undefined;
    if (delta_abs === 0) return t('home.steady');
    return t('home.since', { change: `${delta_abs > 0 ? '+' : ''}${number(delta_abs)}` });
  };
  const figures: Figure[] = [
    {
      title: t('home.cards'),
      value: shown(data?.total_cards),
      note: t('home.inTypes', {
        count: Object.values(data?.by_type ?? {}).filter((count) => count > 0).length,
      }),
      trend: data?.trends.total_cards,
      search: {},
    },
    {
      title: t('field.quality'),
      value: shown(data?.avg_data_quality, percent),
      note: t('home.mean'),
      trend: data?.trends.avg_data_quality,
      search: { sort: 'data_quality' },
    },
    {
      title: t('approval.approved'),
      value: shown(data?.approval_statuses.APPROVED),
      note: t('home.of', { total: number(data?.total_cards ?? 0) }),
      trend: data?.trends.approved_count,
      search: { where: { approval_status: ['APPROVED'] } },
    },
    {
      title: t('approval.broken'),
      value: shown(data?.approval_statuses.BROKEN),
      note: t('home.sinceApproval'),
      trend: data?.trends.broken_count,
      search: { where: { approval_status: ['BROKEN'] } },
    },
    {
      title: t('phase.phaseOut'),
      value: shown(data?.lifecycle_distribution.phaseOut),
      note: t('home.today'),
      search: { where: { phase: ['phaseOut'] } },
    },
  ];
  return (
    <div className={styles.figures}>
      {figures.map(({ title, value, note, trend, search }) => (
        <Link key={title} to="/inventory" search={search} className={styles.figure}>
          <span className="secondary">{title}</span>
          <strong>{value ?? '\u00a0'}</strong>
          <span className={styles.note}>{data ? ((trend && changeOf(trend)) ?? note) : '\u00a0'}</span>
        </Link>
      ))}
    </div>
  );
}

/** The types with their numbers of cards, as a way into the inventory. */
export function Types() {
  const t = useTexts();
  const { number } = useFormat();
  const { types, plural } = useMetamodel();
  const counts = useDashboard().data?.by_type ?? {};
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
              <span>{plural(type, counts[type.key])}</span>
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
