import { useElementSize } from '@mantine/hooks';
import { memo, useMemo, useState } from 'react';
import { mix } from '../../../../reports/kernel/charts/charts.colours.ts';
import { fillOf } from '../../../../reports/kernel/charts/charts.look.ts';
import type { Paint } from '../../../../reports/kernel/charts/charts.types.ts';
import { useLook } from '../../kit/charts.ts';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import styles from './boxes.module.css';
import { InSight, SightProvider } from './InSight.tsx';
import type { Colouring, Measure } from './map.colours.ts';
import { firstOf, isLeafAt, leavesAt, type MapBox, type Member } from './map.tree.ts';
import { useWriteValue } from './values.ts';

/** Cards that are named in a box. */
const NAMED = 3;
/** Boxes of one level that are drawn before the others are asked for. */
const MOST = 60;
/** Share of a colour in the fill of a box. */
const FILL = { light: 0.3, dark: 0.34 };

interface BoxesProps {
  roots: readonly MapBox[];
  levels: number;
  colouring: Colouring;
  measure: Measure;
  /** Whether boxes without cards stand out. */
  marksGaps: boolean;
  only: string | undefined;
  peek: string | undefined;
  onPeek(id: string): void;
  onOpen(id: string): void;
}

/** Boxes in columns, each with its parts; those out of sight are not drawn. */
export function MapBoxes({ roots, ...props }: BoxesProps) {
  const t = useTexts();
  const { levels } = props;
  const { ref, width } = useElementSize();
  const [scroll, setScroll] = useState<HTMLDivElement | null>(null);
  const [most, setMost] = useState(MOST);
  const columns = useMemo(
    () => (width === 0 ? [] : inColumns(roots.slice(0, most), levels, width)),
    [roots, most, levels, width],
  );
  return (
    <div className={styles.map} ref={setScroll}>
      <SightProvider root={scroll}>
        <div className={styles.columns} ref={ref} key={levels}>
          {columns.map((own, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other identity
            <div key={at} className={styles.column}>
              {own.map(({ box, top, height }) =>
                isLeafAt(box, levels) ? (
                  <Leaf key={box.id} box={box} {...props} isChosen={props.peek === box.id} />
                ) : (
                  <InSight key={box.id} top={top} height={height}>
                    {() => <Group box={box} top={top} {...props} isRoot />}
                  </InSight>
                ),
              )}
            </div>
          ))}
        </div>
      </SightProvider>
      {roots.length > most && (
        <button type="button" className={styles.more} onClick={() => setMost(most + 4 * MOST)}>
          {t('facets.more', { count: roots.length - most })}
        </button>
      )}
    </div>
  );
}

/** Least width of a column in pixels. */
const COLUMN = 340;

/** A box of the first level, where it begins and how high it is, about. */
interface Placed {
  box: MapBox;
  top: number;
  height: number;
}

/** The boxes in columns of similar height, in reading order. */
function inColumns(roots: readonly MapBox[], levels: number, width: number): Placed[][] {
  const count = Math.max(1, Math.min(4, Math.floor(width / COLUMN), roots.length));
  const columns = Array.from({ length: count }, () => ({ end: 0, boxes: [] as Placed[] }));
  for (const box of roots) {
    const shortest = columns.reduce((least, one) => (one.end < least.end - 1 ? one : least));
    const height = heightOf(box, levels);
    shortest.boxes.push({ box, top: shortest.end, height });
    shortest.end += height;
  }
  return columns.map(({ boxes }) => boxes);
}

/** The height of a box without its parts, in pixels. */
const HEAD = 50;

/** The height of a box, about, in pixels. */
function heightOf(box: MapBox, levels: number): number {
  if (isLeafAt(box, levels)) return 30 + 16 * Math.max(1, Math.min(NAMED, box.all.size));
  const shown = box.children.slice(0, MOST);
  const heights = shown.map((child) => ({
    isLeaf: isLeafAt(child, levels - 1),
    height: heightOf(child, levels - 1),
  }));
  return heights.reduce((sum, { isLeaf, height }) => sum + (isLeaf ? (height + 6) / 2 : height), HEAD);
}

type GroupProps = Omit<BoxesProps, 'roots'> & { box: MapBox; top: number; isRoot?: boolean };

