import { type MouseEvent, memo, useId, useMemo, useState } from 'react';
import { pictureOf } from '../../../reports/kernel/charts/charts.draw.ts';
import type { Mark, Picture } from '../../../reports/kernel/charts/charts.marks.ts';
import type { Chart } from '../../../reports/kernel/charts/charts.types.ts';
import styles from './chart.module.css';
import { useLook } from './charts.ts';
import { useTexts } from './messages.tsx';

interface ChartPictureProps {
  chart: Chart;
  width: number;
  /** The height that drawing areas keep to; default: each has its usual one. */
  height?: number | undefined;
  /** Where things stood before: dashed, with an arrow to where they stand now. */
  before?: Chart | undefined;
  /** Opens what a mark stands for; undefined if there is nothing behind it. */
  onOpen?: ((ref: string, isApart: boolean) => void) | undefined;
  /** Leaves an entry of the legend out. */
  onLegend?: ((name: string) => void) | undefined;
}

/** A mark that says something, as a stop for keyboard and pointer. */
interface Stop {
  mark: Mark;
  text: string;
  at: [x: number, y: number];
}

/** The middle of a mark. */
function middleOf(mark: Mark): [number, number] {
  if (mark.kind === 'rect') return [mark.x + mark.width / 2, mark.y + mark.height / 2];
  if (mark.kind !== 'path') return [mark.x, mark.y];
  const [, x = '0', y = '0'] = /(-?[\d.]+) (-?[\d.]+)/.exec(mark.d) ?? [];
  return [Number(x), Number(y)];
}

/** What a mark says: its title, or the text of a name that stands for a card. */
function saidBy(mark: Mark): string | undefined {
  if (mark.kind !== 'text') return mark.title;
  return mark.ref === undefined ? undefined : (mark.whole ?? mark.text);
}

/** A chart as SVG that answers to pointer and keyboard: what each mark says, and what is behind it. */
export function ChartPicture({ chart, width, height, before, onOpen, onLegend }: ChartPictureProps) {
  const t = useTexts();
  const id = useId();
  const look = useLook(width, height);
  const picture = useMemo(() => pictureOf(chart, look), [chart, look]);
  const moves = useMemo(
    () => (before ? movesOf(pictureOf(before, look), picture) : []),
    [before, picture, look],
  );
  const stops = useMemo(() => stopsOf(picture), [picture]);
  const [at, setAt] = useState<number>();
  const current = at === undefined ? undefined : stops[at];
  const open = (mark: Mark | undefined, isApart: boolean) => {
    if (mark?.legend !== undefined) onLegend?.(mark.legend);
    else if (mark?.ref !== undefined) onOpen?.(mark.ref, isApart);
  };
  const markOf = (event: MouseEvent): number | undefined => {
    const index = (event.target as Element).closest('[data-mark]')?.getAttribute('data-mark');
    return index === null || index === undefined ? undefined : Number(index);
  };
  return (
    <div className={styles.picture} style={{ width: picture.width }}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it is a listbox as soon as it has options */}
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles have names */}
      <div
        role={stops.length > 0 ? 'listbox' : 'img'}
        tabIndex={0}
        aria-label={picture.description}
        aria-activedescendant={current && `${id}${at}`}
        onKeyDown={(event) => {
          const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
          if (step !== undefined)
            setAt(at === undefined ? 0 : Math.min(stops.length - 1, Math.max(0, at + step)));
          else if (event.key === 'Home') setAt(0);
          else if (event.key === 'End') setAt(stops.length - 1);
          else if (event.key === 'Escape') setAt(undefined);
          else if (event.key === 'Enter') open(current?.mark, event.ctrlKey);
          else return;
          event.preventDefault();
        }}
        onBlur={() => setAt(undefined)}
        onMouseMove={(event) => {
          const index = markOf(event);
          const found =
            index === undefined ? -1 : stops.findIndex(({ mark }) => mark === picture.marks[index]);
          setAt(found < 0 ? undefined : found);
        }}
        onMouseLeave={() => setAt(undefined)}
        onClick={(event) => {
          const index = markOf(event);
          if (index !== undefined) open(picture.marks[index], event.ctrlKey || event.metaKey);
        }}
      >
        <svg width={picture.width} height={picture.height} aria-hidden="true">
          <Marks picture={picture} hasLegend={onLegend !== undefined} />
          {moves.map(({ key, from, to, radius }) => (
            <g key={key} className={styles.move}>
              <circle cx={from[0]} cy={from[1]} r={radius} />
              <path d={`M${from[0]} ${from[1]}L${to[0]} ${to[1]}`} markerEnd={`url(#${id}arrow)`} />
            </g>
          ))}
          {moves.length > 0 && (
            <defs>
              <marker
                id={`${id}arrow`}
                viewBox="0 0 8 8"
                refX="8"
                refY="4"
                markerWidth="8"
                markerHeight="8"
                orient="auto"
              >
                <path d="M0 0L8 4L0 8z" fill="var(--text2)" />
              </marker>
            </defs>
          )}
          {current && <Ring mark={current.mark} />}
        </svg>
        {stops.map(({ text, at: [x, y] }, index) => (
          <div
            key={`${x} ${y} ${text}`}
            id={`${id}${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            className="visually-hidden"
          >
            {text}
          </div>
        ))}
      </div>
      {current && (
        <div className={styles.tooltip} style={placeOf(current.at, picture)} role="status">
          {current.text}
          {current.mark.ref !== undefined && onOpen && <span className="secondary">{t('chart.enter')}</span>}
          {current.mark.legend !== undefined && onLegend && (
            <span className="secondary">{t('chart.leaveOut')}</span>
          )}
        </div>
      )}
    </div>
  );
}

/** The marks that say something; legends last, since they are read less often. */
function stopsOf({ marks }: Picture): Stop[] {
  const seen = new Set<string>();
  const stops = marks.flatMap((mark): Stop[] => {
    const isLegend = mark.legend !== undefined && mark.kind === 'text';
    const text = isLegend ? mark.legend! : mark.legend === undefined ? saidBy(mark) : undefined;
    if (text === undefined) return [];
    const at = middleOf(mark);
    const key = `${at} ${text}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ mark, text, at }];
  });
  return stops.sort((a, b) => Number(a.mark.legend !== undefined) - Number(b.mark.legend !== undefined));
}

