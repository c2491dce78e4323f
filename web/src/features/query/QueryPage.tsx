import { Button, Text, TextInput } from '@mantine/core';
import { useElementSize, useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, askQuestion, call, type QueryResult, queryInventory } from '#client';
import { ChartPicture } from '../../kit/ChartPicture.tsx';
import { type DataColumn, DataTable } from '../../kit/DataTable.tsx';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { Page } from '../../kit/Page.tsx';
import type { InventoryQuery, QueryRow } from '../../kit/query.ts';
import { useReason } from '../../kit/reasons.ts';
import { useQueryChart } from '../../kit/reports.ts';
import { SaveView } from '../../kit/SaveView.tsx';
import { ShareButton } from '../../kit/ShareButton.tsx';
import { RoutePending } from '../../shell/RouteStates.tsx';
import { Builder } from './Builder.tsx';
import styles from './query.module.css';
import type { QuerySearch } from './query.search.ts';

const first: InventoryQuery = { from: ['Application'], dimensions: [], measures: [{ fn: 'count' }] };

/** A query whose groups are single cards, with their names. */
function withNames(query: InventoryQuery): InventoryQuery {
  const { dimensions = [] } = query;
  const names = (field: string) => dimensions.some((dimension) => dimension.field === field);
  return names('id') && !names('name') ? { ...query, dimensions: [{ field: 'name' }, ...dimensions] } : query;
}

/** Asks the inventory: in words, or by what to count and group. */
export function QueryPage() {
  const t = useTexts();
  const search = useSearch({ from: '/app/query' });
  const navigate = useNavigate({ from: '/query' });
  const query = withNames(search.q ?? first);
  const go = (change: Partial<QuerySearch>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const isTable = search.view === 'table';
  const [refusal, setRefusal] = useState<Error>();
  useHotkeys([['t', () => go({ view: isTable ? undefined : 'table' })]]);
  const name = search.ask ?? t('query.title');
  const view = { path: '/query', search: { q: query, ...(search.ask && { ask: search.ask }) } };
  return (
    <Page
      title={
        <>
          <Link to="/reports/$" params={{ _splat: '' }} search={{}} className={styles.above}>
            {t('nav.reports')}
          </Link>
          <h1>{t('query.title')}</h1>
        </>
      }
      actions={
        <>
          <Button
            variant="default"
            leftSection={<Icon name={isTable ? 'bar_chart' : 'table'} />}
            onClick={() => go({ view: isTable ? undefined : 'table' })}
          >
            {t(isTable ? 'chart.chart' : 'chart.table')}
          </Button>
          <SaveView title={name} view={view} />
          <ShareButton />
        </>
      }
    >
      <Question
        key={search.ask}
        asked={search.ask}
        error={refusal}
        onRefused={setRefusal}
        onAnswer={(q, ask) => void navigate({ search: { q, ask, view: search.view } })}
      />
      <Builder
        query={query}
        onChange={(q) => {
          setRefusal(undefined);
          go({ q, ask: undefined });
        }}
      />
      {/* below a refused question, the result of the one before would pass for its answer */}
      {!refusal && (
        <Result query={query} isTable={isTable} sort={search.sort} onSort={(sort) => go({ sort })} />
      )}
    </Page>
  );
}

interface QuestionProps {
  asked: string | undefined;
  /** Why the last question has no answer. */
  error: Error | undefined;
  onRefused(error: Error | undefined): void;
  onAnswer(query: InventoryQuery, question: string): void;
}

/** The question bar: the service translates it into a query, which is shown below. */
function Question({ asked, error, onRefused, onAnswer }: QuestionProps) {
  const t = useTexts();
  const [text, setText] = useState(asked ?? '');
  const [isBusy, setBusy] = useState(false);
  const ask = async (question: string) => {
    setText(question);
    setBusy(true);
    onRefused(undefined);
    try {
      const { query, limit } = await call(askQuestion({ body: { question, run: false } }));
      const { page: _page, page_size: _size, ...own } = query;
      onAnswer({ ...(own as InventoryQuery), ...(limit !== null && { page_size: limit }) }, question);
    } catch (failed) {
      onRefused(failed as Error);
    } finally {
      setBusy(false);
    }
  };
  const refusalOf = useRefusal();
  const suggestion = error instanceof ApiError ? error.problem.suggestion : undefined;
  return (
    <form
      className={styles.question}
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') void ask(text.trim());
      }}
    >
      <div className={styles.ask}>
        <TextInput
          className={styles.words!}
          size="sm"
          aria-label={t('query.ask')}
          placeholder={t('query.example')}
          leftSection={<Icon name="search" />}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" size="sm" loading={isBusy}>
          {t('query.ask')}
        </Button>
      </div>
      {error && (
        <Text c="red" size="sm" role="alert">
          {refusalOf(error)}{' '}
          {typeof suggestion === 'string' && (
            <button type="button" className={styles.suggestion} onClick={() => ask(suggestion)}>
              {t('query.instead', { suggestion })}
            </button>
          )}
        </Text>
      )}
    </form>
  );
}

