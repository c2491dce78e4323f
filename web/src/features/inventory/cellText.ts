import { useMemo } from 'react';
import type { Lifecycle } from '../../kit/lifecycle.ts';
import { phaseOn, today } from '../../kit/lifecycle.ts';
import { type MessageKey, useLanguage } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { editText } from '../../kit/numbers.ts';
import type { CardListItem, Column, Related } from './types.ts';

/** The text of a value of a field, as spreadsheets take and give it. */
type ValueText = (field: Field, value: unknown) => string;

/** Texts of cells for the clipboard. */
export function useCellText() {
  const { t, language } = useLanguage();
  const { label, type: typeOf, typeLabel } = useMetamodel();
  return useMemo(() => {
    const valueText: ValueText = (field, value) => {
      if (value === undefined || value === null) return '';
      if (Array.isArray(value)) return value.map((one) => valueText(field, one)).join('; ');
      const option = field.options?.find(({ key }) => key === value);
      if (option) return label(option);
      return typeof value === 'boolean' ? t(value ? 'value.yes' : 'value.no') : editText(value, language);
    };
    const cellText = (
      { key, field }: Column,
      card: CardListItem,
      related: ReadonlyMap<string, Related[]> | undefined,
    ): string => {
      if (field) return valueText(field, card.attributes[field.key]);
      const type = typeOf(card.type);
      const [root, role] = key.split('.');
      switch (root) {
        case 'type':
          return typeLabel(card.type);
        case 'subtype': {
          const found = type?.subtypes.find((one) => one.key === card.subtype) as
            | { label: string }
            | undefined;
          return found ? label(found) : '';
        }
        case 'path':
          return (card.path ?? []).map(({ name }) => name).join(' / ');
        case 'lifecycle':
        case 'phase': {
          const phase = phaseOn(card.lifecycle as Lifecycle | null, today());
          return phase ? t(`phase.${phase}` as MessageKey) : '';
        }
        case 'tags':
          return card.tags.map(({ name }) => name).join('; ');
        case 'stakeholders':
          return card.stakeholders
            .filter((one) => role === undefined || one.role === role)
            .map(({ user_display_name }) => user_display_name)
            .join('; ');
        case 'relation':
          return (related?.get(key) ?? []).map(({ name }) => name).join('; ');
        default:
          return String((card as unknown as Record<string, unknown>)[key] ?? '');
      }
    };
    return { cellText, valueText };
  }, [t, language, label, typeOf, typeLabel]);
}

/** A line of cells for the clipboard; tabs and line breaks in a cell become blanks. */
export const lineOf = (cells: readonly string[]): string =>
  cells.map((text) => text.replace(/[\t\r\n]+/g, ' ')).join('\t');
