import { Button, Progress, SegmentedControl } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FieldError, ImportRow, Job } from '#client';
import { FieldValue } from '../../kit/FieldValue.tsx';
import { useFormat } from '../../kit/format.ts';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { useFieldReason, useReason } from '../../kit/reasons.ts';
import styles from './import.module.css';
import { type ImportOptions, type Outcome, readRows, runImport } from './run.ts';
import type { Target } from './targets.ts';
import type { Fix } from './values.ts';

interface PreviewProps {
  header: readonly string[];
  rows: readonly string[][];
  /** The file as it is sent, and the line at which each row begins. */
  text: string | File;
  lines: readonly number[];
  /** The number of each row in the sheet of a workbook. */
  shown: readonly number[] | undefined;
  options: ImportOptions;
  targets: readonly Target[];
  /** Absent: values are mended in the file. */
  onFix?: (fix: Fix) => void;
  run(onProgress: (progress: number) => void): Promise<Job>;
  onDone(job: Job): void;
}

/** What tells a file from others in the cache. */
const keyOf = (text: string | File) =>
  typeof text === 'string' ? text : [text.name, text.size, text.lastModified];

/** What the import would do, row by row, and the button that does it. */
export function PreviewStep({ text, options, run, onDone, ...props }: PreviewProps) {
  const t = useTexts();
  const reasonOf = useReason();
  const { number } = useFormat();
  const [outcome, setOutcome] = useState<Outcome>();
  const [progress, setProgress] = useState<number>();
  const [failure, setFailure] = useState<string>();
  const {
    data: job,
    error,
    isFetching,
  } = useQuery({
    queryKey: ['import', 'preview', options, keyOf(text)],
    queryFn: () => runImport(text, options, true, () => {}),
    gcTime: 0,
    retry: false,
  });
  const counts = job?.counts ?? {};
  const outcomes = (['failed', 'updated', 'created', 'unchanged'] as const).filter((one) => counts[one]);
  const shown = outcomes.find((one) => one === outcome) ?? outcomes[0];
  const changes = (counts.created ?? 0) + (counts.updated ?? 0);
  const isBlocked = options.atomic && (counts.failed ?? 0) > 0;
  const apply = async () => {
    setFailure(undefined);
    setProgress(0);
    try {
      onDone(await run(setProgress));
    } catch (failed) {
      setFailure(reasonOf(failed));
    } finally {
      setProgress(undefined);
    }
  };
  return (
    <section className={styles.step} aria-busy={isFetching}>
      <h2>{t('import.preview')}</h2>
      {isFetching && <p className="secondary">{t('import.checking')}</p>}
      {(error || failure) && (
        <p role="alert" className={styles.failure}>
          {failure ?? reasonOf(error)}
        </p>
      )}
      {job && !isFetching && (
        <>
          {shown && (
            <SegmentedControl
              size="xs"
              className={styles.kinds!}
              aria-label={t('import.preview')}
              value={shown}
              data={outcomes.map((value) => ({
                value,
                label: `${t(`import.outcome.${value}`)} ${number(counts[value]!)}`,
              }))}
              onChange={(value) => setOutcome(value as Outcome)}
            />
          )}
          {shown && shown !== 'unchanged' && (
            <Rows key={`${job.id} ${shown}`} job={job.id} outcome={shown} {...props} />
          )}
        </>
      )}
      <div className={styles.apply}>
        {progress !== undefined && (
          <Progress
            value={progress * 100}
            className={styles.progress!}
            aria-label={t('import.title')}
            animated
          />
        )}
        {isBlocked && <span className={styles.failure}>{t('import.blocked')}</span>}
        <Button
          loading={progress !== undefined}
          disabled={!job || isFetching || changes === 0 || isBlocked}
          onClick={apply}
        >
          {t('import.apply', { count: changes, all: counts.total ?? 0 })}
        </Button>
      </div>
    </section>
  );
}

type RowsProps = Pick<PreviewProps, 'header' | 'rows' | 'lines' | 'shown' | 'targets' | 'onFix'> & {
  job: string;
  outcome: Outcome;
};

