import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { fillOf } from '../../../../reports/kernel/charts/charts.look.ts';
import { Aside } from '../../kit/Aside.tsx';
import { useLook } from '../../kit/charts.ts';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import type { Colouring, Measure } from './map.colours.ts';
import type { Way } from './map.data.ts';
import styles from './map.module.css';
import { costOf, type MapBox, pathOf, subtree } from './map.tree.ts';
import { useWriteValue } from './values.ts';

interface PanelProps {
  box: MapBox;
  boxes: string;
  inside: string;
  ways: readonly Way[];
  colouring: Colouring;
  measure: Measure;
  onClose(): void;
  onOpen(id: string): void;
}

/** Cards that are listed; the inventory has all. */
const LISTED = 50;
/** The most ids in a filter of the inventory. */
const MOST_IDS = 190;

/** The filter of the inventory for the cards of a box and the boxes below; undefined if it would be too long. */
function filterOf(box: MapBox, ways: readonly Way[]): string | undefined {
  const ids = [...subtree([box])].map(({ id }) => id);
  if (ids.length * ways.length <= MOST_IDS)
    return ways.map(({ toBox }) => `${toBox}.id in (${ids.join(', ')})`).join(' or ');
  return box.all.size <= MOST_IDS ? `id in (${[...box.all.keys()].join(', ')})` : undefined;
}

/** What is in a box, beside the map. */
export function MapPanel({ box, boxes, inside, ways, colouring, measure, onClose, onOpen }: PanelProps) {
  const t = useTexts();
  const { shortMoney, number } = useFormat();
  const { plural } = useMetamodel();
  const look = useLook();
  const write = useWriteValue(measure);
  const members = [...box.all.values()].toSorted(colouring.compare);
  const cost = costOf(members);
  const path = pathOf(box);
  const filter = filterOf(box, ways);
  const nameOf = (value: string | number | null) => {
    if (typeof value === 'number') return write(value);
    return colouring.legend.find(({ key }) => key === colouring.keyOf(value))?.name;
  };
  return (
    <Aside label={box.name} onClose={onClose}>
      <div>
        <div className="secondary">{path.map(({ name }) => name).join(' / ')}</div>
        <h2 className={styles.panelTitle}>
          <TypeMark type={boxes} size={24} />
          <Link to="/cards/$id" params={{ id: box.id }}>
            {box.name}
          </Link>
        </h2>
      </div>
      <dl className={styles.numbers}>
        <div>
          <dt>{plural(inside, members.length)}</dt>
          <dd>{number(members.length)}</dd>
        </div>
        {cost !== null && (
          <div>
            <dt>{t('map.cost')}</dt>
            <dd>{shortMoney(cost)}</dd>
          </div>
        )}
        <div>
          <dt>{t('map.gapsLabel')}</dt>
          <dd>{number(box.gaps)}</dd>
        </div>
      </dl>
      {members.length === 0 && <p className="secondary">{t('map.noMemberHelp')}</p>}
      <ul className={styles.list}>
        {members.slice(0, LISTED).map((member) => (
          <li key={member.id}>
            <Link to="/cards/$id" params={{ id: member.id }} className={styles.name}>
              {member.name}
            </Link>
            {member.cost !== null && <span className={styles.cost}>{shortMoney(member.cost)}</span>}
            {!measure.isOwn && measure.kind !== 'count' && (
              <span className={styles.fit}>
                <i style={{ background: fillOf(colouring.paintOf(member.value), look) }} />
                {nameOf(member.value)}
              </span>
            )}
          </li>
        ))}
      </ul>
      {members.length > 0 && filter !== undefined && (
        <Button
          variant="default"
          leftSection={<Icon name="table" />}
          renderRoot={(props) => <Link to="/inventory" search={{ type: inside, filter }} {...props} />}
        >
          {t('map.toInventory', { count: members.length })}
        </Button>
      )}
      <Button
        variant="subtle"
        leftSection={<Icon name="hub" />}
        renderRoot={(props) => <Link to="/explorer" search={{ center: box.id }} {...props} />}
      >
        {t('map.explore')}
      </Button>
      {box.children.length > 0 && (
        <Button variant="subtle" leftSection={<Icon name="grid_view" />} onClick={() => onOpen(box.id)}>
          {t('map.open', { count: box.below })}
        </Button>
      )}
    </Aside>
  );
}
