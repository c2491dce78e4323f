import { ActionIcon, Button, MultiSelect, TextInput } from '@mantine/core';
import { ControlSelect } from '../../kit/ControlSelect.tsx';
import { Icon } from '../../kit/Icon.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import type { InventoryQuery } from '../../kit/query.ts';
import { type FieldGroup, useQueryFields } from './fields.ts';
import styles from './query.module.css';

interface BuilderProps {
  query: InventoryQuery;
  onChange(query: InventoryQuery): void;
}

type Dimension = NonNullable<InventoryQuery['dimensions']>[number];
type Measure = NonNullable<InventoryQuery['measures']>[number];

const functions = ['count', 'sum', 'avg', 'min', 'max', 'distinct'] as const;
const buckets = ['year', 'quarter', 'month', 'day'] as const;
/** The most dimensions and measures of a query. */
const MOST = { dimensions: 8, measures: 20 };
const limits = [5, 10, 20, 50, 100];

/** A field that the lists lack, such as one over several relations, stands under its path. */
const withPath = (fields: readonly FieldGroup[], path: string | undefined): FieldGroup[] =>
  path === undefined || fields.some(({ items }) => items.some(({ value }) => value === path))
    ? [...fields]
    : [...fields, { group: '…', items: [{ value: path, label: path }] }];

/** A list with one place replaced, or left out without a value. */
const replaced = <T,>(list: readonly T[], at: number, value: T | undefined): T[] =>
  list.flatMap((one, index) => (index === at ? (value === undefined ? [] : [value]) : [one]));

/** What a query reads, groups by and measures. */
export function Builder({ query, onChange }: BuilderProps) {
  const t = useTexts();
  const { types, label } = useMetamodel();
  const { from = [], dimensions = [], measures = [], filter } = query;
  const { fields, dates } = useQueryFields(from);
  const set = (change: Partial<InventoryQuery>) => {
    const next = { ...query, ...change };
    // an order by a column that is gone would be refused
    if (change.dimensions || change.measures || change.from) next.sort = [];
    onChange(next);
  };
  return (
    <div className={styles.builder}>
      <div className={styles.row}>
        <span className={styles.label}>{t('query.from')}</span>
        <MultiSelect
          aria-label={t('query.from')}
          size="sm"
          w={280}
          searchable
          value={from}
          placeholder={from.length === 0 ? t('inventory.allTypes') : undefined}
          data={types
            .filter(({ is_hidden }) => !is_hidden)
            .map((one) => ({ value: one.key, label: label(one) }))}
          onChange={(next) => set({ from: next })}
        />
        <TextInput
          key={filter}
          aria-label={t('reports.filter')}
          placeholder={t('reports.filter')}
          leftSection={<Icon name="filter_alt" />}
          size="sm"
          w={320}
          defaultValue={filter ?? ''}
          onBlur={(event) =>
            event.target.value.trim() !== (filter ?? '') && set({ filter: event.target.value.trim() })
          }
          onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
        />
      </div>
      <div className={styles.row}>
        <span className={styles.label}>{t('query.by')}</span>
        {dimensions.map((dimension, at) => (
          <DimensionControl
            // biome-ignore lint/suspicious/noArrayIndexKey: two can be equal while they are chosen
            key={at}
            dimension={dimension}
            fields={fields}
            isDate={dates.has(dimension.field)}
            onChange={(next) => set({ dimensions: replaced(dimensions, at, next) })}
          />
        ))}
        {dimensions.length < MOST.dimensions && (
          <ControlSelect
            label={t('query.addGroup')}
            placeholder={t('query.choose')}
            value={null}
            data={fields}
            onChange={(field) => field && set({ dimensions: [...dimensions, { field }] })}
          />
        )}
      </div>
      <div className={styles.row}>
        <span className={styles.label}>{t('query.measure')}</span>
        {measures.map((measure, at) => (
          <MeasureControl
            // biome-ignore lint/suspicious/noArrayIndexKey: two can be equal while they are chosen
            key={at}
            measure={measure}
            fields={fields}
            isOnly={measures.length === 1}
            onChange={(next) => set({ measures: replaced(measures, at, next) })}
          />
        ))}
        {measures.length < MOST.measures && (
          <Button
            variant="subtle"
            leftSection={<Icon name="add" />}
            onClick={() => set({ measures: [...measures, { fn: 'sum', field: 'data_quality' }] })}
          >
            {t('query.addMeasure')}
          </Button>
        )}
      </div>
      {dimensions.length > 0 && (
        <div className={styles.row}>
          <span className={styles.label}>{t('query.shown')}</span>
          <LimitControl
            value={query.page_size}
            onChange={(size) => onChange({ ...query, page_size: size })}
          />
        </div>
      )}
    </div>
  );
}

