import { Link } from '@tanstack/react-router';
import { useFormat } from '../../kit/format.ts';
import { useTexts } from '../../kit/messages.tsx';
import type { InventorySearch } from '../inventory/inventory.search.ts';
import { useDashboard } from './Figures.tsx';
import styles from './home.module.css';

interface Part {
  label: string;
  count: number;
  /** A colour of the tokens; without one the part is hatched. */
  color?: string;
  search: InventorySearch;
}

/** How the cards are distributed: by phase of today, by data quality, by state of approval. */
export function Shares() {
  const t = useTexts();
  const { data } = useDashboard();
  if (!data) return null;
  const {
    lifecycle_distribution: phase,
    data_quality_distribution: quality,
    approval_statuses: approval,
  } = data;
  const inPhase = (key: keyof typeof phase, label: string): Part => ({
    label,
    count: phase[key],
    color: key === 'none' ? undefined : `var(--phase-${key})`,
    search: { where: { phase: [key === 'none' ? null : key] } },
  });
  const ofQuality = (key: keyof typeof quality, step: number): Part => {
    const [from, to] = key.split('-');
    const condition = `data_quality >= ${from}${to === '100' ? '' : ` and data_quality < ${to}`}`;
    return {
      label: t('home.band', { from, to }),
      count: quality[key],
      color: `var(--quality-${step})`,
      search: { filter: condition },
    };
  };
  const inState = (key: string, label: string, color: string): Part => ({
    label,
    count: approval[key] ?? 0,
    color,
    search: { where: { approval_status: [key] } },
  });
  return (
    <section>
      <h2>{t('home.landscape')}</h2>
      <div className={`${styles.panel} ${styles.shares}`}>
        <Share
          title={t('field.lifecycle')}
          parts={[
            inPhase('plan', t('phase.plan')),
            inPhase('phaseIn', t('phase.phaseIn')),
            inPhase('active', t('phase.active')),
            inPhase('phaseOut', t('phase.phaseOut')),
            inPhase('endOfLife', t('phase.endOfLife')),
            inPhase('none', t('phase.none')),
          ]}
        />
        <Share
          title={t('field.quality')}
          parts={[ofQuality('0-25', 1), ofQuality('25-50', 2), ofQuality('50-75', 3), ofQuality('75-100', 4)]}
        />
        <Share
          title={t('field.approval')}
          parts={[
            inState('APPROVED', t('approval.approved'), 'var(--ok)'),
            inState('BROKEN', t('approval.broken'), 'var(--warn)'),
            inState('REJECTED', t('approval.rejected'), 'var(--bad)'),
            inState('DRAFT', t('approval.draft'), 'var(--border)'),
          ]}
        />
      </div>
    </section>
  );
}

/** One bar of parts, each with a link to its cards. */
function Share({ title, parts }: { title: string; parts: Part[] }) {
  const { number } = useFormat();
  const shown = parts.filter(({ count }) => count > 0);
  const colourOf = (color?: string) => (color ? { background: color } : undefined);
  return (
    <div className={styles.share}>
      <h3>{title}</h3>
      <div className={styles.stack} aria-hidden="true">
        {shown.map(({ label, count, color }) => (
          <i key={label} style={{ flexGrow: count, ...colourOf(color) }} className={styles.gap} />
        ))}
      </div>
      <ul className={styles.legend}>
        {shown.map(({ label, count, color, search }) => (
          <li key={label}>
            <Link to="/inventory" search={search}>
              <i style={colourOf(color)} className={styles.gap} />
              {label} <span className="numeric">{number(count)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
