import { ActionIcon } from '@mantine/core';
import { type PointerEvent, useEffect, useRef, useState } from 'react';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { type Lifecycle, phaseOn, today } from '../../kit/lifecycle.ts';
import { TypeMark } from '../../kit/marks.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import type { GraphNode } from './explorer.data.ts';
import { ITEM, type Item, type Layout, type Line } from './explorer.layout.ts';
import styles from './graph.module.css';

interface GraphViewProps {
  layout: Layout;
  peek: string | undefined;
  /** The cards that stand out; undefined for none in particular. */
  raised: ReadonlySet<string> | undefined;
  tone: 'accent' | 'warn';
  opened: readonly string[];
  onPeek(id: string): void;
  onOpen(id: string): void;
  onShow(key: string): void;
  onCenter(id: string): void;
}

const ZOOMS = [0.4, 0.55, 0.7, 0.85, 1, 1.25, 1.5];

/** The layers as boxes with lines between them; it scrolls, is dragged, and zooms. */
export function GraphView({ layout, ...props }: GraphViewProps) {
  const t = useTexts();
  const scroll = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  const fit = () => {
    const { clientWidth = 1, clientHeight = 1 } = scroll.current ?? {};
    setZoom(
      Math.max(0.4, Math.min(1.5, (clientWidth - 16) / layout.width, (clientHeight - 16) / layout.height)),
    );
  };
  const step = (by: number) => {
    const at = ZOOMS.findIndex((one) => one >= zoom - 0.01);
    setZoom(ZOOMS[Math.min(ZOOMS.length - 1, Math.max(0, (at < 0 ? ZOOMS.length - 1 : at) + by))]!);
  };
  const center = layout.items.find(({ isCenter }) => isCenter);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another card comes to the middle
  useEffect(() => {
    const box = scroll.current;
    if (!box || !center) return;
    // smaller rows would be hard to hit
    const wide = Math.max(0.93, Math.min(1, (box.clientWidth - 16) / layout.width));
    setZoom(wide);
    requestAnimationFrame(() => {
      box.scrollTop = (center.y + ITEM.height / 2) * wide - box.clientHeight / 2;
      // no column begins outside
      const column = (ITEM.width + ITEM.column) * wide;
      const middle = (center.x + ITEM.width / 2) * wide - box.clientWidth / 2;
      box.scrollLeft = Math.round(middle / column) * column;
    });
  }, [center?.key]);
  const isRaised = ({ nodes }: Item) =>
    props.raised ? nodes.some(({ id }) => props.raised!.has(id)) : nodes.some(({ id }) => id === props.peek);
  const near = new Set(
    layout.lines.flatMap(({ ends }) => (ends.some(isRaised) ? ends.map(({ key }) => key) : [])),
  );
  const hasFocus = props.raised !== undefined || props.peek !== undefined;
  const isFaded = (item: Item) =>
    hasFocus && !isRaised(item) && (props.raised !== undefined || !near.has(item.key));
  const isStrong = ({ ends }: Line) =>
    props.raised ? ends.every(isRaised) : hasFocus && ends.some(isRaised);
  return (
    <div className={styles.frame}>
      <div className={styles.scroll} ref={scroll} {...useDrag(scroll)}>
        <div style={{ width: layout.width * zoom, height: layout.height * zoom }}>
          <div
            className={styles.canvas}
            style={{ width: layout.width, height: layout.height, transform: `scale(${zoom})` }}
          >
            {layout.columns.map(({ key, name, x }) => (
              <div key={key} className={styles.column} style={{ left: x, width: ITEM.width }}>
                {name}
              </div>
            ))}
            <Lines
              lines={layout.lines}
              layout={layout}
              isStrong={isStrong}
              isQuiet={hasFocus}
              tone={props.tone}
            />
            {layout.items.map((item) => (
              <Box key={item.key} item={item} isFaded={isFaded(item)} isRaised={isRaised(item)} {...props} />
            ))}
          </div>
        </div>
      </div>
      <div className={styles.zoom}>
        <ActionIcon variant="default" aria-label={t('explorer.smaller')} onClick={() => step(-1)}>
          −
        </ActionIcon>
        <button type="button" className={styles.percent} onClick={() => setZoom(1)}>
          {Math.round(zoom * 100)} %
        </button>
        <ActionIcon variant="default" aria-label={t('explorer.larger')} onClick={() => step(1)}>
          +
        </ActionIcon>
        <ActionIcon variant="default" aria-label={t('explorer.fit')} onClick={fit}>
          <Icon name="fit_screen" />
        </ActionIcon>
      </div>
      <p className={styles.legend}>
        <svg width="34" height="10" aria-hidden="true">
          <path d="M0 5H28" className={styles.line} />
          <path d="M26 1l8 4l-8 4z" className={styles.head} />
        </svg>
        {t('explorer.flow')}
        <svg width="34" height="10" aria-hidden="true">
          <path d="M0 5H34" className={styles.line} />
        </svg>
        {t('explorer.relation')}
      </p>
    </div>
  );
}

