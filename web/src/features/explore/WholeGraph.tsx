import { Button, useComputedColorScheme } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { MultiUndirectedGraph } from 'graphology';
import { useEffect, useMemo, useRef, useState } from 'react';
import Sigma from 'sigma';
import { markColour } from '../../../../reports/kernel/charts/charts.colours.ts';
import { schemes } from '../../../../reports/kernel/charts/charts.tokens.ts';
import { type DataColumn, DataTable } from '../../kit/DataTable.tsx';
import { useFormat } from '../../kit/format.ts';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { useReason } from '../../kit/reasons.ts';
import { RoutePending } from '../../shell/RouteStates.tsx';
import { type Graph, type GraphNode, useWholeGraph } from './explorer.data.ts';
import styles from './explorer.module.css';
import { type ExplorerSearch, toggledIn } from './explorer.search.ts';
import { TypeChips } from './TypeChips.tsx';
import { placesOf } from './whole.layout.ts';

interface WholeProps {
  search: ExplorerSearch;
  go(change: Partial<ExplorerSearch>): void;
  onCenter(id: string): void;
}

/** All cards and relations, drawn by the graphics card; as a table without it. */
export function WholeGraph({ search, go, onCenter }: WholeProps) {
  const t = useTexts();
  const reasonOf = useReason();
  const { number } = useFormat();
  const { data: graph, error } = useWholeGraph(search.as_of, true);
  const [isTable, setTable] = useState(() => !hasWebGl());
  const isTouch = useMediaQuery('(pointer: coarse), (max-width: 599px)');
  const hide = search.hide ?? [];
  if (error)
    return (
      <p role="alert" className={styles.empty}>
        {reasonOf(error)}
      </p>
    );
  if (!graph) return <RoutePending />;
  // the card that was in the middle stays marked
  const chosenId = search.peek ?? search.center;
  const chosen = chosenId ? graph.nodes.get(chosenId) : undefined;
  return (
    <>
      <TypeChips
        nodes={[...graph.nodes.values()]}
        hide={hide}
        onToggle={(type) => go({ hide: toggledIn(search.hide, type) })}
      />
      <div className={styles.body}>
        {isTable ? (
          <NodeTable graph={graph} hide={hide} />
        ) : (
          <Drawing graph={graph} hide={hide} peek={chosenId} onPeek={(peek) => go({ peek })} />
        )}
        <aside className={styles.panel} aria-label={t('explorer.panel')}>
          <p className="secondary">
            {t('explorer.size', { cards: number(graph.nodes.size), relations: number(graph.edges.length) })}
          </p>
          <Button variant="default" onClick={() => setTable(!isTable)}>
            {t(isTable ? 'chart.chart' : 'chart.table')}
          </Button>
          {chosen ? (
            <>
              <h2 className={styles.name}>
                <TypeMark type={chosen.type} size={24} />
                <Link to="/cards/$id" params={{ id: chosen.id }}>
                  {chosen.name}
                </Link>
              </h2>
              <Button variant="default" onClick={() => onCenter(chosen.id)}>
                {t('explorer.centerHere')}
              </Button>
            </>
          ) : (
            <p className="secondary">{t('explorer.allHelp', { device: isTouch ? 'touch' : 'mouse' })}</p>
          )}
        </aside>
      </div>
    </>
  );
}

/** Whether the browser draws with WebGL, which it may lack or have blocked. */
function hasWebGl(): boolean {
  return document.createElement('canvas').getContext('webgl2') !== null;
}

interface DrawingProps {
  graph: Graph;
  hide: readonly string[];
  peek: string | undefined;
  onPeek(id: string | undefined): void;
}

