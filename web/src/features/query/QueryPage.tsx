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
import { useQueryChart } from '../../kit/reports.ts';
import { SaveView } from '../../kit/SaveView.tsx';
import { ShareButton } from '../../kit/ShareButton.tsx';
import { Builder } from './Builder.tsx';
import styles from './query.module.css';
import type { QuerySearch } from './query.search.ts';

const first: InventoryQuery = { from: ['Application'], dimensions: [], measures: [{ fn: 'count' }] };

/** Asks the inventory: in words, or by what to count and group. */
export function QueryPage() {
  const t = useTexts();
  const search = useSearch({ from: '/app/query' });
  const navigate = useNavigate({ from: '/query' });
  const query = search.q ?? first;
  const go = (change: Partial<QuerySearch>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const isTable = search.view === 'table';
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
        onAnswer={(q, ask) => void navigate({ search: { q, ask, view: search.view } })}
      />
      <Builder query={query} onChange={(q) => go({ q, ask: undefined })} />
      <Result query={query} isTable={isTable} sort={search.sort} onSort={(sort) => go({ sort })} />
    </Page>
  );
}

interface QuestionProps {
  asked: string | undefined;
  onAnswer(query: InventoryQuery, question: string): void;
}

/** The question bar: the service translates it into a query, which is shown below. */
function Question({ asked, onAnswer }: QuestionProps) {
  const t = useTexts();
  const [text, setText] = useState(asked ?? '');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const ask = async (question: string) => {
    setText(question);
    setBusy(true);
    setError(undefined);
    try {
      const { query } = await call(askQuestion({ body: { question, run: false } }));
      const { page: _page, page_size: _size, ...own } = query;
      onAnswer(own as InventoryQuery, question);
    } catch (failed) {
      setError(failed as Error);
    } finally {
      setBusy(false);
    }
  };
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
          {error.message}{' '}
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
  const { ref, width } = useElementSize();
  const chart = useQueryChart(isTable ? undefined : query);
  const table = useQuery({
    queryKey: ['reports', 'query', 'page', query],
    queryFn: async ({ signal }) =>
      (await call(queryInventory({ signal, body: { ...query, page_size: SHOWN } }))) as QueryResult,
    enabled: isTable,
    retry: false,
  });
  const { error } = isTable ? table : chart;
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
      {error && (
        <p role="alert" className={styles.error}>
          {error.message}
        </p>
      )}
      {!error && !isTable && chart.data && width > 0 && (
        <ChartPicture chart={chart.data} width={Math.max(320, Math.floor(width))} />
      )}
      {!error && isTable && table.data && (
        <div className={styles.table}>
          <p className="secondary">{t('query.groups', { count: table.data.total_groups })}</p>
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
