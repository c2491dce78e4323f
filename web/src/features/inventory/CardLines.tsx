import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Fragment, type ReactNode, useState } from 'react';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import type { ShownColumn } from './layout.ts';
import styles from './lines.module.css';
import type { CardListItem, Related } from './types.ts';

const HEIGHT = 60;
/** Columns of the second line. */
const SHOWN = 3;

interface CardLinesProps {
  columns: readonly ShownColumn[];
  lines: number;
  card(line: number): CardListItem | undefined;
  related(card: string): ReadonlyMap<string, Related[]> | undefined;
  /** Called with the first and the last visible line. */
  onRange(from: number, to: number): void;
  onPeek(id: string): void;
  /** A line that is no card. */
  head(line: number): { text: ReactNode } | undefined;
  foot: ReactNode;
  isStale: boolean;
}

/** The cards on a narrow screen: two lines for each, to read and to open. */
export function CardLines({ columns, lines, card: cardOf, onRange, onPeek, ...props }: CardLinesProps) {
  const t = useTexts();
  const [scroll, setScroll] = useState<HTMLDivElement | null>(null);
  const rows = useVirtualizer({
    count: lines,
    getScrollElement: () => scroll,
    estimateSize: () => HEIGHT,
    overscan: 4,
    onChange: ({ range }) => range && onRange(range.startIndex, range.endIndex),
  });
  const values = columns.filter(({ key }) => key !== 'name').slice(0, SHOWN);
  return (
    <>
      <div ref={setScroll} className={styles.scroll} data-stale={props.isStale}>
        <ul className={styles.rows} style={{ height: rows.getTotalSize() }} aria-label={t('nav.inventory')}>
          {rows.getVirtualItems().map(({ index, start }) => {
            const head = props.head(index);
            const card = head ? undefined : cardOf(index);
            return (
              <li
                key={index}
                className={head ? styles.head : styles.row}
                style={{ transform: `translateY(${start}px)`, height: HEIGHT }}
                aria-setsize={lines}
                aria-posinset={index + 1}
              >
                {head?.text}
                {card && (
                  <>
                    <TypeMark type={card.type} size={28} />
                    <div className={styles.texts}>
                      <Link to="/cards/$id" params={{ id: card.id }} className={styles.name}>
                        {card.name}
                      </Link>
                      <button
                        type="button"
                        className={styles.values}
                        aria-label={t('peek.show', { name: card.name })}
                        onClick={() => onPeek(card.id)}
                      >
                        {values.map(({ key, cell }) => (
                          <Fragment key={key}>{cell({ card, related: props.related(card.id) })}</Fragment>
                        ))}
                      </button>
                    </div>
                  </>
                )}
              </li>
            );
          })}
        </ul>
      </div>
      <div className={styles.foot}>{props.foot}</div>
    </>
  );
}
