import { ActionIcon, Button, SegmentedControl } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { AsOfField } from '../../kit/AsOfField.tsx';
import { useChartContext } from '../../kit/charts.ts';
import { CardFinder, useCardName } from '../../kit/finders.tsx';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { Page } from '../../kit/Page.tsx';
import { useReason } from '../../kit/reasons.ts';
import { SaveView } from '../../kit/SaveView.tsx';
import { ShareButton } from '../../kit/ShareButton.tsx';
import { isAllowed, useMe } from '../../shell/queries.ts';
import { RoutePending } from '../../shell/RouteStates.tsx';
import { ExplorerPanel } from './ExplorerPanel.tsx';
import { ExplorerStart } from './ExplorerStart.tsx';
import { type Graph, useGraph, useImpact, usePaths } from './explorer.data.ts';
import { alongFlows, layoutOf } from './explorer.layout.ts';
import styles from './explorer.module.css';
import { type ExplorerSearch, toggledIn } from './explorer.search.ts';
import { GraphList } from './GraphList.tsx';
import { GraphView } from './GraphView.tsx';
import { TypeChips } from './TypeChips.tsx';

const DiagramDialog = lazy(async () => ({ default: (await import('./DiagramDialog.tsx')).DiagramDialog }));
const WholeGraph = lazy(async () => ({ default: (await import('./WholeGraph.tsx')).WholeGraph }));

