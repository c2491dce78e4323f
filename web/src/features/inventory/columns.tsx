import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FieldValue, isMoney, none } from '../../kit/FieldValue.tsx';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { LifecycleBar } from '../../kit/LifecycleBar.tsx';
import type { Lifecycle } from '../../kit/lifecycle.ts';
import { ApprovalMark, Avatar, TagMark, TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import type { CardListItem } from './rows.ts';
import styles from './table.module.css';

/** One column of the table. */
export interface Column {
  /** A field of cards, such as `attributes.timeModel`. */
  key: string;
  title: string;
  width: number;
  isNumber?: boolean;
  /** Whether it is shown until somebody chooses columns. */
  isDefault?: boolean;
  /** The name by which the list sorts; absent where it cannot. */
  sort?: string;
  cell(card: CardListItem): ReactNode;
}

function NameCell({ card }: { card: CardListItem }) {
  return (
    <span className={styles.name}>
      <TypeMark type={card.type} />
      <Link to="/cards/$id" params={{ id: card.id }} className={styles.nameLink}>
        {card.name}
      </Link>
      {card.approval_status === 'APPROVED' && (
        <span className={styles.approved}>
          <Icon name="verified" size={14} />
        </span>
      )}
    </span>
  );
}

function PeopleCell({ card }: { card: CardListItem }) {
  const people = new Map(card.stakeholders.map((one) => [one.user_id, one.user_display_name ?? '?']));
  if (people.size === 0) return none;
  return (
    <span className={styles.several}>
      {[...people].slice(0, 3).map(([id, name]) => (
        <Avatar key={id} name={name} size={20} />
      ))}
    </span>
  );
}

/** Widths by kind of field. */
const widths: Record<string, number> = { number: 110, cost: 120, boolean: 90, date: 120 };

/** All columns of a type, the fixed ones first; without a type only those that every card has. */
export function useColumns(type: string | undefined): Column[] {
  const t = useTexts();
  const { sections, label, type: typeOf } = useMetamodel();
  const { percent } = useFormat();
  const subtypes = (type && typeOf(type)?.subtypes) || [];
  const subtypeOf = (key: string | null) => subtypes.find((one) => one.key === key);
  const fixed: Column[] = [
    {
      key: 'name',
      title: t('field.name'),
      width: 300,
      sort: 'name',
      cell: (card) => <NameCell card={card} />,
    },
    ...(type && subtypes.length === 0
      ? []
      : [
          {
            key: 'subtype',
            title: t('field.subtype'),
            width: 150,
            sort: 'subtype',
            cell: (card: CardListItem) => {
              const subtype =
                subtypeOf(card.subtype) ??
                typeOf(card.type)?.subtypes.find((one) => one.key === card.subtype);
              return subtype ? label(subtype as { label: string }) : none;
            },
          },
        ]),
    {
      key: 'lifecycle',
      title: t('field.lifecycle'),
      width: 110,
      cell: (card) => <LifecycleBar lifecycle={card.lifecycle as Lifecycle | null} />,
    },
  ];
  const own = type
    ? sections(type)
        .flatMap(({ fields }) => fields)
        .map((field): Column => {
          const isNumber = field.type === 'number' || isMoney(field);
          return {
            key: `attributes.${field.key}`,
            title: label(field),
            width: widths[field.type] ?? 160,
            isNumber,
            isDefault: isMoney(field) || (field.options?.length ?? 0) > 1,
            sort: `attributes.${field.key}`,
            cell: (card) => <FieldValue field={field} value={card.attributes[field.key]} />,
          };
        })
    : [];
  const last: Column[] = [
    {
      key: 'tags',
      title: t('field.tags'),
      width: 200,
      cell: (card) =>
        card.tags.length === 0 ? (
          none
        ) : (
          <span className={styles.several}>
            {card.tags.map((tag) => (
              <TagMark key={tag.id} name={tag.name} color={tag.color} />
            ))}
          </span>
        ),
    },
    { key: 'stakeholders', title: t('field.people'), width: 90, cell: (card) => <PeopleCell card={card} /> },
    {
      key: 'approval_status',
      title: t('field.approval'),
      width: 150,
      sort: 'approval_status',
      cell: (card) => <ApprovalMark status={card.approval_status} />,
    },
    {
      key: 'data_quality',
      title: t('field.quality'),
      width: 90,
      isNumber: true,
      sort: 'data_quality',
      cell: (card) => percent(card.data_quality),
    },
  ];
  return [...fixed, ...own, ...last];
}

/** The columns that are shown until somebody chooses others. */
export function defaultColumns(columns: readonly Column[]): string[] {
  const own = columns
    .filter((column) => column.key.startsWith('attributes.') && column.isDefault)
    .slice(0, 7);
  return [
    'name',
    ...(own.length === 0 ? ['subtype'] : []),
    'lifecycle',
    ...own.map(({ key }) => key),
    'stakeholders',
    'data_quality',
  ];
}
