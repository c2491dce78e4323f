import { Link } from '@tanstack/react-router';
import { type DataColumn, DataTable } from '../../kit/DataTable.tsx';
import { useFormat } from '../../kit/format.ts';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import type { Colouring, Measure } from './map.colours.ts';
import styles from './map.module.css';
import { costOf, type MapBox, pathOf, subtree } from './map.tree.ts';
import { useWriteValue } from './values.ts';

interface TableProps {
  roots: readonly MapBox[];
  colouring: Colouring;
  measure: Measure;
  inside: string;
  sort: string | undefined;
  onSort(sort: string): void;
  onPeek(id: string): void;
}

/** The numbers of the map as a table: a row for each box at any level. */
export function MapTable({ roots, colouring, measure, inside, sort, onSort, onPeek }: TableProps) {
  const t = useTexts();
  const { number, shortMoney } = useFormat();
  const { plural } = useMetamodel();
  const write = useWriteValue(measure);
  const rows = [...subtree(roots)];
  const readValue = (box: MapBox) => {
    const value = colouring.readValue(box);
    if (value === null || typeof value === 'number') return value;
    return colouring.legend.find(({ key }) => key === colouring.keyOf(value))?.name ?? null;
  };
  const hasCosts = rows.some((box) => costOf(box.own) !== null);
  const columns: DataColumn<MapBox>[] = [
    {
      key: 'name',
      title: t('field.name'),
      width: 280,
      value: ({ name }) => name,
      cell: (box) => (
        <button type="button" className={styles.crumb} onClick={() => onPeek(box.id)}>
          {box.name}
        </button>
      ),
    },
    {
      key: 'path',
      title: t('map.path'),
      width: 280,
      value: (box) =>
        pathOf(box)
          .map(({ name }) => name)
          .join(' / ') || null,
    },
    {
      key: 'count',
      title: plural(inside),
      width: 120,
      isNumber: true,
      value: ({ all }) => all.size,
      cell: ({ all }) => number(all.size),
    },
    {
      key: 'value',
      title: measure.label,
      width: 200,
      isNumber: measure.kind !== 'options',
      value: readValue,
      cell: (box) => {
        const value = readValue(box);
        return typeof value === 'number' ? write(value) : (value ?? '–');
      },
    },
    ...(hasCosts
      ? [
          {
            key: 'cost',
            title: t('map.cost'),
            width: 120,
            isNumber: true,
            value: (box: MapBox) => costOf(box.all.values()),
            cell: (box: MapBox) => {
              const cost = costOf(box.all.values());
              return cost === null ? '–' : shortMoney(cost);
            },
          },
        ]
      : []),
    {
      key: 'gaps',
      title: t('map.gapsLabel'),
      width: 120,
      isNumber: true,
      value: ({ gaps }) => gaps,
      cell: ({ gaps }) => number(gaps),
    },
    {
      key: 'card',
      title: t('map.card'),
      width: 90,
      value: () => null,
      cell: ({ id }) => (
        <Link to="/cards/$id" params={{ id }} className={styles.link}>
          {t('action.open')}
        </Link>
      ),
    },
  ];
  return (
    <div className={styles.table}>
      <DataTable label={t('nav.map')} columns={columns} rows={rows} sort={sort} onSort={onSort} />
    </div>
  );
}