/** Circles that stand elsewhere than before. */
function movesOf(before: Picture, now: Picture) {
  const byRef = new Map(
    before.marks.flatMap((mark) => (mark.kind === 'circle' && mark.ref ? [[mark.ref, mark]] : [])),
  );
  return now.marks.flatMap((mark) => {
    const old = mark.kind === 'circle' && mark.ref ? byRef.get(mark.ref) : undefined;
    if (!old || mark.kind !== 'circle') return [];
    const [dx, dy] = [mark.x - old.x, mark.y - old.y];
    const far = Math.hypot(dx, dy);
    // within a cell, places depend on the neighbours
    if (far < 60) return [];
    const to: [number, number] = [
      mark.x - (dx / far) * (mark.radius + 2),
      mark.y - (dy / far) * (mark.radius + 2),
    ];
    return [{ key: mark.ref!, from: [old.x, old.y] as const, to, radius: old.radius }];
  });
}

/** Beside a mark, within the picture. */
function placeOf([x, y]: [number, number], { width }: Picture) {
  return x > width / 2 ? { right: width - x + 12, top: y + 12 } : { left: x + 12, top: y + 12 };
}

function Ring({ mark }: { mark: Mark }) {
  if (mark.kind === 'rect')
    return (
      <rect
        className={styles.ring}
        x={mark.x - 1.5}
        y={mark.y - 1.5}
        width={Math.max(0, mark.width) + 3}
        height={Math.max(0, mark.height) + 3}
        rx={(mark.radius ?? 0) + 1}
      />
    );
  if (mark.kind === 'circle')
    return <circle className={styles.ring} cx={mark.x} cy={mark.y} r={mark.radius + 2} />;
  if (mark.kind === 'path') return <path className={styles.ring} d={mark.d} />;
  return null;
}

const Marks = memo(function Marks({ picture, hasLegend }: { picture: Picture; hasLegend: boolean }) {
  const id = useId();
  const hatches = [
    ...new Set(picture.marks.flatMap((mark) => ('hatch' in mark && mark.hatch ? [mark.hatch] : []))),
  ];
  const patternOf = (colour: string) => `${id}${colour.slice(1)}`;
  return (
    <>
      <defs>
        {hatches.map((colour) => (
          <pattern
            key={colour}
            id={patternOf(colour)}
            width="6"
            height="6"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect width="1.2" height="6" fill={colour} />
          </pattern>
        ))}
      </defs>
      {picture.marks.map((mark, index) => (
        <Shape
          // biome-ignore lint/suspicious/noArrayIndexKey: marks have no other identity, and are replaced together
          key={index}
          mark={mark}
          index={index}
          hatch={'hatch' in mark && mark.hatch ? `url(#${patternOf(mark.hatch)})` : undefined}
          isActive={mark.ref !== undefined || (hasLegend && mark.legend !== undefined)}
        />
      ))}
    </>
  );
});

interface ShapeProps {
  mark: Mark;
  index: number;
  hatch: string | undefined;
  isActive: boolean;
}

function Shape({ mark, index, hatch, isActive }: ShapeProps) {
  const says = isActive || saidBy(mark) !== undefined;
  const common = { 'data-mark': says ? index : undefined, className: isActive ? styles.active : undefined };
  switch (mark.kind) {
    case 'text':
      return (
        <text
          {...common}
          x={mark.x}
          y={mark.y}
          fontSize={mark.size}
          fontWeight={mark.weight}
          fill={mark.fill}
          textAnchor={mark.anchor}
          transform={mark.turned ? `rotate(-90 ${mark.x} ${mark.y})` : undefined}
          {...(mark.halo && {
            stroke: mark.halo,
            strokeWidth: 3,
            strokeLinejoin: 'round',
            paintOrder: 'stroke',
          })}
        >
          {mark.text}
        </text>
      );
    case 'circle':
      return (
        <circle {...common} cx={mark.x} cy={mark.y} r={mark.radius} fill={mark.fill} stroke={mark.stroke} />
      );
    case 'path':
      return (
        <path
          {...common}
          d={mark.d}
          fill={mark.fill ?? 'none'}
          stroke={mark.stroke}
          strokeWidth={mark.width}
          strokeDasharray={mark.dashed ? '4 3' : undefined}
        />
      );
    case 'rect': {
      const shape = {
        x: mark.x,
        y: mark.y,
        width: Math.max(0, mark.width),
        height: Math.max(0, mark.height),
        rx: mark.radius,
      };
      return (
        <>
          <rect
            {...common}
            {...shape}
            fill={mark.fill}
            stroke={mark.stroke}
            strokeDasharray={mark.dashed ? '4 3' : undefined}
          />
          {hatch && <rect {...shape} fill={hatch} pointerEvents="none" />}
        </>
      );
    }
  }
}
