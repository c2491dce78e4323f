import { ActionIcon, Button, Menu } from '@mantine/core';
import { useElementSize, useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ComponentProps, useMemo, useState } from 'react';
import type { SavedReport } from '#client';
import { without } from '../../../../reports/kernel/charts/charts.without.ts';
import { ChartPicture } from '../../kit/ChartPicture.tsx';
import { useLook } from '../../kit/charts.ts';
import { fitting } from '../../kit/fitting.ts';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { Page } from '../../kit/Page.tsx';
import type { InventoryQuery } from '../../kit/query.ts';
import { useReason } from '../../kit/reasons.ts';
import { reportUrl, useChart, useQueryChart } from '../../kit/reports.ts';
import { SaveDialog } from '../../kit/SaveDialog.tsx';
import { ShareButton } from '../../kit/ShareButton.tsx';
import { reportOf, savedReportQuery, type Tile, tilesOf, useSavedReports } from '../../kit/saved.ts';
import { RoutePending } from '../../shell/RouteStates.tsx';
import styles from './dashboards.module.css';

/** A page of pinned reports in a grid. */
export function DashboardPage() {
  const { id } = useParams({ from: '/app/dashboards/$id' });
  const { data, error } = useQuery(savedReportQuery(id));
  if (error) throw error;
  return data ? <DashboardView key={id} dashboard={data} /> : <RoutePending />;
}

const widths = [1, 2, 4] as const;

function DashboardView({ dashboard }: { dashboard: SavedReport }) {
  const t = useTexts();
  const navigate = useNavigate();
  const { change, remove } = useSavedReports();
  const [isOpen, setOpen] = useState(false);
  const { name, is_owner: isOwner, can_edit: mayEdit, description, id } = dashboard;
  const tiles = tilesOf(dashboard);
  const store = (next: Tile[]) => change.mutate({ id, config: { ...dashboard.config, tiles: next } });
  return (
    <Page
      title={
        <>
          <Link
            to="/reports/$"
            params={{ _splat: '' }}
            search={{ tab: 'dashboards' } as never}
            className={styles.above}
          >
            {t('reports.tab.dashboards')}
          </Link>
          <h1>{name}</h1>
        </>
      }
      actions={
        <>
          {mayEdit && (
            <Menu position="bottom-end">
              <Menu.Target>
                <Button variant="default" leftSection={<Icon name="edit" />}>
                  {t('dashboard.change')}
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item onClick={() => setOpen(true)}>{t('save.edit')}</Menu.Item>
                {isOwner && (
                  <Menu.Item
                    color="red"
                    onClick={async () => {
                      await remove.mutateAsync(id);
                      void navigate({
                        to: '/reports/$',
                        params: { _splat: '' },
                        search: { tab: 'dashboards' } as never,
                      });
                    }}
                  >
                    {t('save.delete')}
                  </Menu.Item>
                )}
              </Menu.Dropdown>
            </Menu>
          )}
          <ShareButton />
        </>
      }
    >
      {description && <p className={styles.description}>{description}</p>}
      {tiles.length === 0 && (
        <div className={styles.empty}>
          <p>{t('dashboard.empty')}</p>
          <Button
            variant="default"
            renderRoot={(props) => <Link to="/reports/$" params={{ _splat: '' }} search={{}} {...props} />}
          >
            {t('dashboard.toReports')}
          </Button>
        </div>
      )}
      <div className={styles.grid}>
        {tiles.map((tile, at) => (
          <section
            // biome-ignore lint/suspicious/noArrayIndexKey: the same report can be pinned twice
            key={`${at} ${tile.path}`}
            className={styles.tile}
            data-width={tile.width}
            aria-label={tile.title}
          >
            <header className={styles.head}>
              <Link to={tile.path as '/'} search={tile.search as never}>
                <h2>{tile.title}</h2>
              </Link>
              {mayEdit && <TileMenu tiles={tiles} at={at} store={store} />}
            </header>
            <TileContent tile={tile} />
          </section>
        ))}
      </div>
      {isOpen && (
        <SaveDialog
          title={t('save.edit')}
          saved={dashboard}
          type="dashboard"
          name={name}
          onClose={() => setOpen(false)}
          onDone={() => setOpen(false)}
        />
      )}
    </Page>
  );
}

interface TileMenuProps {
  tiles: readonly Tile[];
  at: number;
  store(tiles: Tile[]): void;
}

/** What the owner may do with a tile. */
function TileMenu({ tiles, at, store }: TileMenuProps) {
  const t = useTexts();
  const tile = tiles[at]!;
  const others = tiles.filter((_, index) => index !== at);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={t('reports.actions', { name: tile.title })}>
          <Icon name="more_horiz" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {widths
          .filter((width) => width !== tile.width)
          .map((width) => (
            <Menu.Item key={width} onClick={() => store(tiles.with(at, { ...tile, width }))}>
              {t(`dashboard.width.${width}`)}
            </Menu.Item>
          ))}
        {at > 0 && (
          <Menu.Item onClick={() => store(others.toSpliced(at - 1, 0, tile))}>
            {t('dashboard.earlier')}
          </Menu.Item>
        )}
        {at < tiles.length - 1 && (
          <Menu.Item onClick={() => store(others.toSpliced(at + 1, 0, tile))}>
            {t('dashboard.later')}
          </Menu.Item>
        )}
        <Menu.Item color="red" onClick={() => store(others)}>
          {t('dashboard.unpin')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** The height of a picture in a tile, and its least width. */
const TILE = 420;
const LEAST = 240;

/** A picture without its title, which the tile has, and as far as there is room. */
function TilePicture({ chart, ...props }: ComponentProps<typeof ChartPicture>) {
  const look = useLook(props.width, TILE);
  const shown = useMemo(() => fitting({ ...chart, title: '' }, look, TILE), [chart, look]);
  return <ChartPicture chart={shown} height={TILE} {...props} />;
}

/** The chart of a tile, read when it comes into view; other pages are a link. */
function TileContent({ tile: { path, search, title } }: { tile: Tile }) {
  const t = useTexts();
  const reasonOf = useReason();
  const navigate = useNavigate();
  const { ref: size, width } = useElementSize();
  const { ref: view, inViewport } = useInViewport<HTMLDivElement>();
  const { hide, as_of } = search;
  const shown = reportOf({ path, search });
  const day = typeof as_of === 'string' ? { as_of: `${as_of}T23:59:59Z` } : {};
  const report = useChart(
    shown && inViewport ? reportUrl(shown.name, { ...shown.params, ...day }) : undefined,
  );
  const query = useQueryChart(
    path === '/query' && inViewport ? (search.q as InventoryQuery | undefined) : undefined,
  );
  const { data, error, isLoading } = shown ? report : query;
  const hidden = Array.isArray(hide) ? (hide as string[]) : [];
  return (
    <div ref={view} className={styles.content}>
      <div ref={size}>
        {error && <p className="secondary">{reasonOf(error)}</p>}
        {isLoading && <RoutePending />}
        {data && width > 0 && (
          <TilePicture
            chart={without(data, hidden)}
            width={Math.max(LEAST, Math.floor(width))}
            onOpen={(ref) => {
              if (/^[0-9a-f-]{36}$/.test(ref)) void navigate({ to: '/cards/$id', params: { id: ref } });
            }}
          />
        )}
        {!shown && path !== '/query' && (
          <Link to={path as '/'} search={search as never} className={styles.open}>
            {t('dashboard.open', { title })}
          </Link>
        )}
      </div>
    </div>
  );
}