interface LimitProps {
  value: number | undefined;
  onChange(limit: number | undefined): void;
}

/** How many of the first groups are shown. */
function LimitControl({ value, onChange }: LimitProps) {
  const t = useTexts();
  const known =
    value === undefined || limits.includes(value) ? limits : [...limits, value].sort((a, b) => a - b);
  return (
    <ControlSelect
      label={t('query.limit')}
      width={130}
      value={String(value ?? '')}
      data={[
        { value: '', label: t('query.all') },
        ...known.map((limit) => ({ value: String(limit), label: t('query.firstOnes', { limit }) })),
      ]}
      onChange={(limit) => onChange(limit ? Number(limit) : undefined)}
    />
  );
}

interface DimensionProps {
  dimension: Dimension;
  fields: readonly FieldGroup[];
  isDate: boolean;
  onChange(dimension: Dimension | undefined): void;
}

function DimensionControl({ dimension, fields, isDate, onChange }: DimensionProps) {
  const t = useTexts();
  return (
    <span className={styles.part}>
      <ControlSelect
        label={t('query.group')}
        width={200}
        value={dimension.field}
        data={withPath(fields, dimension.field)}
        onChange={(field) => field && onChange({ field })}
      />
      {isDate && (
        <ControlSelect
          label={t('query.bucket')}
          width={110}
          clearable
          value={dimension.bucket ?? null}
          data={buckets.map((value) => ({ value, label: t(`query.bucket.${value}` as MessageKey) }))}
          onChange={(bucket) =>
            onChange({
              field: dimension.field,
              ...(bucket && { bucket: bucket as Dimension['bucket'] & string }),
            })
          }
        />
      )}
      <Remove onClick={() => onChange(undefined)} />
    </span>
  );
}

interface MeasureProps {
  measure: Measure;
  fields: readonly FieldGroup[];
  isOnly: boolean;
  onChange(measure: Measure | undefined): void;
}

function MeasureControl({ measure, fields, isOnly, onChange }: MeasureProps) {
  const t = useTexts();
  const known = functions.some((fn) => fn === measure.fn) ? functions : [...functions, measure.fn];
  return (
    <span className={styles.part}>
      <ControlSelect
        label={t('query.fn')}
        width={130}
        value={measure.fn}
        data={known.map((value) => ({ value, label: t(`query.fn.${value}` as MessageKey) }))}
        onChange={(fn) => {
          if (!fn) return;
          const field = fn === 'count' ? undefined : (measure.field ?? 'data_quality');
          onChange({ fn: fn as Measure['fn'], ...(field && { field }) });
        }}
      />
      {measure.fn !== 'count' && (
        <ControlSelect
          label={t('query.field')}
          width={200}
          value={measure.field ?? null}
          data={withPath(fields, measure.field)}
          onChange={(field) => field && onChange({ ...measure, field })}
        />
      )}
      {!isOnly && <Remove onClick={() => onChange(undefined)} />}
    </span>
  );
}

function Remove({ onClick }: { onClick(): void }) {
  const t = useTexts();
  return (
    <ActionIcon aria-label={t('query.remove')} onClick={onClick}>
      <Icon name="close" />
    </ActionIcon>
  );
}
