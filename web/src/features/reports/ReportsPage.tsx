import { Button, SegmentedControl } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { Page } from '../../kit/Page.tsx';
import { type Report, reports, titleOf } from '../../kit/reportCatalogue.ts';
import { SaveDialog } from '../../kit/SaveDialog.tsx';
import { isAllowed, useMe } from '../../shell/queries.ts';
import { useReportPicture } from './picture.ts';
import styles from './reports.module.css';
import { SavedGallery } from './SavedGallery.tsx';

const tabs = ['reports', 'saved', 'shared', 'public', 'dashboards'] as const;

/** All reports with a picture of the workspace's own data, the saved ones, and dashboards. */
export function ReportsPage() {
  const t = useTexts();
  const search = useSearch({ strict: false }) as { tab?: string };
  const navigate = useNavigate();
  const [isNew, setNew] = useState(false);
  const { permissions: own } = useMe();
  const permitted = reports.filter(({ permissions }) => permissions.every((one) => isAllowed(own, one)));
  const tab = tabs.find((one) => one === search.tab) ?? 'reports';
  return (
    <Page
      title={<h1>{t('nav.reports')}</h1>}
      actions={
        <>
          <Button
            variant="default"
            leftSection={<Icon name="query_stats" />}
            renderRoot={(props) => <Link to="/query" search={{}} {...props} />}
          >
            {t('query.title')}
          </Button>
          <Button leftSection={<Icon name="add" />} onClick={() => setNew(true)}>
            {t('pin.new')}
          </Button>
        </>
      }
    >
      <div className={styles.controls}>
        <SegmentedControl
          size="xs"
          aria-label={t('nav.reports')}
          value={tab}
          data={tabs.map((value) => ({ value, label: t(`reports.tab.${value}`) }))}
          onChange={(value) =>
            void navigate({
              to: '/reports/$',
              params: { _splat: '' },
              search: (value === 'reports' ? {} : { tab: value }) as never,
              replace: true,
            })
          }
        />
      </div>
      {tab === 'reports' ? (
        <div className={styles.gallery}>
          {permitted.map((report) => (
            <Preview key={report.name} report={report} />
          ))}
        </div>
      ) : (
        <SavedGallery key={tab} tab={tab} />
      )}
      {isNew && (
        <SaveDialog
          title={t('pin.new')}
          type="dashboard"
          name=""
          config={{ tiles: [] }}
          onClose={() => setNew(false)}
          onDone={({ id }) => void navigate({ to: '/dashboards/$id', params: { id } })}
        />
      )}
    </Page>
  );
}

function Preview({ report }: { report: Report }) {
  const t = useTexts();
  const { ref, inViewport } = useInViewport<HTMLAnchorElement>();
  const { src, error } = useReportPicture(report.name, {}, 640, inViewport);
  return (
    <Link ref={ref} to="/reports/$" params={{ _splat: report.name }} search={{}} className={styles.preview}>
      <span className={styles.picture}>
        {src && <img src={src} alt="" />}
        {!src && !error && <span className={styles.waiting}>{t('state.loading')}</span>}
        {error && <span className="secondary">{t('reports.notAvailable')}</span>}
      </span>
      <strong>{titleOf(t, report.name)}</strong>
    </Link>
  );
}