function Group({ box, top, isRoot = false, ...props }: GroupProps) {
  const t = useTexts();
  const { levels, colouring, marksGaps, onOpen, onPeek, peek } = props;
  const shown = box.children.slice(0, MOST);
  const groups = shown.filter((child) => !isLeafAt(child, levels - 1));
  const leaves = shown.filter((child) => isLeafAt(child, levels - 1));
  const inner = { ...props, levels: levels - 1 };
  let end = top + HEAD;
  const placed = groups.map((child) => {
    const place = { child, top: end, height: heightOf(child, levels - 1) };
    end += place.height;
    return place;
  });
  return (
    <section
      className={isRoot ? styles.outer : styles.inner}
      data-chosen={peek === box.id}
      aria-label={box.name}
    >
      <header className={styles.head}>
        <button type="button" className={styles.title} onClick={() => onOpen(box.id)}>
          {box.name}
        </button>
        <button
          type="button"
          className={styles.figures}
          onClick={() => onPeek(box.id)}
          aria-label={t('map.details', { name: box.name, count: box.all.size })}
        >
          {marksGaps && box.gaps > 0 && (
            <span className={styles.gaps}>{t('map.gaps', { count: box.gaps })}</span>
          )}
          <Spread box={box} levels={levels} colouring={colouring} />
          <span className={styles.count}>{box.all.size}</span>
        </button>
      </header>
      {box.own.length > 0 && (
        <Members members={box.own} count={box.own.length} colouring={colouring} isLine />
      )}
      {placed.map(({ child, ...place }) => (
        <InSight key={child.id} {...place}>
          {() => <Group box={child} top={place.top} {...inner} />}
        </InSight>
      ))}
      {leaves.length > 0 && (
        <div className={styles.leaves}>
          {leaves.map((child) => (
            <Leaf key={child.id} box={child} {...inner} isChosen={peek === child.id} />
          ))}
        </div>
      )}
      {box.children.length > MOST && (
        <button type="button" className={styles.more} onClick={() => onOpen(box.id)}>
          {t('facets.more', { count: box.children.length - MOST })}
        </button>
      )}
    </section>
  );
}

type LeafProps = Omit<BoxesProps, 'roots' | 'peek'> & { box: MapBox; isChosen: boolean };

const Leaf = memo(function Leaf(props: LeafProps) {
  const { box, colouring, measure, marksGaps, only, isChosen, onPeek, onOpen } = props;
  const t = useTexts();
  const look = useLook();
  const write = useWriteValue(measure);
  const value = colouring.readValue(box);
  const isEmpty = box.all.size === 0 && !measure.isOwn;
  const isGap = isEmpty && marksGaps;
  const key = isEmpty ? 'gap' : colouring.keyOf(value);
  const fill = fillOf(colouring.paintOf(value), look);
  const share = look.scheme.panel === '#ffffff' ? FILL.light : FILL.dark;
  const style = isEmpty ? {} : { borderLeftColor: fill, background: mix(look.scheme.panel, fill, share) };
  return (
    <div
      className={isGap ? `${styles.leaf} ${styles.gap}` : styles.leaf}
      style={style}
      data-chosen={isChosen}
      data-faded={only !== undefined && only !== key}
    >
      <button type="button" className={styles.leafTitle} onClick={() => onPeek(box.id)}>
        {box.name}
      </button>
      {isGap && <span className={styles.member}>{t('map.noMember')}</span>}
      {box.all.size > 0 && <Members members={box.all.values()} count={box.all.size} colouring={colouring} />}
      {measure.kind !== 'options' && typeof value === 'number' && !isEmpty && measure.kind !== 'count' && (
        <span className={styles.value}>{write(value)}</span>
      )}
      {box.below > 0 && (
        <button type="button" className={styles.below} onClick={() => onOpen(box.id)}>
          {t('map.below', { count: box.below })}
          <Icon name="chevron_right" size={14} />
        </button>
      )}
    </div>
  );
});

interface MembersProps {
  members: Iterable<Member>;
  count: number;
  colouring: Colouring;
  isLine?: boolean;
}

function Members({ members, count, colouring, isLine = false }: MembersProps) {
  const named = firstOf(members, NAMED, colouring.compare);
  const rest = count - named.length;
  return (
    <ul className={isLine ? styles.line : styles.members}>
      {named.map((member, at) => (
        <li key={member.id} className={styles.member}>
          <Dot paint={colouring.paintOf(member.value)} />
          <span title={member.name}>{member.name}</span>
          {rest > 0 && at === named.length - 1 && <strong className={styles.rest}>+{rest}</strong>}
        </li>
      ))}
    </ul>
  );
}

function Dot({ paint }: { paint: Paint }) {
  const look = useLook();
  return <i className={styles.dot} style={{ background: fillOf(paint, look) }} />;
}

/** How the boxes of a subtree are spread over the legend. */
function Spread({ box, levels, colouring }: { box: MapBox; levels: number; colouring: Colouring }) {
  const look = useLook();
  const counts = new Map<string, number>();
  for (const leaf of leavesAt(box.children, levels - 1)) {
    if (leaf.all.size === 0) continue;
    const key = colouring.keyOf(colouring.readValue(leaf));
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return (
    <span className={styles.spread} aria-hidden="true">
      {colouring.legend
        .toReversed()
        .map(({ key, paint }) =>
          counts.has(key) ? (
            <i key={key} style={{ flexGrow: counts.get(key)!, background: fillOf(paint, look) }} />
          ) : null,
        )}
    </span>
  );
}
