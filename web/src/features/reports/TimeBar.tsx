import { ActionIcon, RangeSlider, Slider } from '@mantine/core';
import { useState } from 'react';
import type { Chart } from '../../../../reports/kernel/charts/charts.types.ts';
import { cardsOf } from '../../kit/chartTable.ts';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { today } from '../../kit/lifecycle.ts';
import { ToneMark } from '../../kit/marks.tsx';
import { type Translate, useTexts } from '../../kit/messages.tsx';
import type { Params } from '../../kit/reports.ts';
import styles from './reports.module.css';

/** Weeks before today that the slider reaches. */
const WEEKS = 104;
const WEEK = 7 * 86_400_000;

const dayAt = (week: number) => new Date(Date.now() - (WEEKS - week) * WEEK).toISOString().slice(0, 10);
const weekOf = (day: string) => WEEKS - Math.round((Date.parse(today()) - Date.parse(day)) / WEEK);

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
  const end = asOf === undefined ? WEEKS : weekOf(asOf);
  const start = compare === undefined ? 0 : weekOf(compare);
  const [dragged, setDragged] = useState<[number, number]>();
  const [from, to] = dragged ?? [start, end];
  const asOfAt = (week: number) => (week >= WEEKS ? undefined : dayAt(week));
  const nameAt = (week: number) => (week >= WEEKS ? t('asOf.today') : date(dayAt(week)));
  const settle = (week: number, other?: number) => {
    setDragged(undefined);
    onChange({ as_of: asOfAt(other ?? week), compare: other === undefined ? undefined : dayAt(week) });
  };
  const changes = before && now ? differencesOf(before, now, t) : undefined;
  const marks = [0, 26, 52, 78].map((value) => ({ value, label: date(dayAt(value)) }));
  return (
    <div className={styles.time}>
      <strong className={styles.days}>
        {compare === undefined ? nameAt(to) : t('reports.fromTo', { from: nameAt(from), to: nameAt(to) })}
      </strong>
      {compare === undefined ? (
        <Slider
          className={styles.slider!}
          size="sm"
          max={WEEKS}
          value={to}
          label={nameAt}
          marks={marks}
          thumbLabel={t('asOf.label')}
          onChange={(week) => setDragged([start, week])}
          onChangeEnd={(week) => settle(week)}
        />
      ) : (
        <RangeSlider
          className={styles.slider!}
          size="sm"
          max={WEEKS}
          minRange={1}
          value={[from, to]}
          label={nameAt}
          marks={marks}
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