/** Columns that name a row, the clearest first. */
const naming = [
  'name',
  'external_id',
  'number',
  'source_external_id',
  'card_external_id',
  'card_number',
  'id',
];

/** Columns that name the card above. */
const above = ['parent_path', 'parent_external_id'];

/** The rows of an outcome: what changes in each, or why it is refused. */
function Rows({ job, outcome, header, rows, lines, shown, targets, onFix }: RowsProps) {
  const t = useTexts();
  const { number } = useFormat();
  const { data, hasNextPage, fetchNextPage, isFetching } = useInfiniteQuery({
    queryKey: ['import', 'rows', job, outcome],
    queryFn: ({ signal, pageParam }) => readRows(job, outcome, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const found = data?.pages.flatMap(({ items }) => items) ?? [];
  const at = new Map(lines.map((line, index) => [line, index]));
  const numberOf = (line: number) => {
    const index = at.get(line) ?? line - 2;
    return shown?.[index] ?? index + 2;
  };
  const nameColumn = naming.map((one) => header.indexOf(one)).find((index) => index >= 0);
  const nameOf = ({ line, external_id }: ImportRow) =>
    (nameColumn === undefined ? undefined : rows[at.get(line) ?? -1]?.[nameColumn]) || external_id || '–';
  // the file says what the card above is called, also of one that does not exist yet
  const parentColumn = above.map((one) => header.indexOf(one)).find((index) => index >= 0) ?? -1;
  const parentOf = ({ line }: ImportRow) => rows[at.get(line) ?? -1]?.[parentColumn];
  return (
    <div className={styles.rows}>
      {outcome === 'failed' && onFix && <Problems rows={found} targets={targets} onFix={onFix} />}
      <table>
        <thead>
          <tr>
            <th scope="col" className={styles.line}>
              {t('import.line')}
            </th>
            <th scope="col">{t('field.name')}</th>
            <th scope="col">{t(outcome === 'failed' ? 'import.reason' : 'import.changes')}</th>
          </tr>
        </thead>
        <tbody>
          {found.map((row) => (
            <tr key={row.line}>
              <td className={styles.line}>{number(numberOf(row.line))}</td>
              <th scope="row">
                {nameOf(row)} {row.sheet && <span className="secondary">{row.sheet}</span>}
              </th>
              <td>
                {row.errors.map((error) => (
                  <Refused
                    key={JSON.stringify(error)}
                    error={error as unknown as FieldError}
                    targets={targets}
                  />
                ))}
                {changesOf(row, outcome).map(([column, change]) => (
                  <Change
                    key={column}
                    column={column}
                    {...change}
                    {...(column === 'parent_id' && { given: parentOf(row) })}
                    targets={targets}
                  />
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {isFetching && <p className="secondary">{t('state.loading')}</p>}
      {hasNextPage && (
        <Button variant="subtle" onClick={() => void fetchNextPage()}>
          {t('import.more')}
        </Button>
      )}
    </div>
  );
}

/** What a column is called; the service calls the whole row `row`. */
function useColumnLabel(targets: readonly Target[]) {
  const t = useTexts();
  return (column: string) =>
    column === 'row' ? t('import.row') : (targets.find((one) => one.column === column)?.label ?? column);
}

/** Options that are named. */
const NAMED = 12;

/** The label of a value of a column that must be one of a list, else the value itself. */
function useValueLabel(targets: readonly Target[]) {
  const { types, relationTypes, label } = useMetamodel();
  return (column: string, key: string): string => {
    const items: readonly { key: string }[] =
      column === 'type'
        ? [...types, ...relationTypes]
        : column === 'subtype'
          ? types.flatMap(({ subtypes }) => subtypes)
          : (targets.find((one) => one.column === column)?.field?.options ?? []);
    const found = items.find((one) => one.key === key);
    return found ? label(found as unknown as { label: string }) : key;
  };
}

/** Problems with a value that was probably meant otherwise, once for all rows that have it. */
function Problems({
  rows,
  targets,
  onFix,
}: Pick<RowsProps, 'targets'> & { rows: ImportRow[]; onFix(fix: Fix): void }) {
  const t = useTexts();
  const labelOf = useColumnLabel(targets);
  const choiceOf = useValueLabel(targets);
  const errors = rows.flatMap((row) => row.errors as unknown as FieldError[]);
  const fixable = Map.groupBy(
    errors.filter(({ value, nearest }) => value !== undefined && nearest !== undefined),
    ({ field, value }) => `${field} ${value}`,
  );
  if (fixable.size === 0) return null;
  return (
    <ul className={styles.fixes}>
      {[...fixable].map(([key, [error, ...more]]) => {
        const { field, value, nearest } = error!;
        return (
          <li key={key}>
            <span>
              {labelOf(field)}: <s>{value}</s>{' '}
              <span className="secondary">{t('import.rows', { count: more.length + 1 })}</span>
            </span>
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => onFix({ column: field, from: value!, to: nearest! })}
            >
              {t('import.useNearest', { value: choiceOf(field, nearest!) })}
            </Button>
          </li>
        );
      })}
    </ul>
  );
}

function Refused({ error, targets }: { error: FieldError; targets: readonly Target[] }) {
  const t = useTexts();
  const reasonOf = useFieldReason();
  const labelOf = useColumnLabel(targets);
  const choiceOf = useValueLabel(targets);
  const target = targets.find(({ column }) => column === error.field);
  const isListed = !target?.field?.options && error.allowed && error.allowed.length > 0;
  const allowed = error.allowed?.slice(0, NAMED).map((key) => choiceOf(error.field, key));
  return (
    <div className={styles.change}>
      <span className="secondary">{labelOf(error.field)}</span>
      <span className={styles.failure}>
        {reasonOf(error)}
        {isListed && ` ${t('import.allowed', { values: allowed!.join(', ') })}`}
      </span>
    </div>
  );
}

/** What changes, and is no column of imports. */
const others: Record<string, MessageKey> = {
  data_quality: 'field.quality',
  approval_status: 'field.approval',
  parent_id: 'field.parent',
};

interface ChangeProps {
  column: string;
  old?: unknown;
  new?: unknown;
  /** What the file says instead of an id. */
  given?: string | undefined;
  targets: readonly Target[];
}

/** What every new card has, or what stands beside its changes. */
const besides = new Set(['data_quality', 'approval_status', 'name', 'status']);

/** What a row changes; of new cards not what each has, such as its name, which stands beside it. */
const changesOf = ({ changes }: ImportRow, outcome: Outcome) =>
  Object.entries(changes ?? {}).filter(([column]) => outcome !== 'created' || !besides.has(column));

/** The old value of a field, struck through, and the new one. */
function Change({ column, old, new: next, given, targets }: ChangeProps) {
  const t = useTexts();
  const { date, number, percent } = useFormat();
  const labelOf = useColumnLabel(targets);
  const choiceOf = useValueLabel(targets);
  const target = targets.find((one) => one.column === column);
  const isEmpty = (value: unknown) =>
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  const shown = (value: unknown) => {
    if (isEmpty(value)) return <span className="muted">–</span>;
    if (target?.field) return <FieldValue field={target.field} value={value} />;
    if (column.startsWith('lifecycle.')) return date(String(value));
    if (column === 'data_quality') return percent(Number(value));
    if (column === 'approval_status') return t(`approval.${String(value).toLowerCase()}` as MessageKey);
    if (column === 'status') return t(`status.${String(value).toLowerCase()}` as MessageKey);
    if (column === 'type' || column === 'subtype') return choiceOf(column, String(value));
    if (typeof value === 'number') return number(value);
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ');
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  };
  return (
    <div className={styles.change}>
      <span className="secondary">{column in others ? t(others[column]!) : labelOf(column)}</span>
      <span className={styles.value}>
        {!isEmpty(old) && <s>{shown(old)}</s>}
        {given || shown(next)}
      </span>
    </div>
  );
}
