import { useMemo } from 'react';
import { FieldValue, isMoney, none } from '../../kit/FieldValue.tsx';
import { LifecycleBar } from '../../kit/LifecycleBar.tsx';
import { type Lifecycle, phaseOn, today } from '../../kit/lifecycle.ts';
import { ApprovalMark, OptionMark } from '../../kit/marks.tsx';
import { type MessageKey, type Translate, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { isAllowed, useMe } from '../../shell/queries.ts';
import {
  Instant,
  NameCell,
  PathCell,
  PeopleCell,
  PersonName,
  Quality,
  RelatedCell,
  TagsCell,
} from './cells.tsx';
import type { CardListItem, Column } from './types.ts';

/** Widths by kind of field. */
const widths: Record<string, number> = {
  number: 110,
  cost: 120,
  boolean: 90,
  date: 120,
  multiple_select: 200,
};

/** All columns of a type in the order of the chooser; without a type only those that every card has. */
export function useColumns(type: string | undefined): Column[] {
  const t = useTexts();
  const metamodel = useMetamodel();
  const { permissions } = useMe();
  return useMemo(() => {
    const may = (permission: string) => isAllowed(permissions, permission);
    return [
      ...cardColumns(t, metamodel, type),
      ...attributeColumns(metamodel, type).filter(({ isMoney: has }) => !has || may('costs.view')),
      ...(may('relations.view') ? relationColumns(metamodel, type) : []),
      ...(may('stakeholders.view') ? peopleColumns(t, metamodel, type) : []),
      ...metadataColumns(t),
    ];
  }, [t, metamodel, permissions, type]);
}

type Metamodel = ReturnType<typeof useMetamodel>;

function cardColumns(t: Translate, { type: typeOf, label }: Metamodel, type: string | undefined): Column[] {
  const known = type ? typeOf(type) : undefined;
  const subtypeOf = ({ type: of, subtype }: CardListItem) =>
    typeOf(of)?.subtypes.find(({ key }) => key === subtype) as { label: string } | undefined;
  const group = 'card' as const;
  const text = (key: 'description' | 'alias' | 'external_id', title: MessageKey, sort?: string): Column => ({
    key,
    title: t(title),
    group,
    usualWidth: 220,
    sort,
    member: key,
    cell: ({ card }) => card[key] ?? none,
  });
  const columns: (Column | false)[] = [
    {
      key: 'name',
      title: t('field.name'),
      group,
      usualWidth: 300,
      sort: 'name',
      cell: ({ card }) => <NameCell card={card} />,
    },
    {
      key: 'number',
      title: t('field.number'),
      group,
      usualWidth: 100,
      sort: 'number',
      member: 'number',
      cell: ({ card }) => card.number,
    },
    type === undefined && {
      key: 'type',
      title: t('field.type'),
      group,
      usualWidth: 160,
      sort: 'type',
      groupBy: 'type',
      cell: ({ card }) => {
        const found = typeOf(card.type);
        return found ? label(found) : card.type;
      },
    },
    (type === undefined || (known?.subtypes.length ?? 0) > 0) && {
      key: 'subtype',
      title: t('field.subtype'),
      group,
      usualWidth: 150,
      sort: 'subtype',
      groupBy: 'subtype',
      cell: ({ card }) => {
        const found = subtypeOf(card);
        return found ? label(found) : none;
      },
    },
    {
      key: 'path',
      title: t('field.path'),
      group,
      usualWidth: 260,
      sort: 'path',
      member: 'path',
      cell: ({ card }) => <PathCell card={card} />,
    },
    {
      key: 'lifecycle',
      title: t('field.lifecycle'),
      group,
      usualWidth: 128,
      sort: 'phase',
      groupBy: 'phase',
      member: 'lifecycle',
      cell: ({ card }) => <LifecycleBar lifecycle={card.lifecycle as Lifecycle | null} />,
    },
    {
      key: 'phase',
      title: t('field.phase'),
      group,
      usualWidth: 130,
      sort: 'phase',
      groupBy: 'phase',
      member: 'lifecycle',
      cell: ({ card }) => {
        const phase = phaseOn(card.lifecycle as Lifecycle | null, today());
        if (!phase) return none;
        const option = { key: phase, label: t(`phase.${phase}` as MessageKey), color: undefined };
        return <OptionMark option={option} field="phase" />;
      },
    },
    text('description', 'field.description', 'description'),
    text('alias', 'field.alias'),
    text('external_id', 'field.externalId'),
    {
      key: 'tags',
      title: t('field.tags'),
      group,
      usualWidth: 200,
      sort: 'tags',
      member: 'tags',
      cell: ({ card }) => <TagsCell card={card} />,
    },
  ];
  return columns.filter((column) => column !== false);
}

function attributeColumns({ sections, label }: Metamodel, type: string | undefined): Column[] {
  const fields = type ? sections(type).flatMap((section) => section.fields) : [];
  return fields.map((field): Column => {
    const money = isMoney(field);
    const isNumber = field.type === 'number' || money;
    const hasOptions = (field.options?.length ?? 0) > 0 || field.type === 'boolean';
    return {
      key: `attributes.${field.key}`,
      title: label(field),
      group: money ? 'costs' : 'attributes',
      usualWidth: widths[field.type] ?? 160,
      isNumber,
      isMoney: money,
      isUsual: money || (field.options?.length ?? 0) > 1,
      sort: `attributes.${field.key}`,
      groupBy: hasOptions ? `attributes.${field.key}` : undefined,
      total: isNumber ? 'sum' : undefined,
      member: 'attributes',
      field,
      cell: ({ card }) => <FieldValue field={field} value={card.attributes[field.key]} />,
    };
  });
}

function relationColumns(
  { relationTypes, type: typeOf, label, verb }: Metamodel,
  type: string | undefined,
): Column[] {
  if (!type) return [];
  const found = relationTypes.flatMap((relation) => [
    ...(relation.source_type_key === type
      ? [
          {
            relation,
            end: 'target' as const,
            verb: verb(relation, 'outgoing'),
            other: relation.target_type_key,
          },
        ]
      : []),
    ...(relation.target_type_key === type
      ? [
          {
            relation,
            end: 'source' as const,
            verb: verb(relation, 'incoming'),
            other: relation.source_type_key,
          },
        ]
      : []),
  ]);
  return found
    .filter(({ relation, other }) => !relation.is_hidden && typeOf(other) && !typeOf(other)!.is_hidden)
    .map(({ relation, end, verb: said, other }): Column => {
      const key = `relation.${relation.key}.${end}`;
      const name = label(typeOf(other)!);
      const isAmbiguous = found.filter((one) => one.other === other).length > 1;
      return {
        key,
        title: isAmbiguous && said ? `${name} (${said})` : name,
        group: 'relations',
        usualWidth: 200,
        relation: { type: relation.key, end, other },
        cell: ({ related }) => <RelatedCell related={related && (related.get(key) ?? [])} />,
      };
    });
}

function peopleColumns(t: Translate, { type: typeOf, label }: Metamodel, type: string | undefined): Column[] {
  const roles = ((type && typeOf(type)?.stakeholder_roles) || []) as { key: string; label: string }[];
  const common = { group: 'people' as const, usualWidth: 120, member: 'stakeholders' };
  return [
    {
      ...common,
      key: 'stakeholders',
      title: t('field.people'),
      usualWidth: 90,
      cell: ({ card }) => <PeopleCell people={card.stakeholders} />,
    },
    ...roles.map(
      (role): Column => ({
        ...common,
        key: `stakeholders.${role.key}`,
        title: label(role),
        cell: ({ card }) => (
          <PeopleCell people={card.stakeholders.filter((one) => one.role === role.key)} withNames />
        ),
      }),
    ),
  ];
}

function metadataColumns(t: Translate): Column[] {
  const group = 'metadata' as const;
  const instant = (key: 'created_at' | 'updated_at' | 'archived_at', title: MessageKey): Column => ({
    key,
    title: t(title),
    group,
    usualWidth: 120,
    sort: key === 'archived_at' ? undefined : key,
    member: key,
    cell: ({ card }) => <Instant at={card[key]} />,
  });
  const person = (key: 'created_by' | 'updated_by', title: MessageKey): Column => ({
    key,
    title: t(title),
    group,
    usualWidth: 140,
    sort: key,
    member: key,
    cell: ({ card }) => <PersonName id={card[key]} />,
  });
  return [
    {
      key: 'approval_status',
      title: t('field.approval'),
      group,
      usualWidth: 150,
      sort: 'approval_status',
      groupBy: 'approval_status',
      cell: ({ card }) => <ApprovalMark status={card.approval_status} />,
    },
    {
      key: 'data_quality',
      title: t('field.quality'),
      group,
      usualWidth: 90,
      isNumber: true,
      sort: 'data_quality',
      total: 'average',
      member: 'data_quality',
      cell: ({ card }) => <Quality value={card.data_quality} />,
    },
    instant('created_at', 'field.createdAt'),
    person('created_by', 'field.createdBy'),
    instant('updated_at', 'field.updatedAt'),
    person('updated_by', 'field.updatedBy'),
    instant('archived_at', 'field.archivedAt'),
  ];
}
