import { ActionIcon, Menu } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { SavedReport } from '#client';
import { Failure } from '../../kit/Failure.tsx';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { ToneMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import type { Params } from '../../kit/reports.ts';
import { SaveDialog } from '../../kit/SaveDialog.tsx';
import { ScheduleDialog } from '../../kit/ScheduleDialog.tsx';
import { savedReportsQuery, useSavedReports, viewOf } from '../../kit/saved.ts';
import { isAllowed, useMe } from '../../shell/queries.ts';
import { RoutePending } from '../../shell/RouteStates.tsx';
import { useReportPicture } from './picture.ts';
import styles from './reports.module.css';

interface GalleryProps {
  tab: 'saved' | 'shared' | 'public' | 'dashboards';
}

const filters = { saved: 'my', shared: 'shared', public: 'public', dashboards: 'all' } as const;

/** Saved reports or dashboards, each with what one may do with it. */
export function SavedGallery({ tab }: GalleryProps) {
  const t = useTexts();
  const isBoards = tab === 'dashboards';
  const { data, error, refetch } = useQuery(
    savedReportsQuery(filters[tab], isBoards ? 'dashboard' : undefined),
  );
  const shown = data?.filter(({ report_type }) => isBoards || report_type !== 'dashboard');
  if (error) return <Failure error={error} onRetry={refetch} />;
  if (!shown) return <RoutePending />;
  if (shown.length === 0)
    return <p className={styles.nothing}>{t(isBoards ? 'reports.noDashboards' : 'reports.noSaved')}</p>;
  return (
    <div className={styles.gallery}>
      {shown.map((saved) => (
        <SavedItem key={saved.id} saved={saved} />
      ))}
    </div>
  );
}

/** The link of a saved report: to its page with what it holds. */
export function SavedLink({ saved, children }: { saved: SavedReport; children: React.ReactNode }) {
  const view = viewOf(saved);
  if (saved.report_type === 'dashboard')
    return (
      <Link to="/dashboards/$id" params={{ id: saved.id }} className={styles.savedLink}>
        {children}
      </Link>
    );
  if (!view) return <span className={styles.savedLink}>{children}</span>;
  const search = view.path.startsWith('/reports/') ? { ...view.search, saved: saved.id } : view.search;
  return (
    <Link to={view.path as '/'} search={search as never} className={styles.savedLink}>
      {children}
    </Link>
  );
}

function SavedItem({ saved }: { saved: SavedReport }) {
  const t = useTexts();
  const { date } = useFormat();
  const { create, remove } = useSavedReports();
  const [isOpen, setOpen] = useState(false);
  const [isScheduling, setScheduling] = useState(false);
  const mayExport = isAllowed(useMe().permissions, 'inventory.export');
  const { name, description, report_type, config, visibility, is_owner, can_edit, owner_name, updated_at } =
    saved;
  const duplicate = () =>
    create.mutate({
      name: t('save.copyOf', { name }),
      description,
      report_type,
      config,
      visibility: 'private',
    });
  const view = viewOf(saved);
  const copy = async () => {
    const query = new URLSearchParams(
      Object.entries(view?.search ?? {}).map(([key, value]) => [
        key,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    );
    const path = report_type === 'dashboard' ? `/dashboards/${saved.id}` : `${view?.path}?${query}`;
    await navigator.clipboard.writeText(`${window.location.origin}${path}`);
    notifications.show({ message: t('share.copied') });
  };
  return (
    <article className={styles.saved}>
      <SavedLink saved={saved}>
        <SavedPicture saved={saved} />
        <strong>{name}</strong>
      </SavedLink>
      {description && <span className="secondary">{description}</span>}
      <span className={styles.savedFoot}>
        <span className="secondary">
          {owner_name}, {date(updated_at)}
        </span>
        {visibility !== 'private' && <ToneMark tone="neutral">{t(`save.${visibility}`)}</ToneMark>}
      </span>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon className={styles.savedMenu!} aria-label={t('reports.actions', { name })}>
            <Icon name="more_horiz" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {can_edit && (
            <Menu.Item leftSection={<Icon name="edit" />} onClick={() => setOpen(true)}>
              {t('save.edit')}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<Icon name="content_copy" />} onClick={duplicate}>
            {t('save.duplicate')}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="link" />} onClick={copy}>
            {t('share.copy')}
          </Menu.Item>
          {mayExport && (
            <Menu.Item leftSection={<Icon name="schedule" />} onClick={() => setScheduling(true)}>
              {t('schedule.open')}
            </Menu.Item>
          )}
          {is_owner && (
            <Menu.Item
              color="red"
              leftSection={<Icon name="delete" />}
              onClick={() => remove.mutate(saved.id)}
            >
              {t('save.delete')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {isScheduling && <ScheduleDialog saved={saved} onClose={() => setScheduling(false)} />}
      {isOpen && (
        <SaveDialog
          title={t('save.edit')}
          saved={saved}
          type={report_type}
          name={name}
          onClose={() => setOpen(false)}
          onDone={() => setOpen(false)}
        />
      )}
    </article>
  );
}

/** The picture that was saved, else a present one. */
function SavedPicture({ saved }: { saved: SavedReport }) {
  const { ref, inViewport } = useInViewport<HTMLSpanElement>();
  const view = viewOf(saved);
  const name = view?.path.startsWith('/reports/') ? view.path.slice(9) : undefined;
  const params = Object.fromEntries(
    Object.entries(view?.search ?? {}).filter(([key, value]) => key !== 'hide' && typeof value !== 'object'),
  ) as Params;
  const { src } = useReportPicture(
    name ?? '',
    params,
    640,
    inViewport && name !== undefined && !saved.thumbnail,
  );
  const shown = saved.thumbnail ?? src;
  return (
    <span ref={ref} className={styles.picture}>
      {shown ? (
        <img src={shown} alt="" />
      ) : (
        <Icon name={saved.report_type === 'dashboard' ? 'grid_view' : 'bar_chart'} size={32} />
      )}
    </span>
  );
}