function Drawing({ graph, hide, peek, onPeek }: DrawingProps) {
  const t = useTexts();
  const box = useRef<HTMLDivElement>(null);
  const sigma = useRef<Sigma>(undefined);
  const { types } = useMetamodel();
  const scheme = schemes[useComputedColorScheme('light')];
  const colours = useMemo(
    () => new Map(types.map(({ key, color }) => [key, markColour(color, scheme)])),
    [types, scheme],
  );
  useEffect(() => {
    const drawn = new MultiUndirectedGraph();
    // many cards are small, so that they do not cover each other
    const share = Math.min(1, Math.max(0.6, Math.sqrt(2_000 / graph.nodes.size)));
    for (const { node, x, y, degree } of placesOf(graph)) {
      drawn.addNode(node.id, {
        x,
        y,
        size: Math.min(14, 2 + Math.sqrt(degree)) * share,
        label: node.name,
        color: colours.get(node.type) ?? scheme.others,
        kind: node.type,
      });
    }
    for (const { source, target } of graph.edges) drawn.addEdge(source, target, { size: 0.4 });
    const made = new Sigma(drawn, box.current!, {
      labelColor: { color: scheme.text },
      labelSize: 11,
      labelFont: 'Inter Variable, sans-serif',
      labelRenderedSizeThreshold: 7 * share,
      // wider than most names, so that they do not cover each other
      labelGridCellSize: 180,
      labelDensity: 0.6,
      defaultEdgeColor: scheme.hairlineStrong,
      hideEdgesOnMove: drawn.size > 20_000,
      allowInvalidContainer: true,
      // names beside the outermost cards have room
      stagePadding: 60,
      zIndex: true,
    });
    sigma.current = made;
    return () => {
      made.kill();
      sigma.current = undefined;
    };
  }, [graph, colours, scheme]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another graph has a drawing of its own
  useEffect(() => {
    const made = sigma.current;
    if (!made) return;
    const drawn = made.getGraph();
    const near = new Set(peek && drawn.hasNode(peek) ? [peek, ...drawn.neighbors(peek)] : []);
    made.setSetting('nodeReducer', (id, data) => {
      if (hide.includes(String(data.kind))) return { ...data, hidden: true };
      if (near.size === 0) return data;
      return near.has(id)
        ? { ...data, forceLabel: near.size < 60 || id === peek, zIndex: 1, highlighted: id === peek }
        : { ...data, color: scheme.hairlineStrong, label: '' };
    });
    made.setSetting('edgeReducer', (edge, data) => {
      if (near.size === 0) return data;
      const isNear = drawn.hasExtremity(edge, peek!);
      return isNear ? { ...data, color: scheme.accent, size: 1, zIndex: 1 } : { ...data, hidden: true };
    });
    const onNode = ({ node }: { node: string }) => onPeek(node === peek ? undefined : node);
    const onStage = () => onPeek(undefined);
    made.on('clickNode', onNode);
    made.on('clickStage', onStage);
    return () => {
      made.off('clickNode', onNode);
      made.off('clickStage', onStage);
    };
  }, [hide, peek, onPeek, scheme, graph]);
  return (
    <div
      ref={box}
      className={styles.whole}
      role="img"
      aria-label={t('explorer.allLabel')}
      data-testid="whole-graph"
    />
  );
}

function NodeTable({ graph, hide }: { graph: Graph; hide: readonly string[] }) {
  const t = useTexts();
  const { typeLabel } = useMetamodel();
  const [sort, setSort] = useState('-relations');
  const degrees = new Map<string, number>();
  for (const { source, target } of graph.edges)
    for (const end of [source, target]) degrees.set(end, (degrees.get(end) ?? 0) + 1);
  const nameOf = ({ type }: GraphNode) => typeLabel(type);
  const columns: DataColumn<GraphNode>[] = [
    {
      key: 'name',
      title: t('field.name'),
      width: 320,
      value: ({ name }) => name,
      cell: ({ id, name }) => (
        <Link to="/cards/$id" params={{ id }}>
          {name}
        </Link>
      ),
    },
    { key: 'type', title: t('field.type'), width: 200, value: nameOf },
    {
      key: 'relations',
      title: t('card.relations'),
      width: 120,
      isNumber: true,
      value: ({ id }) => degrees.get(id) ?? 0,
    },
  ];
  const rows = [...graph.nodes.values()].filter(({ type }) => !hide.includes(type));
  return (
    <div className={styles.tree}>
      <DataTable label={t('nav.explorer')} columns={columns} rows={rows} sort={sort} onSort={setSort} />
    </div>
  );
}
