import { useMemo } from 'react';
import type { PatchCardBody } from '#client';
import type { Lifecycle } from '../../kit/lifecycle.ts';
import { type Localization, useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { valueOfText } from '../../kit/numbers.ts';
import { useMe } from '../../shell/queries.ts';
import type { CardListItem, Column } from './types.ts';

/** How a cell is edited. */
export interface CellEdit {
  kind: 'field' | 'lifecycle' | 'parent' | 'tags';
  field: Field;
  value: unknown;
  /** The change of the card; tags are changed by an operation of their own. */
  patch(value: unknown): PatchCardBody;
}

/** Which cells the person may edit, and how; undefined for the others. */
export type EditOf = (column: Column, card: CardListItem) => CellEdit | undefined;

const textFields: Record<string, string> = {
  name: 'text',
  description: 'multiline_text',
  alias: 'text',
  external_id: 'text',
};

export function useEdits(): EditOf {
  const t = useTexts();
  const { permissions } = useMe();
  const { type: typeOf } = useMetamodel();
  const mayEdit = permissions['*'] === true || permissions['inventory.edit'] === true;
  return useMemo(
    () => (column, card) => {
      if (!mayEdit || card.status !== 'ACTIVE') return undefined;
      const { key, title: label, field } = column;
      if (field) {
        if (field.readonly) return undefined;
        return {
          kind: 'field',
          field: { ...field, label },
          value: card.attributes[field.key] ?? null,
          patch: (value) => ({ attributes: { [field.key]: value } }),
        };
      }
      const own = (kind: CellEdit['kind'], more: Partial<Field>, value: unknown, member = key): CellEdit => ({
        kind,
        field: { key, label, type: 'text', ...more },
        value: value ?? null,
        patch: (next) => ({ [member]: next }) as PatchCardBody,
      });
      if (key in textFields) return own('field', { type: textFields[key] }, card[key as 'name']);
      if (key === 'subtype') {
        const options = (typeOf(card.type)?.subtypes ?? []) as Field['options'];
        return options?.length ? own('field', { type: 'single_select', options }, card.subtype) : undefined;
      }
      if (key === 'lifecycle' || key === 'phase')
        return own(
          'lifecycle',
          { label: t('field.lifecycle') },
          card.lifecycle as Lifecycle | null,
          'lifecycle',
        );
      if (key === 'path' && typeOf(card.type)?.has_hierarchy)
        return own('parent', { label: t('field.parent') }, card.path?.at(-1) ?? null, 'parent_id');
      return key === 'tags' ? own('tags', {}, card.tags) : undefined;
    },
    [t, mayEdit, typeOf],
  );
}

/** The value that a text stands for: an option by its label or key, yes and no, a number; other texts stay as they are. */
export function valueFrom(
  field: Field,
  text: string,
  labelOf: (of: { label: string }) => string,
  { t, language }: Pick<Localization, 't' | 'language'>,
): unknown {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed === '–') return null;
  const same = (a: string) => a.toLowerCase() === trimmed.toLowerCase();
  if (field.type === 'boolean') {
    if (['true', t('value.yes')].some(same)) return true;
    return ['false', t('value.no')].some(same) ? false : trimmed;
  }
  if (!field.options) return valueOfText(field, trimmed, language);
  const optionOf = (name: string) =>
    field.options!.find(
      (option) => option.key === name || labelOf(option).toLowerCase() === name.toLowerCase(),
    )?.key ?? name;
  if (field.type !== 'multiple_select') return optionOf(trimmed);
  return trimmed
    .split(/\s*;\s*/)
    .filter(Boolean)
    .map(optionOf);
}

/** Whether two values of a cell are the same; no value, an empty text and an empty list are. */
export function isSame(a: unknown, b: unknown): boolean {
  const plain = (value: unknown) =>
    value === undefined || value === '' || (Array.isArray(value) && value.length === 0) ? null : value;
  return JSON.stringify(plain(a)) === JSON.stringify(plain(b));
}
