import { useMemo } from 'react';
import { phases } from '../../kit/lifecycle.ts';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { useMe } from '../../shell/queries.ts';
import type { Operator } from './filter.ts';
import { useTagOptions } from './tags.ts';

/** A field of the filter language that the builder offers. */
export interface FilterField {
  path: string;
  label: string;
  kind: 'text' | 'number' | 'date' | 'options' | 'boolean' | 'person';
  /** Values in the filter language with their labels. */
  options?: { value: string; label: string }[];
  /** Of an attribute, for the marks of its options. */
  field?: Field;
}

/** The operators of a kind of field, the usual one first. */
export const operatorsOf: Record<FilterField['kind'], Operator[]> = {
  text: ['~', 'starts with', '=', '!=', 'is empty', 'is not empty'],
  number: ['>=', '<=', '=', '!=', '>', '<', 'between', 'is empty', 'is not empty'],
  date: ['>=', '<=', '>', '<', '=', 'between', 'is empty', 'is not empty'],
  options: ['in', 'not in', 'is empty', 'is not empty'],
  boolean: ['=', '!=', 'is empty', 'is not empty'],
  person: ['in', 'not in', 'is empty', 'is not empty'],
};

const kinds: Record<string, FilterField['kind']> = {
  number: 'number',
  cost: 'number',
  date: 'date',
  boolean: 'boolean',
  single_select: 'options',
  multiple_select: 'options',
};

const approvals = ['DRAFT', 'APPROVED', 'BROKEN', 'REJECTED'];

/** The fields by which the cards of a type can be filtered. */
export function useFilterFields(type: string | undefined): FilterField[] {
  const t = useTexts();
  const { permissions } = useMe();
  const { types, type: typeOf, sections, label } = useMetamodel();
  const tags = useTagOptions(type);
  return useMemo(() => {
    const may = (permission: string) => permissions['*'] === true || permissions[permission] === true;
    const named = (
      path: string,
      key: MessageKey,
      kind: FilterField['kind'],
      options?: FilterField['options'],
    ) => ({
      path,
      label: t(key),
      kind,
      options,
    });
    const subtypes = (type && typeOf(type)?.subtypes) || [];
    const attributes = (type ? sections(type).flatMap(({ fields }) => fields) : [])
      .filter(({ type: kind }) => kind !== 'cost' || may('costs.view'))
      .map(
        (field): FilterField => ({
          path: `attributes.${field.key}`,
          label: label(field),
          kind: kinds[field.type] ?? 'text',
          options: field.options?.map((option) => ({ value: option.key, label: label(option) })),
          field,
        }),
      );
    const roles = ((type && typeOf(type)?.stakeholder_roles) || []) as { key: string; label: string }[];
    return [
      named('name', 'field.name', 'text'),
      ...(type
        ? []
        : [
            named(
              'type',
              'field.type',
              'options',
              types.map((one) => ({ value: one.key, label: label(one) })),
            ),
          ]),
      ...(subtypes.length > 0
        ? [
            named(
              'subtype',
              'field.subtype',
              'options',
              subtypes.map((one) => ({ value: one.key, label: label(one as { label: string }) })),
            ),
          ]
        : []),
      ...attributes,
      named(
        'phase',
        'field.phase',
        'options',
        phases.map((phase) => ({ value: phase, label: t(`phase.${phase}` as MessageKey) })),
      ),
      ...phases.map((phase) => ({
        path: `lifecycle.${phase}`,
        label: t('filter.phaseDate', { phase: t(`phase.${phase}` as MessageKey) }),
        kind: 'date' as const,
      })),
      named(
        'tags',
        'field.tags',
        'options',
        tags.flatMap(({ group, items }) =>
          items.map((tag) => ({ value: `${group}/${tag.label}`, label: `${group} / ${tag.label}` })),
        ),
      ),
      named(
        'approval_status',
        'field.approval',
        'options',
        approvals.map((one) => ({ value: one, label: t(`approval.${one.toLowerCase()}` as MessageKey) })),
      ),
      named('data_quality', 'field.quality', 'number'),
      ...(may('stakeholders.view') ? [named('stakeholder', 'field.people', 'person')] : []),
      ...(may('stakeholders.view')
        ? roles.map((role) => ({
            path: `stakeholder.${role.key}`,
            label: label(role),
            kind: 'person' as const,
          }))
        : []),
      named('description', 'field.description', 'text'),
      named('alias', 'field.alias', 'text'),
      named('external_id', 'field.externalId', 'text'),
      named('number', 'field.number', 'text'),
      named('created_at', 'field.createdAt', 'date'),
      named('updated_at', 'field.updatedAt', 'date'),
    ];
  }, [t, permissions, types, typeOf, sections, label, type, tags]);
}
