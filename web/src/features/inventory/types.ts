import type { ReactNode } from 'react';
import type { ListCardsResponse } from '#client';
import type { Field } from '../../kit/metamodel.tsx';

export type CardListItem = Required<ListCardsResponse['items'][number]>;

/** A card at the other end of a relation. */
export interface Related {
  relation: string;
  id: string;
  type: string;
  name: string;
}

export type ColumnGroup = 'card' | 'attributes' | 'costs' | 'relations' | 'people' | 'metadata';

/** What a cell shows. */
interface CellSource {
  card: CardListItem;
  /** Related cards by column; undefined until they are read. */
  related: ReadonlyMap<string, Related[]> | undefined;
}

/** One column of the table. */
export interface Column {
  /** A field of cards, such as `attributes.timeModel`. */
  key: string;
  title: string;
  group: ColumnGroup;
  usualWidth: number;
  isNumber?: boolean;
  isMoney?: boolean;
  /** Whether it is shown until somebody chooses columns. */
  isUsual?: boolean;
  /** The name by which the list sorts; absent where it cannot. */
  sort?: string;
  /** The path in the filter language by which rows can be grouped. */
  groupBy?: string;
  /** What the foot of the column says about all rows. */
  total?: 'sum' | 'average';
  /** The member of cards that the cell reads, beyond those that each row has. */
  member?: string;
  /** The relations that the cell shows. */
  relation?: { type: string; end: 'source' | 'target'; other: string };
  /** The field of the card type, if it is an attribute. */
  field?: Field;
  cell(source: CellSource): ReactNode;
}