/** Moves what scrolls by dragging its ground. */
function useDrag(scroll: React.RefObject<HTMLDivElement | null>) {
  const from = useRef<{ x: number; y: number; left: number; top: number }>(undefined);
  return {
    onPointerDown: (event: PointerEvent) => {
      const box = scroll.current;
      if (!box || event.pointerType === 'touch' || (event.target as HTMLElement).closest('button')) return;
      from.current = { x: event.clientX, y: event.clientY, left: box.scrollLeft, top: box.scrollTop };
    },
    onPointerMove: (event: PointerEvent) => {
      if (!from.current || !scroll.current) return;
      scroll.current.scrollLeft = from.current.left - (event.clientX - from.current.x);
      scroll.current.scrollTop = from.current.top - (event.clientY - from.current.y);
    },
    onPointerUp: () => {
      from.current = undefined;
    },
    onPointerLeave: () => {
      from.current = undefined;
    },
  };
}

interface LinesProps {
  lines: readonly Line[];
  layout: Layout;
  isStrong(line: Line): boolean;
  isQuiet: boolean;
  tone: 'accent' | 'warn';
}

function Lines({ lines, layout, isStrong, isQuiet, tone }: LinesProps) {
  return (
    <svg
      className={styles.lines}
      width={layout.width}
      height={layout.height}
      aria-hidden="true"
      data-tone={tone}
    >
      <defs>
        {['arrow', 'arrow-strong'].map((id) => (
          <marker
            key={id}
            id={id}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="11"
            markerHeight="11"
            markerUnits="userSpaceOnUse"
            orient="auto-start-reverse"
          >
            <path d="M0 0L8 4L0 8z" className={id === 'arrow' ? styles.head : styles.strongHead} />
          </marker>
        ))}
      </defs>
      {lines
        .toSorted((a, b) => Number(isStrong(a)) - Number(isStrong(b)))
        .map((line) => {
          const marker = `url(#${isStrong(line) ? 'arrow-strong' : 'arrow'})`;
          return (
            <path
              key={line.key}
              d={line.d}
              className={isStrong(line) ? styles.strong : styles.line}
              data-quiet={isQuiet}
              markerStart={line.arrows.start ? marker : undefined}
              markerEnd={line.arrows.end ? marker : undefined}
            />
          );
        })}
    </svg>
  );
}

type BoxProps = Omit<GraphViewProps, 'layout'> & { item: Item; isFaded: boolean; isRaised: boolean };

function Box({ item, isFaded, isRaised, opened, onPeek, onOpen, onShow, onCenter }: BoxProps) {
  const t = useTexts();
  const { number } = useFormat();
  const { plural } = useMetamodel();
  const place = { left: item.x, top: item.y, width: ITEM.width, height: item.height };
  const look = { 'data-faded': isFaded, 'data-raised': isRaised, 'data-center': item.isCenter };
  if (!item.isBundle) {
    const node = item.nodes[0]!;
    const isOpened = opened.includes(node.id);
    return (
      <div className={styles.box} style={place} {...look}>
        <button
          type="button"
          className={styles.card}
          onClick={() => onPeek(node.id)}
          onDoubleClick={() => onCenter(node.id)}
          aria-pressed={isRaised}
        >
          <TypeMark type={item.type} size={26} />
          <span>
            <strong>{node.name}</strong>
            <Note node={node} />
          </span>
        </button>
        {!item.isCenter && (
          <button
            type="button"
            className={styles.plus}
            aria-pressed={isOpened}
            aria-label={t(isOpened ? 'explorer.fold' : 'explorer.unfold', { name: node.name })}
            onClick={() => onOpen(node.id)}
          >
            {isOpened ? '−' : '+'}
          </button>
        )}
      </div>
    );
  }
  const count = item.nodes.length + item.more;
  return (
    <div className={`${styles.box} ${item.isOpen ? '' : styles.stack}`} style={place} {...look}>
      <button
        type="button"
        className={styles.card}
        aria-expanded={item.isOpen}
        onClick={() => onShow(item.key)}
      >
        <TypeMark type={item.type} size={26} />
        <span>
          <strong>
            {number(count)} {plural(item.type, count)}
          </strong>
          <span className={styles.note}>{item.nodes.map(({ name }) => name).join(', ')}</span>
        </span>
        <Icon name={item.isOpen ? 'keyboard_arrow_down' : 'add'} />
      </button>
      {item.isOpen && (
        <ul className={styles.rows}>
          {item.nodes.slice(0, ITEM.listed).map((node) => (
            <li key={node.id}>
              <button type="button" onClick={() => onPeek(node.id)} onDoubleClick={() => onCenter(node.id)}>
                {node.name}
              </button>
            </li>
          ))}
          {count > ITEM.listed && (
            <li className="secondary">{t('facets.more', { count: count - ITEM.listed })}</li>
          )}
        </ul>
      )}
    </div>
  );
}

/** The lifecycle of a card today, or its type. */
function Note({ node: { lifecycle, type } }: { node: GraphNode }) {
  const t = useTexts();
  const { typeLabel } = useMetamodel();
  const phase = phaseOn((lifecycle ?? null) as Lifecycle | null, today());
  const text = phase ? t(`phase.${phase}` as MessageKey) : typeLabel(type);
  return <span className={styles.note}>{text}</span>;
}
