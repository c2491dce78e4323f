import { SegmentedControl } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type CSSProperties, useEffect, useRef, useState } from 'react';
import { call, type DependenciesReport, readDependenciesReport } from '#client';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { useReason } from '../../kit/reasons.ts';
import { useCard } from './context.tsx';
import styles from './graph.module.css';
import { CELL, type GraphData, layoutOf } from './graph.ts';

/** Cards of one type beyond this many are one box. */
const BUNDLE = 12;

/** The cards around the card: a column for each type, in the order of the metamodel. */
export function GraphTab() {
  const t = useTexts();
  const reasonOf = useReason();
  const { card, asOf } = useCard();
  const [depth, setDepth] = useState('1');
  const { data, isPending, error } = useQuery({
    queryKey: ['card', card.id, 'graph', depth, asOf],
    queryFn: async ({ signal }) =>
      (await call(
        readDependenciesReport({
          signal,
          query: {
            center_id: card.id,
            depth: Number(depth),
            bundle: BUNDLE,
            page_size: 500,
            ...(asOf && { as_of: new Date(`${asOf}T23:59:59.999`).toISOString() }),
          },
        }),
      )) as DependenciesReport,
    placeholderData: keepPreviousData,
  });
  return (
    <div className={styles.tab} aria-busy={isPending}>
      <div className={styles.controls}>
        <SegmentedControl
          size="xs"
          value={depth}
          onChange={setDepth}
          aria-label={t('graph.depth')}
          data={[
            { value: '1', label: t('graph.near') },
            { value: '2', label: t('graph.far') },
          ]}
        />
        {data && <span className="secondary">{t('graph.count', { count: data.nodes.length - 1 })}</span>}
      </div>
      {error && <p role="alert">{reasonOf(error)}</p>}
      {data && data.nodes.length < 2 && <p className={styles.empty}>{t('card.noRelations')}</p>}
      {data && data.nodes.length > 1 && <Graph data={data as unknown as GraphData} />}
    </div>
  );
}

/** A size in pixels, which narrow screens do not use. */
const sizeOf = (width: number, height?: number) =>
  ({ '--width': `${width}px`, ...(height && { '--height': `${height}px` }) }) as CSSProperties;

function Graph({ data }: { data: GraphData }) {
  const t = useTexts();
  const { card } = useCard();
  const { types, type: typeOf, label } = useMetamodel();
  const [raised, setRaised] = useState<string>();
  const { groups, edges, width, height } = layoutOf(
    data,
    card.id,
    types.map(({ key }) => key),
  );
  const touching = new Set(
    raised === undefined
      ? []
      : edges
          .filter(({ source, target }) => source === raised || target === raised)
          .flatMap((edge) => [edge.source, edge.target]),
  );
  // the card in the middle, where there is little room
  const scroll = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: again for another graph
  useEffect(() => {
    const { current: box } = scroll;
    if (box) box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2;
  }, [data]);
  const nameOf = (key: string) => {
    const found = typeOf(key);
    return found ? label(found) : key;
  };
  const hasFlow = edges.some(({ start, end }) => start || end);
  return (
    <div className={styles.scroll} ref={scroll}>
      {hasFlow && (
        <p className={styles.legend}>
          <svg width="34" height="10" aria-hidden="true">
            <path d="M0 5H28" className={styles.edge} />
            <path d="M26 1l8 4l-8 4z" className={styles.arrow} />
          </svg>
          {t('explorer.flow')}
          <svg width="34" height="10" aria-hidden="true">
            <path d="M0 5H34" className={styles.edge} />
          </svg>
          {t('explorer.relation')}
        </p>
      )}
      <div className={styles.graph} style={sizeOf(width, height)}>
        <svg width={width} height={height} aria-hidden="true">
          <defs>
            <marker
              id="flow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto-start-reverse"
            >
              <path d="M0 0L8 4L0 8z" className={styles.arrow} />
            </marker>
          </defs>
          {edges.map(({ key, path, source, target, start, end, isBeside }) => (
            <path
              key={key}
              d={path}
              className={styles.edge}
              data-beside={isBeside}
              data-raised={raised !== undefined && (source === raised || target === raised)}
              data-faded={raised !== undefined && source !== raised && target !== raised}
              markerStart={start ? 'url(#flow)' : undefined}
              markerEnd={end ? 'url(#flow)' : undefined}
            />
          ))}
        </svg>
        {groups.map(({ type, x, y: top, nodes, more }) => (
          <section key={`${x} ${type}`} aria-label={nameOf(type)}>
            <h2 className={styles.title} style={{ left: x, top }}>
              <TypeMark type={type} size={18} /> {nameOf(type)}
            </h2>
            {nodes.map(({ id, name, y, says }) => (
              <Link
                key={id}
                to="/cards/$id"
                params={{ id }}
                search={{ tab: 'graph' }}
                className={styles.node}
                style={{ left: x, top: y, ...sizeOf(CELL.width) }}
                title={name}
                data-center={id === card.id}
                data-faded={raised !== undefined && raised !== id && !touching.has(id)}
                onMouseEnter={() => setRaised(id)}
                onMouseLeave={() => setRaised(undefined)}
                onFocus={() => setRaised(id)}
                onBlur={() => setRaised(undefined)}
              >
                {name}
                <span className="visually-hidden">{says.join(', ')}</span>
              </Link>
            ))}
            {more && (
              <Link
                to="."
                search={{}}
                className={styles.node}
                style={{ left: x, top: more.y, ...sizeOf(CELL.width) }}
                data-more
              >
                {t('graph.more', { count: more.count })}
              </Link>
            )}
          </section>
        ))}
      </div>
    </div>
  );
}
