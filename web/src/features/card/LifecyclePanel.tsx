import { useDisclosure, useElementSize } from '@mantine/hooks';
import { useFormat } from '../../kit/format.ts';
import { type Lifecycle, phases, spans, today } from '../../kit/lifecycle.ts';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import styles from './card.module.css';
import { useCard } from './context.tsx';
import { EditableField } from './EditableField.tsx';
import { SourceMark, useSources } from './marks.tsx';

const YEAR = 365.25 * 86_400_000;
const HEIGHT = 64;
/** The width of a year's number. */
const TICK = 32;

/** The phases of the card as a time line, and their dates to edit. */
export function LifecyclePanel() {
  const t = useTexts();
  const { card, can } = useCard();
  const [isOpen, { toggle }] = useDisclosure(false);
  const sources = useSources();
  const lifecycle = (card.lifecycle ?? {}) as Lifecycle;
  const isEmpty = Object.keys(lifecycle).length === 0;
  if (isEmpty && !can('edit')) return null;
  return (
    <section className={styles.panel} aria-label={t('field.lifecycle')} id="field-lifecycle">
      <h2>
        {t('field.lifecycle')}
        {can('edit') && (
          <button
            type="button"
            className={styles.moreButton}
            aria-expanded={isOpen}
            onClick={toggle}
            data-fill={!isOpen || undefined}
          >
            {t(isOpen ? 'action.close' : isEmpty ? 'card.addDates' : 'card.editDates')}
          </button>
        )}
      </h2>
      {!isEmpty && <Timeline lifecycle={lifecycle} />}
      {isEmpty && !isOpen && <p className="secondary">{t('card.noLifecycle')}</p>}
      {isOpen && (
        <div className={styles.fields} data-columns={5}>
          {phases.map((phase) => (
            <EditableField
              key={phase}
              field={{ key: phase, type: 'date', label: t(`phase.${phase}` as MessageKey) }}
              path={`lifecycle.${phase}`}
              mark={<SourceMark source={sources.get(`lifecycle.${phase}`)} />}
            />
          ))}
        </div>
      )}
    </section>
  );
}

function Timeline({ lifecycle }: { lifecycle: Lifecycle }) {
  const t = useTexts();
  const format = useFormat();
  const { ref, width } = useElementSize();
  const all = spans(lifecycle);
  const times = [...all.map(({ from }) => Date.parse(from)), Date.parse(today())];
  const from = Math.min(...times) - YEAR / 2;
  const to = Math.max(...times) + YEAR;
  const x = (time: number) => ((time - from) / (to - from)) * width;
  const years = Math.ceil((to - from) / YEAR);
  const step = Math.max(1, Math.ceil(years / (Math.max(width, 320) / 80)));
  const first = new Date(from).getUTCFullYear() + 1;
  const ticks = Array.from({ length: Math.ceil(years / step) }, (_, at) => first + at * step).filter(
    (year) => x(Date.UTC(year)) >= TICK / 2 && x(Date.UTC(year)) <= width - TICK / 2,
  );
  const now = x(Date.parse(today()));
  const nameOf = (phase: string) => t(`phase.${phase}` as MessageKey);
  return (
    <>
      <p className="visually-hidden">
        {all.map(({ phase, from: begin }) => `${nameOf(phase)}: ${format.date(begin)}`).join('; ')}
      </p>
      <div ref={ref} className={styles.timeline} aria-hidden="true">
        <svg width={width} height={HEIGHT}>
          {ticks.map((year) => (
            <g key={year}>
              <line x1={x(Date.UTC(year))} x2={x(Date.UTC(year))} y1={14} y2={44} stroke="var(--hairline)" />
              <text x={x(Date.UTC(year))} y={58} textAnchor="middle" className={styles.tick}>
                {year}
              </text>
            </g>
          ))}
          {all.map(({ phase, from: begin, to: end }) => {
            const left = x(Date.parse(begin));
            const right = end ? x(Date.parse(end)) : width;
            const title = `${nameOf(phase)}: ${format.date(begin)}`;
            return phase === 'endOfLife' ? (
              <path key={phase} d={`M${left - 8} 29l8 -8l8 8l-8 8z`} fill="var(--phase-endOfLife)">
                <title>{title}</title>
              </path>
            ) : (
              <g key={phase}>
                <rect
                  x={left}
                  y={20}
                  width={Math.max(1, right - left)}
                  height={18}
                  rx={3}
                  fill={`var(--phase-${phase})`}
                  fillOpacity={phase === 'plan' ? 0.5 : 1}
                >
                  <title>{title}</title>
                </rect>
                {right - left > 130 && phase !== 'plan' && (
                  <text x={left + 8} y={33} className={styles.phase}>
                    {title}
                  </text>
                )}
              </g>
            );
          })}
          <line x1={now} x2={now} y1={14} y2={44} stroke="var(--text)" strokeWidth={1.5} />
          <text x={now} y={11} textAnchor="middle" className={styles.today}>
            {t('card.today')}
          </text>
        </svg>
      </div>
    </>
  );
}
