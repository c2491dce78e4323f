import { Button, Menu } from '@mantine/core';
import { useElementSize, useFullscreenElement, useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { ApiError } from '#client';
import type { Chart } from '../../../../reports/kernel/charts/charts.types.ts';
import { without } from '../../../../reports/kernel/charts/charts.without.ts';
import { ChartPicture } from '../../kit/ChartPicture.tsx';
import { useFormat } from '../../kit/format.ts';
import { useOldestDay } from '../../kit/history.ts';
import { Icon } from '../../kit/Icon.tsx';
import { today } from '../../kit/lifecycle.ts';
import { useTexts } from '../../kit/messages.tsx';
import { Page } from '../../kit/Page.tsx';
import { PinMenu } from '../../kit/PinMenu.tsx';
import { useReason } from '../../kit/reasons.ts';
import { type Report, reportOf, titleOf } from '../../kit/reportCatalogue.ts';
import { type Params, reportUrl, useChart } from '../../kit/reports.ts';
import { SaveDialog } from '../../kit/SaveDialog.tsx';
import { ScheduleDialog } from '../../kit/ScheduleDialog.tsx';
import { ShareButton } from '../../kit/ShareButton.tsx';
import { savedReportQuery, savedTypeOf } from '../../kit/saved.ts';
import { isAllowed, useMe } from '../../shell/queries.ts';
import { RouteMissing, RoutePending } from '../../shell/RouteStates.tsx';
import { Figures } from '../home/Figures.tsx';
import { useDownload } from './download.ts';
import { typeIn, useDrill } from './drill.ts';
import { ReportControls } from './ReportControls.tsx';
import { ReportsPage } from './ReportsPage.tsx';
import { ReportTables } from './ReportTables.tsx';
import styles from './reports.module.css';
import { ownParams, type ReportSearch, readReportSearch } from './reports.search.ts';
import { TimeBar } from './TimeBar.tsx';

/** All reports, or the one that the address names: its controls, its picture, and its downloads. */
export function ReportPage() {
  const { _splat: name = '' } = useParams({ strict: false });
  if (name === '') return <ReportsPage />;
  const report = reportOf(name);
  return report ? <ReportView key={name} report={report} /> : <RouteMissing />;
}

/** The address of a report's chart on a day. */
const chartUrl = (report: Report, params: Params, day: string | undefined) =>
  reportUrl(report.name, { ...params, ...(day && { as_of: `${day}T23:59:59Z` }) });

function ReportView({ report }: { report: Report }) {
  const t = useTexts();
  const reasonOf = useReason();
  const search = readReportSearch(useSearch({ from: '/app/reports/$' }));
  const navigate = useNavigate({ from: '/reports/$' });
  const { ref: frame, toggle: toggleFullscreen } = useFullscreenElement();
  const params = ownParams(search);
  const go = (change: Params) =>
    void navigate({ search: (before) => ({ ...before, ...change }) as never, replace: true });
  const isTable = search.view === 'table';
  const isTimed = report.takesAsOf && Boolean(search.time || search.as_of || search.compare);
  const oldest = useOldestDay(isTimed);
  useHotkeys([['t', () => go({ view: isTable ? undefined : 'table' })]]);
  const chart = useChart(chartUrl(report, params, search.as_of));
  const before = useChart(search.compare ? chartUrl(report, params, search.compare) : undefined);
  const download = useDownload(report.name, params, search.as_of);
  const title = titleOf(t, report.name);
  const place = {
    path: `/reports/${report.name}`,
    search: { ...params, ...(search.hide && { hide: search.hide }) },
  };
  const isBusy = chart.isPending || chart.isPlaceholderData;
  return (
    <Page
      title={
        <>
          <Link to="/reports/$" params={{ _splat: '' }} search={{}} className={styles.above}>
            {t('nav.reports')}
          </Link>
          <h1>{title}</h1>
        </>
      }
      actions={
        <>
          {report.takesAsOf && !search.time && (
            <Button
              variant="subtle"
              color="gray"
              leftSection={<Icon name="history" />}
              onClick={() => go({ time: true, compare: undefined })}
            >
              {t('asOf.today')}
            </Button>
          )}
          <Button
            variant="default"
            leftSection={<Icon name={isTable ? 'bar_chart' : 'table'} />}
            onClick={() => go({ view: isTable ? undefined : 'table' })}
          >
            {t(isTable ? 'chart.chart' : 'chart.table')}
          </Button>
          <PinMenu tile={{ title, width: 2, ...place }} />
          <MoreMenu
            download={download}
            onFullscreen={toggleFullscreen}
            saved={search.saved}
            view={place}
            title={title}
            onSaved={(id) => go({ saved: id })}
          />
          <ShareButton />
        </>
      }
    >
      {search.saved && <SavedBanner id={search.saved} />}
      <ReportControls report={report} params={params} automatic={chosenBy(chart.data)} onChange={go} />
      {report.name === 'kpis' && (
        <div className={styles.figures}>
          <Figures />
        </div>
      )}
      <div className={styles.body} ref={frame} aria-busy={isBusy} data-stale={isBusy && !chart.error}>
        {chart.error && (
          <p role="alert" className={styles.nothing}>
            {search.saved && isInvalid(chart.error) && `${t('reports.outdated')} `}
            {reasonOf(chart.error)}
          </p>
        )}
        {chart.isPending && <RoutePending />}
        {chart.data && !chart.error && (
          <Shown
            report={report}
            chart={chart.data}
            before={before.data}
            search={search}
            params={params}
            go={go}
            isTable={isTable}
          />
        )}
      </div>
      {before.error && (
        <p role="alert" className={styles.note}>
          {reasonOf(before.error)}
        </p>
      )}
      {isTimed && (
        <div className={styles.timeRow}>
          {!search.compare && oldest !== today() && (
            <Button
              variant="default"
              onClick={() => go({ compare: [monthsAgo(6), oldest ?? ''].sort().at(-1) })}
            >
              {t('reports.compare')}
            </Button>
          )}
          <TimeBar
            asOf={search.as_of}
            compare={search.compare}
            before={before.data}
            now={chart.data}
            onChange={go}
          />
        </div>
      )}
    </Page>
  );
}

/** The fields that a chart shows, by the parameters that choose them. */
const chosenBy = (chart: Chart | undefined): Record<string, string | undefined> =>
  chart?.kind === 'bubbles' && chart.items.length > 0
    ? {
        x_axis: chart.x.name,
        y_axis: chart.y.name,
        size_field: chart.size?.name,
        color_field: chart.groupAxis,
      }
    : {};

const monthsAgo = (months: number) =>
  new Date(Date.now() - months * 30.4 * 86_400_000).toISOString().slice(0, 10);

interface ShownProps {
  report: Report;
  chart: Chart;
  before: Chart | undefined;
  search: ReportSearch;
  params: Params;
  go(change: Params): void;
  isTable: boolean;
}

/** The picture of a report, or its numbers; with another day beside it where places do not show what moved. */
function Shown({ report, chart, before, search, params, go, isTable }: ShownProps) {
  const t = useTexts();
  const { date } = useFormat();
  const { ref, width } = useElementSize();
  const hidden = search.hide ?? [];
  const shown = useMemo(() => without(chart, hidden), [chart, hidden]);
  const drill = useDrill(report, params, chart);
  const size = Math.max(320, Math.floor(width));
  const isMoving = chart.kind === 'bubbles';
  const type = typeIn(report, params);
  const hide = (names: readonly string[]) => go({ hide: names.length > 0 ? (names as never) : undefined });
  if (isTable) return <ReportTables chart={shown} sort={search.sort} onSort={(sort) => go({ sort })} />;
  return (
    <div ref={ref} className={styles.chart}>
      {hidden.length > 0 && (
        <div className={styles.hidden}>
          {t('reports.leftOut')}
          {hidden.map((name) => (
            <Button
              key={name}
              variant="default"
              size="compact-xs"
              rightSection={<Icon name="close" size={12} />}
              onClick={() => hide(hidden.filter((one) => one !== name))}
            >
              {name}
            </Button>
          ))}
        </div>
      )}
      {width > 0 && (
        <ChartPicture
          chart={shown}
          width={size}
          before={isMoving && before ? without(before, hidden) : undefined}
          onOpen={drill}
          onLegend={(name) => hide([...hidden, name])}
        />
      )}
      {isEmptyChart(chart) && type !== undefined && (
        <p className={styles.next}>
          <Link to="/inventory" search={{ type }} className={styles.link}>
            {t('reports.toCards')}
          </Link>
        </p>
      )}
      {width > 0 && before && !isMoving && (
        <section>
          <h2 className={styles.then}>{t('asOf.day', { day: date(search.compare!) })}</h2>
          <ChartPicture chart={without(before, hidden)} width={size} onOpen={drill} />
        </section>
      )}
    </div>
  );
}

/** Whether a chart has nothing to draw. */
const isEmptyChart = (chart: Chart): boolean =>
  ('items' in chart && chart.items.length === 0) || ('cells' in chart && chart.cells.length === 0);

/** Says which saved report is open, and leads back to it as it was saved. */
/** Whether parameters name what does not exist, as a saved report may do after a change of the metamodel. */
const isInvalid = (error: Error): boolean => error instanceof ApiError && error.status === 422;

function SavedBanner({ id }: { id: string }) {
  const t = useTexts();
  const { data: saved } = useQuery(savedReportQuery(id));
  if (!saved) return null;
  return (
    <div className={styles.banner}>
      <Icon name="bookmark" />
      <span>
        <strong>{saved.name}</strong>{' '}
        {saved.description && <span className="secondary">{saved.description}</span>}
      </span>
      <Link
        to="/reports/$"
        params={{ _splat: '' }}
        search={{ tab: 'saved' } as never}
        className={styles.link}
      >
        {t('reports.toSaved')}
      </Link>
    </div>
  );
}

interface MoreMenuProps {
  download: ReturnType<typeof useDownload>;
  onFullscreen(): Promise<void>;
  saved: string | undefined;
  view: { path: string; search: Record<string, unknown> };
  title: string;
  onSaved(id: string): void;
}

/** Saving, downloads, printing and the full screen. */
function MoreMenu({ download, onFullscreen, saved, view, title, onSaved }: MoreMenuProps) {
  const t = useTexts();
  const [dialog, setDialog] = useState<'new' | 'change' | 'schedule'>();
  const mayExport = isAllowed(useMe().permissions, 'inventory.export');
  const { data: known } = useQuery({ ...savedReportQuery(saved ?? ''), enabled: saved !== undefined });
  const mayChange = known?.can_edit ?? false;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<Icon name="download" />} loading={download.isBusy}>
            {t('reports.more')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {mayChange && (
            <Menu.Item leftSection={<Icon name="save" />} onClick={() => setDialog('change')}>
              {t('save.overwrite')}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<Icon name="bookmark" />} onClick={() => setDialog('new')}>
            {t('save.saveAs')}
          </Menu.Item>
          {known && mayExport && (
            <Menu.Item leftSection={<Icon name="schedule" />} onClick={() => setDialog('schedule')}>
              {t('schedule.open')}
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Label>{t('reports.download')}</Menu.Label>
          {download.formats.map(({ extension, accept }) => (
            <Menu.Item key={extension} onClick={() => download.start(accept, extension)}>
              {extension.toUpperCase()}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<Icon name="print" />} onClick={() => window.print()}>
            {t('reports.print')}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="fullscreen" />} onClick={onFullscreen}>
            {t('reports.fullscreen')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'schedule' && known && (
        <ScheduleDialog saved={known} onClose={() => setDialog(undefined)} />
      )}
      {(dialog === 'new' || dialog === 'change') && (
        <SaveDialog
          title={t(dialog === 'new' ? 'save.saveAs' : 'save.overwrite')}
          saved={dialog === 'change' ? known : undefined}
          type={savedTypeOf(view.path)}
          name={title}
          config={{ ...view }}
          onClose={() => setDialog(undefined)}
          onDone={({ id }) => {
            setDialog(undefined);
            onSaved(id);
          }}
        />
      )}
    </>
  );
}