/** Says why a question has no answer: which words are not understood, or can mean several things. */
function useRefusal(): (error: Error) => string {
  const t = useTexts();
  const reasonOf = useReason();
  return (error) => {
    const { unknown, ambiguous } = (error instanceof ApiError ? error.problem : {}) as {
      unknown?: string[];
      ambiguous?: { text: string; meanings: string[] }[];
    };
    if (!unknown || !ambiguous) return reasonOf(error);
    if (unknown.length + ambiguous.length === 0) return t('query.notAsked');
    return [
      ...(unknown.length > 0
        ? [t('query.unknown', { count: unknown.length, words: unknown.slice(0, NAMED).join(', ') })]
        : []),
      ...ambiguous
        .slice(0, NAMED)
        .map(({ text, meanings }) =>
          t('query.ambiguous', { text, meanings: labelsOf(meanings).join(' / ') }),
        ),
    ].join(' ');
  };
}

/** Meanings by their labels alone, unless only their paths tell them apart. */
function labelsOf(meanings: readonly string[]): readonly string[] {
  const labels = meanings.map((meaning) => meaning.replace(/ \([\w.]+\)$/, ''));
  return new Set(labels).size === labels.length ? labels : meanings;
}

/** Words that a refusal names. */
const NAMED = 10;

interface ResultProps {
  query: InventoryQuery;
  isTable: boolean;
  sort: string | undefined;
  onSort(sort: string): void;
}

/** Groups that the table shows; files have all. */
const SHOWN = 5_000;

function Result({ query, isTable, sort, onSort }: ResultProps) {
  const t = useTexts();
  const { number, money, percent, date } = useFormat();
  const reasonOf = useReason();
  const { ref, width } = useElementSize();
  const navigate = useNavigate();
  const chart = useQueryChart(isTable ? undefined : query);
  const table = useQuery({
    queryKey: ['reports', 'query', 'page', query],
    queryFn: async ({ signal }) =>
      (await call(queryInventory({ signal, body: { page_size: SHOWN, ...query } }))) as QueryResult,
    enabled: isTable,
    retry: false,
  });
  const { error, isPending } = isTable ? table : chart;
  const columns = (table.data?.columns ?? []).map(
    ({ name, type, unit }, at): DataColumn<QueryRow> => ({
      key: String(at),
      title: name,
      isNumber: type === 'number',
      width: at === 0 ? 280 : 190,
      value: (row) => {
        const cell = row[at];
        return typeof cell === 'boolean' ? t(cell ? 'value.yes' : 'value.no') : cell;
      },
      cell: (row) => {
        const cell = row[at] ?? null;
        if (cell === null) return <span className="muted">{t('facets.without')}</span>;
        if (typeof cell === 'number') return unit === '%' ? percent(cell) : unit ? money(cell) : number(cell);
        if (typeof cell === 'boolean') return t(cell ? 'value.yes' : 'value.no');
        if (type === 'key' && /^[0-9a-f-]{36}$/.test(cell))
          return (
            <Link to="/cards/$id" params={{ id: cell }} className={styles.link}>
              {t('query.open')}
            </Link>
          );
        return type === 'date' ? date(cell) : cell;
      },
    }),
  );
  return (
    <div className={styles.result} ref={ref} aria-busy={isTable ? table.isFetching : chart.isFetching}>
      {isPending && !error && <RoutePending />}
      {error && (
        <p role="alert" className={styles.error}>
          {reasonOf(error)}
        </p>
      )}
      {!error && !isTable && chart.data && width > 0 && (
        <ChartPicture
          chart={chart.data}
          width={Math.max(320, Math.floor(width))}
          onOpen={(id) => void navigate({ to: '/cards/$id', params: { id } })}
        />
      )}
      {!error && isTable && table.data && (
        <div className={styles.table}>
          <p className="secondary">
            {table.data.has_more
              ? t('query.first', { shown: table.data.rows.length, count: table.data.total_groups })
              : t('query.groups', { count: table.data.total_groups })}
          </p>
          <DataTable
            label={t('query.title')}
            columns={columns}
            rows={table.data.rows as QueryRow[]}
            sort={sort}
            onSort={onSort}
          />
        </div>
      )}
    </div>
  );
}
