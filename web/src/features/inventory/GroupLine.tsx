import { optionMark } from '../../kit/FieldInput.tsx';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import type { Group } from './groups.ts';
import type { ShownColumn } from './layout.ts';
import styles from './table.module.css';
import type { Column } from './types.ts';

interface GroupLineProps {
  group: Group;
  by: Column;
  start: number;
  columns: readonly ShownColumn[];
  activeColumn: number;
  onToggle(value: string | null): void;
}

/** The head of a group: its value, how many cards it has, and their figures. */
export function GroupLine({ group, by, start, columns, activeColumn, onToggle }: GroupLineProps) {
  const { number, shortMoney, percent } = useFormat();
  const { value, count, totals, line, isCollapsed } = group;
  const figure = ({ key, total, isMoney }: ShownColumn) => {
    const found = totals.get(key);
    if (found === undefined) return null;
    if (total === 'average') return `⌀ ${percent(found)}`;
    return isMoney ? shortMoney(found) : number(found);
  };
  return (
    <div
      className={styles.row}
      style={{ transform: `translateY(${start}px)` }}
      role="row"
      aria-rowindex={line + 2}
    >
      <div className={`${styles.groupCell} ${styles.pinned}`} role="gridcell" aria-colindex={1} />
      {columns.map((column, at) => (
        <div
          key={column.key}
          className={[styles.groupCell, column.isNumber && styles.number, at === 0 && styles.pinnedName]
            .filter(Boolean)
            .join(' ')}
          role="gridcell"
          aria-colindex={at + 2}
          data-line={line}
          data-column={at}
          tabIndex={at === activeColumn ? 0 : -1}
        >
          {at === 0 ? (
            <button
              type="button"
              className={styles.groupButton}
              tabIndex={-1}
              onClick={() => onToggle(value)}
            >
              <Icon name={isCollapsed ? 'keyboard_arrow_right' : 'keyboard_arrow_down'} />
              <GroupValue by={by} value={value} />
              <span className="secondary">{number(count)}</span>
            </button>
          ) : (
            figure(column)
          )}
        </div>
      ))}
    </div>
  );
}

/** The value that the cards of a group have. */
export function GroupValue({ by, value }: { by: Column; value: string | null }) {
  const t = useTexts();
  const { types, plural, label } = useMetamodel();
  if (value === null) return t(by.groupBy === 'phase' ? 'phase.none' : 'facets.without');
  if (by.field?.options) return optionMark(by.field, value);
  if (by.field?.type === 'boolean') return t(value === 'true' ? 'value.yes' : 'value.no');
  if (by.groupBy === 'phase') return t(`phase.${value}` as MessageKey);
  if (by.groupBy === 'approval_status') return t(`approval.${value.toLowerCase()}` as MessageKey);
  if (by.groupBy === 'type') return plural(value);
  const found = types.flatMap(({ subtypes }) => subtypes).find(({ key }) => key === value);
  return found ? label(found as { label: string }) : value;
}
