import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FieldValue, none } from './FieldValue.tsx';
import { useCardName } from './finders.tsx';
import { useFormat } from './format.ts';
import { type MessageKey, useTexts } from './messages.tsx';
import { type Field, useMetamodel } from './metamodel.tsx';

/** Fields of cards that are no attributes. */
const names: Record<string, MessageKey> = {
  name: 'field.name',
  number: 'field.number',
  description: 'field.description',
  subtype: 'field.subtype',
  approval_status: 'field.approval',
  lifecycle: 'field.lifecycle',
  parent_id: 'field.parent',
  alias: 'field.alias',
  external_id: 'field.externalId',
  status: 'field.status',
};

/**
 * Names and values of the fields of a card by their path, such as `attributes.costTotalAnnual` or `lifecycle.active`, as
 * changes and conflicts contain them.
 * @param fields attributes of something else than a card, such as a relation.
 */
export function usePaths(
  typeKey: string,
  fields?: readonly Field[],
): {
  labelOf(path: string): string;
  shownValue(path: string, value: unknown): ReactNode;
} {
  const t = useTexts();
  const format = useFormat();
  const { field, label, type } = useMetamodel();
  const attribute = (path: string) =>
    path.startsWith('attributes.')
      ? fields
        ? fields.find(({ key }) => key === path.slice(11))
        : field(typeKey, path.slice(11))
      : undefined;
  return {
    labelOf(path) {
      const known = attribute(path);
      if (known) return label(known);
      const [first, rest] = path.split('.') as [string, string | undefined];
      if (first === 'lifecycle' && rest) return t(`phase.${rest}` as MessageKey);
      const own = names[first];
      return own ? t(own) : (rest ?? path);
    },
    shownValue(path, value) {
      if (value === null || value === undefined || value === '') return none;
      const known = attribute(path);
      if (known) return <FieldValue field={known} value={value} />;
      if (path.startsWith('lifecycle.')) return format.date(String(value));
      if (path === 'parent_id') return <CardName id={String(value)} />;
      if (path === 'status') return t(`status.${String(value).toLowerCase()}` as MessageKey);
      if (path === 'approval_status') return t(`approval.${String(value).toLowerCase()}` as MessageKey);
      const subtype =
        path === 'subtype' ? type(typeKey)?.subtypes.find(({ key }) => key === value) : undefined;
      if (subtype) return label(subtype as { label: string });
      if (typeof value === 'number') return format.number(value);
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
    },
  };
}

/** The name of an active card that is known by its id. */
function CardName({ id }: { id: string }) {
  const card = useCardName(id);
  return (
    <Link to="/cards/$id" params={{ id }}>
      {card?.name ?? id}
    </Link>
  );
}
