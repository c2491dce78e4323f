import { ActionIcon, RangeSlider, Slider } from '@mantine/core';
import { useState } from 'react';
import type { Chart } from '../../../../reports/kernel/charts/charts.types.ts';
import { cardsOf } from '../../kit/chartTable.ts';
import { useFormat } from '../../kit/format.ts';
import { useOldestDay } from '../../kit/history.ts';
import { Icon } from '../../kit/Icon.tsx';
import { today } from '../../kit/lifecycle.ts';
import { ToneMark } from '../../kit/marks.tsx';
import { type Translate, useTexts } from '../../kit/messages.tsx';
import type { Params } from '../../kit/reports.ts';
import styles from './reports.module.css';

/** Days before today that the slider reaches; its values count from there. */
const DAYS = 728;
const DAY = 86_400_000;
/** A longer history is shown by weeks. */
const MOST_SINGLE = 182;

const dayAt = (value: number) => new Date(Date.now() - (DAYS - value) * DAY).toISOString().slice(0, 10);
const placeOf = (day: string) => DAYS - Math.round((Date.parse(today()) - Date.parse(day)) / DAY);

/** The values of the slider: from the oldest day with a history until today. */
function rangeOf(oldest: string | undefined): { min: number; step: number } {
  const days = DAYS - Math.max(0, oldest === undefined ? 0 : placeOf(oldest));
  const step = days > MOST_SINGLE ? 7 : 1;
  return { min: DAYS - Math.floor(days / step) * step, step };
}

interface TimeBarProps {
  asOf: string | undefined;
  compare: string | undefined;
  before: Chart | undefined;
  now: Chart | undefined;
  onChange(change: Params): void;
}

/** Below a report: the day that it shows, and the day with which it is compared. */
export function TimeBar({ asOf, compare, before, now, onChange }: TimeBarProps) {
  const t = useTexts();
  const { date } = useFormat();
  const { min, step } = rangeOf(useOldestDay());
  const end = asOf === undefined ? DAYS : placeOf(asOf);
  const start = compare === undefined ? min : placeOf(compare);
  const [dragged, setDragged] = useState<[number, number]>();
  const [from, to] = dragged ?? [start, end];
  const asOfAt = (value: number) => (value >= DAYS ? undefined : dayAt(value));
  const nameAt = (value: number) => (value >= DAYS ? t('asOf.today') : date(dayAt(value)));
  const settle = (value: number, other?: number) => {
    setDragged(undefined);
    onChange({ as_of: asOfAt(other ?? value), compare: other === undefined ? undefined : dayAt(value) });
  };
  const changes = before && now ? differencesOf(before, now, t) : undefined;
  const markAt = (share: number) => min + Math.round((share * (DAYS - min)) / step) * step;
  const marks = [...new Set([0, 0.25, 0.5, 0.75].map(markAt))].map((value) => ({
    value,
    label: date(dayAt(value)),
  }));
  const range = {
    min,
    max: DAYS,
    step,
    size: 'sm',
    label: nameAt,
    marks,
    className: styles.slider!,
  } as const;
  return (
    <div className={styles.time}>
      <strong className={styles.days}>
        {compare === undefined ? nameAt(to) : t('reports.fromTo', { from: nameAt(from), to: nameAt(to) })}
      </strong>
      {min === DAYS && <span className="secondary">{t('reports.noPast')}</span>}
      {min < DAYS && compare === undefined && (
        <Slider
          {...range}
          value={to}
          thumbLabel={t('asOf.label')}
          onChange={(value) => setDragged([start, value])}
          onChangeEnd={(value) => settle(value)}
        />
      )}
      {min < DAYS && compare !== undefined && (
        <RangeSlider
          {...range}
          minRange={step}
          value={[from, to]}
          thumbFromLabel={t('reports.compareWith')}
          thumbToLabel={t('asOf.label')}
          onChange={setDragged}
          onChangeEnd={([first, last]) => settle(first, last)}
        />
      )}
      {changes && (
        <>
          <ToneMark tone="info">{t('reports.changed', { count: changes.changed })}</ToneMark>
          <ToneMark tone="ok">{t('reports.added', { count: changes.added })}</ToneMark>
          <ToneMark tone="neutral">{t('reports.gone', { count: changes.gone })}</ToneMark>
        </>
      )}
      <ActionIcon
        aria-label={t('action.close')}
        onClick={() => onChange({ as_of: undefined, compare: undefined, time: undefined })}
      >
        <Icon name="close" />
      </ActionIcon>
    </div>
  );
}

/** How many cards of a report changed, came and went. */
function differencesOf(before: Chart, now: Chart, t: Translate) {
  const [old, present] = [cardsOf(before, t), cardsOf(now, t)];
  const both = [...present].filter(([id]) => old.has(id));
  return {
    changed: both.filter(([id, cells]) => old.get(id) !== cells).length,
    added: present.size - both.length,
    gone: old.size - both.length,
  };
}