/** The cards around one, in layers, or all cards. */
export function ExplorerPage() {
  const t = useTexts();
  const search = useSearch({ from: '/app/explorer' });
  const navigate = useNavigate({ from: '/explorer' });
  const router = useRouter();
  const go = (change: Partial<ExplorerSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const center = (id: string | undefined) =>
    void navigate({ search: { center: id, depth: search.depth, hide: search.hide, as_of: search.as_of } });
  useHotkeys([['t', () => go({ view: search.view === 'list' ? undefined : 'list' })]]);
  const isAll = search.view === 'all';
  const middle = useCardName(search.center);
  const [isDrawing, setDrawing] = useState(false);
  const { permissions } = useMe();
  // a diagram shows the present
  const mayDraw = isAllowed(permissions, 'diagrams.view') && search.as_of === undefined;
  return (
    <Page
      title={
        <>
          <ActionIcon aria-label={t('explorer.back')} onClick={() => router.history.back()}>
            <Icon name="arrow_back" />
          </ActionIcon>
          <ActionIcon aria-label={t('explorer.on')} onClick={() => router.history.forward()}>
            <Icon name="arrow_forward" />
          </ActionIcon>
          <h1>{t('nav.explorer')}</h1>
        </>
      }
      actions={
        <>
          <AsOfField value={search.as_of} onChange={(as_of) => go({ as_of })} />
          {search.center && !isAll && mayDraw && (
            <Button variant="default" leftSection={<Icon name="draw" />} onClick={() => setDrawing(true)}>
              {t('diagram.open')}
            </Button>
          )}
          {(search.center || isAll) && (
            <SaveView
              title={middle?.name ?? t('nav.explorer')}
              view={{ path: '/explorer', search: { ...search } }}
            />
          )}
          <ShareButton />
        </>
      }
    >
      <div className={styles.controls}>
        <CardFinder
          key={search.center}
          look="control"
          types={[]}
          label={t('explorer.around')}
          placeholder={t('explorer.choose')}
          width={230}
          value={search.center}
          onPick={({ id }) => center(id)}
          onClear={() => center(undefined)}
        />
        <SegmentedControl
          size="xs"
          aria-label={t('explorer.view')}
          value={search.view ?? 'layers'}
          data={[
            { value: 'layers', label: t('explorer.layers') },
            { value: 'list', label: t('explorer.list') },
            { value: 'all', label: t('explorer.all') },
          ]}
          onChange={(value) =>
            go({ view: value === 'layers' ? undefined : (value as 'list' | 'all'), peek: undefined })
          }
        />
        {!isAll && search.center && (
          <div className={styles.depth}>
            {t('explorer.depth')}
            <SegmentedControl
              size="xs"
              aria-label={t('explorer.depth')}
              value={String(search.depth ?? 'flow')}
              data={[{ value: 'flow', label: t('explorer.alongFlow') }, '1', '2', '3']}
              onChange={(value) => go({ depth: value === 'flow' ? undefined : Number(value) })}
            />
          </div>
        )}
        {(search.open || search.show || search.hide) && (
          <Button
            variant="subtle"
            color="gray"
            onClick={() => go({ open: undefined, show: undefined, hide: undefined })}
          >
            {t('explorer.reset')}
          </Button>
        )}
      </div>
      {isAll ? (
        <Suspense fallback={<RoutePending />}>
          <WholeGraph search={search} go={go} onCenter={center} />
        </Suspense>
      ) : search.center ? (
        <Around search={search} center={search.center} go={go} onCenter={center} />
      ) : (
        <ExplorerStart onCenter={center} onAll={() => go({ view: 'all' })} />
      )}
      {isDrawing && search.center && (
        <Suspense>
          <DiagramDialog
            center={search.center}
            name={middle?.name ?? t('nav.explorer')}
            search={search}
            onClose={() => setDrawing(false)}
          />
        </Suspense>
      )}
    </Page>
  );
}

interface AroundProps {
  search: ExplorerSearch;
  center: string;
  go(change: Partial<ExplorerSearch>): void;
  onCenter(id: string): void;
}

/** A graph without the cards of some types; the centre stays. */
function without(graph: Graph, hide: readonly string[], center: string): Graph {
  if (hide.length === 0) return graph;
  const nodes = new Map([...graph.nodes].filter(([id, { type }]) => id === center || !hide.includes(type)));
  return {
    nodes,
    edges: graph.edges.filter(({ source, target }) => nodes.has(source) && nodes.has(target)),
    leftOut: graph.leftOut.filter(({ type, card_id }) => !hide.includes(type) && nodes.has(card_id)),
  };
}

function Around({ search, center, go, onCenter }: AroundProps) {
  const reasonOf = useReason();
  const t = useTexts();
  const { type: typeOf, label } = useMetamodel();
  const { graph: all, error, isLoading } = useGraph(search);
  const isAlong = search.depth === undefined && !search.open;
  const found = useMemo(() => (isAlong ? alongFlows(all, center) : all), [all, center, isAlong]);
  const paths = usePaths(search.tab === 'path' ? center : undefined, search.to);
  const impact = useImpact(search.tab === 'impact' ? center : undefined);
  const context = useChartContext(search.as_of);
  const hide = search.hide ?? [];
  const path = paths.data?.paths[search.path ?? 0];
  const graph = useMemo(() => {
    const shown = without(found, hide, center);
    if (!path || !paths.data) return shown;
    // cards of a path are shown even if they are farther away
    const nodes = new Map(shown.nodes);
    for (const card of paths.data.cards) if (!nodes.has(card.id)) nodes.set(card.id, card as never);
    const edges = path.map(({ source_id: source, target_id: target, relation_type_key: type }) => ({
      source,
      target,
      type,
    }));
    const isNew = (edge: (typeof edges)[number]) =>
      !shown.edges.some(
        ({ source, target, type }) => source === edge.source && target === edge.target && type === edge.type,
      );
    const onPath = new Set(path.flatMap(({ source_id, target_id }) => [source_id, target_id]));
    for (const id of nodes.keys()) if (!shown.nodes.has(id) && !onPath.has(id)) nodes.delete(id);
    return { ...shown, nodes, edges: [...shown.edges, ...edges.filter(isNew)] };
  }, [found, hide, center, path, paths.data]);
  const centerType = graph.nodes.get(center)?.type;
  const layout = useMemo(
    () =>
      layoutOf({
        graph,
        center,
        show: search.show ?? [],
        context,
        nameOf: (layer, name) => {
          const type = centerType ? typeOf(centerType) : undefined;
          if (layer === 'far') return t('explorer.connected', { type: type ? label(type) : '' });
          return layer === 'Application & Data' ? t('explorer.data') : name;
        },
      }),
    [graph, center, search.show, context, centerType, t, typeOf, label],
  );
  const raised = useMemo(() => {
    if (search.tab === 'path')
      return new Set(path?.flatMap(({ source_id, target_id }) => [source_id, target_id]));
    if (search.tab === 'impact') return new Set([center, ...(impact.data?.items ?? []).map(({ id }) => id)]);
    return undefined;
  }, [search.tab, path, impact.data, center]);
  if (error)
    return (
      <p role="alert" className={styles.empty}>
        {reasonOf(error)}
      </p>
    );
  return (
    <>
      <TypeChips
        nodes={[...found.nodes.values()]}
        leftOut={found.leftOut}
        hide={hide}
        onToggle={(type) => go({ hide: toggledIn(search.hide, type) })}
      />
      <div className={styles.body} aria-busy={isLoading} data-stale={isLoading}>
        {search.view === 'list' ? (
          <GraphList graph={graph} center={center} onCenter={onCenter} />
        ) : (
          <GraphView
            layout={layout}
            peek={search.peek}
            raised={raised}
            tone={search.tab === 'impact' ? 'warn' : 'accent'}
            opened={search.open ?? []}
            onPeek={(peek) => go({ peek: peek === search.peek ? undefined : peek })}
            onOpen={(id) => go({ open: toggledIn(search.open, id) })}
            onShow={(key) => go({ show: toggledIn(search.show, key) })}
            onCenter={onCenter}
          />
        )}
        <ExplorerPanel
          search={search}
          graph={graph}
          center={center}
          paths={paths.data}
          impact={impact.data}
          go={go}
          onCenter={onCenter}
        />
      </div>
    </>
  );
}
